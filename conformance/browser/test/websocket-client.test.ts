/** Tests sockets of the typed client in a page: messages, a server that restarts, and refusals. */
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { freePort } from '@volant/test-kit'
import { build } from 'esbuild-wasm'
import type { App } from 'volant'
import { html, visit, type Visit } from '../src/browser.ts'

const text = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] } as const
const routes = { chat: ['WS', '/chat/:room', ['in', 'out']] }

/** What the page has: a socket, and what it told. */
interface Page {
  open(url: string, routes: unknown, options: unknown): void
  socket: { state: string; send(message: unknown): boolean; close(): void }
  seen: unknown[]
}
declare const chat: Page

const program = `
import { connect, createClient } from '/client.js'
window.chat = {
  seen: [],
  open(url, routes, options) {
    const client = createClient(url, { routes, headers: { 'x-key': 'a page sends none' } })
    const socket = (this.socket = connect(client.chat, { params: { room: 'ä b' } }, options))
    const note = (...words) => this.seen.push(words)
    socket.on('open', ({ reconnected }) => note('open', reconnected))
    socket.on('message', ({ text }) => note('message', text))
    socket.on('close', ({ code, opened, final }) => opened && note('close', code, final))
    socket.on('error', ({ message }) => note('error', message))
  },
}`

async function bundle(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(import.meta.resolve('volant/client'))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    write: false,
    logLevel: 'silent',
  })
  return outputFiles[0]?.text ?? ''
}

/** Has the page run the program; gives the page's origin. */
async function goto({ app, serve, page }: Visit): Promise<string> {
  const script = await bundle()
  const site = app()
  site.get('/', (ctx) => ctx.html(html(`<script type="module">${program}</script>`)))
  site.get('/client.js', { mediaType: 'text/javascript' }, () => script)
  const origin = await serve(site)
  await page.goto(origin)
  await page.waitForFunction(() => 'chat' in globalThis)
  return origin
}

function echo(app: App, origins: readonly string[]): App {
  app.ws('/chat/:room', {
    origins,
    in: text,
    out: text,
    upgrade: (ctx) => ctx.params.room,
    message(ws, message) {
      const said = (message as { text: string }).text
      if (said === 'end') ws.close(4001, 'enough')
      else ws.send({ text: `${ws.data}: ${said}` })
    },
  })
  return app
}

visit('a page has its socket again when the server has restarted', async (visit) => {
  const { app, page } = visit
  const origin = await goto(visit)
  const first = echo(app(), [origin])
  const port = await freePort()
  const { url } = await first.listen(port, '127.0.0.1')
  let last: App | undefined
  try {
    await page.evaluate(
      ([to, table]) => chat.open(to as string, table, { reconnect: { maxDelay: 100 } }),
      [url, routes],
    )
    await page.evaluate(() => chat.socket.send({ text: 'hällo' }))
    await page.waitForFunction(() => chat.seen.length === 2)
    await first.close({ drainIdle: 0 })
    await page.waitForFunction(() => chat.seen.length === 3)
    assert.equal(await page.evaluate(() => chat.socket.send({ text: 'meanwhile' })), true)
    last = echo(app(), [origin])
    await last.listen(port, '127.0.0.1')
    await page.waitForFunction(() => chat.seen.length === 5)
    await page.evaluate(() => chat.socket.send({ text: 'end' }))
    await page.waitForFunction(() => chat.socket.state === 'closed')
    assert.deepEqual(await page.evaluate(() => chat.seen), [
      ['open', false],
      ['message', 'ä b: hällo'],
      ['close', 1001, false],
      ['open', true],
      ['message', 'ä b: meanwhile'],
      ['close', 4001, true],
    ])
  } finally {
    await first.close({ drainIdle: 0 })
    await last?.close({ drainIdle: 0 })
  }
})

visit('a page of a foreign origin gives up, and is told that it does', async (visit) => {
  const { app, page, serve } = visit
  await goto(visit)
  const url = await serve(echo(app(), []))
  await page.evaluate(
    ([to, table]) => chat.open(to as string, table, { reconnect: { delay: 1, retries: 2 } }),
    [url, routes],
  )
  await page.waitForFunction(() => chat.socket.state === 'closed')
  const [[name, message] = []] = (await page.evaluate(() => chat.seen)) as [string, string][]
  assert.equal(name, 'error')
  assert.match(
    message ?? '',
    /^chat: there is no connection to ws:.*and no further attempt is made\. The server may/,
  )
})

visit('a page is told that it cannot send headers of a socket', async (visit) => {
  const { app, page, serve } = visit
  await goto(visit)
  const url = await serve(echo(app(), []))
  await page.evaluate(
    ([to, table]) => chat.open(to as string, table, { headers: { 'x-own': '1' } }),
    [url, routes],
  )
  await page.waitForFunction(() => chat.socket.state === 'closed')
  const [[name, message] = []] = (await page.evaluate(() => chat.seen)) as [string, string][]
  assert.equal(name, 'error')
  assert.match(message ?? '', /^chat cannot be connected: browsers send no headers/)
})
