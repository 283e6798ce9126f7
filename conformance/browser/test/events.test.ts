/** Tests what EventSource of a page makes of `ctx.sse`. */
import assert from 'node:assert/strict'
import { deferred, freePort, within } from '@volant/test-kit'
import { cors, type EventStream } from 'volant'
import { html, visit } from '../src/browser.ts'

declare global {
  interface Window {
    seen: unknown[]
    source: EventSource
  }
}

/** Opens `window.source`, which notes what it gets in `window.seen`. */
function listen({ url, withCredentials = false }: { url: string; withCredentials?: boolean }): void {
  const source = new EventSource(url, { withCredentials })
  window.seen = []
  window.source = source
  source.addEventListener('open', () => window.seen.push('open'))
  source.addEventListener('error', () => window.seen.push(['error', source.readyState]))
  for (const type of ['message', 'tick']) {
    source.addEventListener(type, (event) => {
      const { data, lastEventId } = event as MessageEvent<string>
      window.seen.push([type, data, lastEventId])
    })
  }
}

const open = 'open'
const connecting = ['error', 0]
const over = ['error', 2]

visit(
  'EventSource has types, ids and lines of data, and what it does not know it leaves',
  async ({ app, serve, page }) => {
    const site = app()
    site.get('/', (ctx) => ctx.html(html()))
    site.get('/events', (ctx) =>
      ctx.lastEventId === undefined
        ? ctx.sse(
            [
              'plain',
              { comment: 'nobody sees this', data: { a: ' ü\n' } },
              { event: 'tick', id: 'käse 1', data: 'a\rb\r\nc\n\nd' },
              { event: 'other', data: 'not listened to' },
              { data: ' the id stays' },
              { id: '', data: '' },
              { id: 7, data: 'last' },
            ],
            { retry: 10 },
          )
        : ctx.reply(204),
    )
    await page.goto(await serve(site))
    await page.evaluate(listen, { url: '/events' })
    await page.waitForFunction(() => window.source.readyState === EventSource.CLOSED)
    assert.deepEqual(await page.evaluate(() => window.seen), [
      open,
      ['message', 'plain', ''],
      ['message', '{"a":" ü\\n"}', ''],
      ['tick', 'a\nb\nc\n\nd', 'käse 1'],
      ['message', ' the id stays', 'käse 1'],
      ['message', '', ''],
      ['message', 'last', '7'],
      connecting,
      // The reply of 204 says that it should not connect again.
      over,
    ])
  },
)

visit('EventSource comes back to a server that was started again, with the last id it saw', async (visit) => {
  const { page } = visit
  const ids: (string | undefined)[] = []
  const streams: EventStream[] = []
  const make = (name: string) => {
    const site = visit.app({ limits: { drainIdle: 600_000, shutdownTimeout: 600_000 } })
    // Chromium would ask for an icon by another connection, which could stay idle.
    site.get('/', (ctx) => ctx.html(html('<link rel="icon" href="data:,">')))
    site.get('/events', (ctx) => {
      ids.push(ctx.lastEventId)
      const next = Number(ctx.lastEventId?.split(' ')[1] ?? 0) + 1
      ctx.sse(
        (stream) => {
          streams.push(stream)
          stream.send({ id: `№ ${next}`, data: `${name} ${next}` })
        },
        { retry: 100 },
      )
    })
    return site
  }
  const [first, second] = [make('first'), make('second')]
  const port = await freePort()
  try {
    const { url } = await first.listen(port, '127.0.0.1')
    await page.goto(url)
    await page.evaluate(listen, { url: '/events' })
    await page.waitForFunction(() => window.seen.length === 2)
    // The browser keeps its connections, and the app ends at once nevertheless.
    await within(first.close(), 'the close')
    await second.listen(port, '127.0.0.1')
    await page.waitForFunction(() => window.seen.some((each) => String(each).startsWith('message,second')))
    const seen = await page.evaluate(() => window.seen)
    // A page may come back to the first while that still closes: then it has one more event of it.
    const events = seen.filter((each): each is string[] => (each as string[])[0] === 'message')
    const told = events.map(([, , id]) => id)
    assert.deepEqual(
      told,
      events.map((_, at) => `№ ${at + 1}`),
    )
    assert.deepEqual([ids[0], ids.at(-1)], [undefined, told.at(-2)])
    assert.deepEqual(seen.slice(0, 3), [open, ['message', 'first 1', '№ 1'], connecting])
    assert.deepEqual(seen.slice(-2), [open, ['message', `second ${events.length}`, told.at(-1)]])
    await page.evaluate(() => window.source.close())
    await page.waitForFunction(() => window.source.readyState === EventSource.CLOSED)
  } finally {
    await Promise.all([first.close({ drainIdle: 0 }), second.close({ drainIdle: 0 })])
  }
})

visit(
  'a failing source makes it connect again, a status other than 200 ends it',
  async ({ app, serve, page }) => {
    let asked = 0
    // Chromium drops what a reset overtakes: the source fails once the page has its event.
    const arrived = [deferred(), deferred()]
    const site = app({ report: () => {} })
    site.get('/', (ctx) => ctx.html(html()))
    site.get('/events', (ctx) => {
      asked++
      if (asked === 3) return ctx.json({ asked }, 503)
      const at = asked - 1
      return ctx.sse(
        async function* () {
          yield { id: asked, data: asked }
          await arrived[at]?.promise
          throw new Error('the source failed')
        },
        { retry: 10 },
      )
    })
    await page.goto(await serve(site))
    await page.evaluate(listen, { url: '/events' })
    for (const [at, { resolve }] of arrived.entries()) {
      const event = `message,${at + 1},${at + 1}`
      await page.waitForFunction((text) => window.seen.some((each) => String(each) === text), event)
      resolve()
    }
    await page.waitForFunction(() => window.source.readyState === EventSource.CLOSED)
    assert.deepEqual(await page.evaluate(() => window.seen), [
      open,
      ['message', '1', '1'],
      connecting,
      open,
      ['message', '2', '2'],
      connecting,
      over,
    ])
    assert.equal(asked, 3)
  },
)

visit(
  'a page of another origin reads events with its cookie where cors() allows it',
  async ({ app, serve, page, context }) => {
    const site = app()
    site.get('/', (ctx) => ctx.html(html()))
    const origin = await serve(site)
    const api = app()
    api.use('/with', cors({ origin, credentials: true }))
    for (const path of ['/with', '/without'] as const) {
      api.get(path, (ctx) => ctx.sse((stream) => void stream.send(ctx.cookies['name'] ?? 'nobody')))
    }
    const there = await serve(api)
    await context.addCookies([{ name: 'name', value: 'ada', url: there }])
    await page.goto(origin)
    await page.evaluate(listen, { url: `${there}/with`, withCredentials: true })
    await page.waitForFunction(() => window.seen.length === 2)
    assert.deepEqual(await page.evaluate(() => window.seen), [open, ['message', 'ada', '']])
    await page.evaluate(() => window.source.close())
    await page.evaluate(listen, { url: `${there}/without`, withCredentials: true })
    await page.waitForFunction(() => window.source.readyState === EventSource.CLOSED)
    assert.deepEqual(await page.evaluate(() => window.seen), [over])
  },
)
