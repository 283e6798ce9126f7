/** compression: what it compresses, how, and what it leaves alone. */
import assert from 'node:assert/strict'
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib'
import { eventually } from '@volant/test-kit'
import { type Client, comparable, requestBytes, type Seen } from '../src/client.ts'
import { compression, type Handle } from '../src/layers.ts'
import { scenario, type Scenario, scenarios } from '../src/scenario.ts'
import type { Site } from '../src/site.ts'

const text = 'All happy families are alike. '.repeat(400)
const big = Buffer.alloc(10 * 1024 * 1024, text)
const plain = { 'content-type': 'text/plain; charset=utf-8' }

/** Replies by the framework and by Connect handlers: whole, streamed, small, typed and tagged. */
function routes(site: Site, ...layers: Handle[]): void {
  site.use(...layers)
  site.reply('GET', '/own', () => ({ headers: plain, body: text }))
  site.reply('GET', '/small', () => ({ headers: plain, body: 'small' }))
  site.reply('GET', '/empty', () => ({ status: 204, body: null }))
  site.reply('GET', '/image', () => ({ headers: { 'content-type': 'image/png' }, body: Buffer.from(text) }))
  site.reply('GET', '/json', () => ({
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: JSON.stringify({ text }),
  }))
  site.reply('GET', '/stream', () => ({ headers: plain, body: chunks() }))
  site.reply('GET', '/done', () => ({ headers: { ...plain, 'content-encoding': 'x-mine' }, body: text }))
  site.reply('GET', '/no-transform', () => ({
    headers: { ...plain, 'cache-control': 'no-transform' },
    body: text,
  }))
  site.reply('GET', '/tagged', () => ({ headers: { ...plain, etag: '"one"', vary: 'origin' }, body: text }))
  site.reply('GET', '/big', () => ({ headers: plain, body: big }))
  site.handle('GET', '/connect', (_, res) => {
    res.setHeader('Content-Type', 'text/plain')
    res.end(text)
  })
  site.handle('GET', '/connect-length', (_, res) => {
    res.setHeader('Content-Type', 'text/plain')
    res.setHeader('Content-Length', Buffer.byteLength(text))
    res.end(text, 'utf8')
  })
  site.handle('GET', '/connect-chunks', async (_, res) => {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    for await (const part of chunks()) if (!res.write(part)) await new Promise((go) => res.once('drain', go))
    res.end()
  })
  site.handle('GET', '/connect-big', (_, res) => {
    res.setHeader('Content-Type', 'text/plain')
    res.end(big)
  })
}

async function* chunks(): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 1000) yield text.slice(at, at + 1000)
}

const paths = [
  '/own',
  '/small',
  '/empty',
  '/image',
  '/json',
  '/stream',
  '/done',
  '/no-transform',
  '/tagged',
  '/connect',
  '/connect-length',
  '/connect-chunks',
  '/none',
]

/** The content after its coding, since two zlib streams of one text may differ by where they were cut. */
function decoded({ headers, body }: Seen): Buffer {
  if (body.length === 0) return body
  const coding = headers['content-encoding']
  if (coding === 'gzip') return gunzipSync(body)
  if (coding === 'br') return brotliDecompressSync(body)
  return coding === 'deflate' ? inflateSync(body) : body
}

function plainOf(reply: Seen): unknown {
  // The page of an error is the framework's.
  return reply.status === 404 ? 404 : { ...reply, body: decoded(reply) }
}

function codes(options: object | undefined, ...codings: string[]): Scenario {
  return {
    build: (site) => routes(site, compression(options)),
    async play(client) {
      const out: unknown[] = []
      for (const coding of codings) {
        for (const path of paths) {
          const headers: Record<string, string> = coding === '' ? {} : { 'accept-encoding': coding }
          for (const method of ['GET', 'HEAD']) {
            const reply = await client.ask(path, { method, headers })
            out.push([coding, method, path, plainOf(reply)])
          }
        }
      }
      return out
    },
  }
}

async function bigOnes(client: Client): Promise<unknown> {
  const out: unknown[] = []
  for (const path of ['/big', '/connect-big']) {
    const reply = await client.get(path, { 'accept-encoding': 'gzip' })
    assert.equal(reply.headers['content-encoding'], 'gzip')
    out.push(plainOf(reply))
  }
  return out
}

scenarios('compression', {
  gzip: codes(undefined, 'gzip'),
  'of what the client wants': codes(
    { threshold: 0 },
    '',
    'br',
    'deflate, gzip;q=0.5',
    'identity',
    '*',
    'gzip;q=0',
  ),
  'with a level and a threshold': codes({ level: 1, threshold: 20_000 }, 'gzip'),
  'by a filter': codes(
    {
      filter: (_: unknown, res: { getHeader: (name: string) => unknown }) =>
        res.getHeader('etag') !== undefined,
    },
    'gzip',
  ),
  'of 10 MB': { build: (site) => routes(site, compression()), play: bigOnes },

  'flushed part by part': scenario({
    memory: false,
    build(site) {
      site.use(compression())
      const steps: (() => void)[] = []
      site.handle('GET', '/events', (_, res) => {
        res.writeHead(200, { 'Content-Type': 'text/event-stream' })
        res.write('data: one\n\n')
        res['flush']()
        steps.push(() => res.end('data: two\n\n'))
      })
      return steps
    },
    async play(client, steps) {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/events', { 'accept-encoding': 'gzip' }))
      // The first event is compressed and sent, though the second is not there yet.
      await eventually(
        () =>
          wire.received.includes('\r\n\r\n') && wire.received.length > wire.received.indexOf('\r\n\r\n') + 20,
        'the first event',
      )
      assert.ok(!wire.received.includes('0\r\n\r\n'))
      steps[0]?.()
      const reply = await wire.reply()
      assert.equal(gunzipSync(reply.body).toString(), 'data: one\n\ndata: two\n\n')
      return comparable(reply.headers['content-encoding'])
    },
  }),

  'of a reply that fails midway': scenario({
    memory: false,
    reports: true,
    build(site) {
      site.use(compression())
      site.handle('GET', '/fails', (_, res) => {
        res.writeHead(200, { 'Content-Type': 'text/plain' })
        res.write(text)
        res.destroy()
      })
    },
    async play(client) {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/fails', { 'accept-encoding': 'gzip' }))
      await eventually(() => wire.isEnded, 'the end of the connection')
      assert.ok(!wire.received.includes('0\r\n\r\n'), 'the reply has no end')
      return wire.isEnded
    },
  }),
})
