/** Tests that pages read what `compress` sent as if it had not been compressed. */
import assert from 'node:assert/strict'
import zlib from 'node:zlib'
import { deferred } from '@volant/test-kit'
import { etag } from 'volant'
import { compress, type CompressOptions } from 'volant/compress'
import { html, visit } from '../src/browser.ts'

type Coding = NonNullable<CompressOptions['encodings']>[number]

const codings: Coding[] = ['gzip', 'br', ...('createZstdCompress' in zlib ? (['zstd'] as const) : [])]
const text = 'Whoever reads this has a page. '.repeat(4_000)

for (const coding of codings) {
  visit(`${coding}: body, page and sizes`, async ({ app, serve, page }) => {
    const site = app()
    site.use(compress({ encodings: [coding] }))
    const asked: unknown[] = []
    site.get('/', (ctx) => ctx.html(html(`<p>${text}</p>`)))
    site.get('/text', (ctx) => {
      asked.push(ctx.headers['accept-encoding'])
      return text
    })
    const reply = await page.goto(await serve(site))
    assert.equal(reply?.headers()['content-encoding'], coding)
    assert.equal(await page.textContent('p'), text)
    const seen = await page.evaluate(async () => {
      const body = await (await fetch('/text')).text()
      const sizes = (entry: PerformanceEntry | undefined) => {
        const { encodedBodySize, decodedBodySize } = entry as PerformanceResourceTiming
        return [encodedBodySize, decodedBodySize] as const
      }
      const [navigation] = performance.getEntriesByType('navigation')
      const [resource] = performance.getEntriesByName(`${location.origin}/text`)
      return { body, navigation: sizes(navigation), resource: sizes(resource) }
    })
    assert.equal(seen.body, text)
    assert.deepEqual(asked, ['gzip, deflate, br, zstd'])
    assert.equal(seen.resource[1], text.length)
    for (const [encoded, decoded] of [seen.navigation, seen.resource])
      assert.ok(encoded > 0 && encoded < decoded / 20, `${encoded} of ${decoded}`)
  })

  visit(
    `${coding}: a page reads the first chunk of a stream while the second waits`,
    async ({ app, serve, page }) => {
      const site = app()
      site.use(compress({ encodings: [coding] }))
      const read = deferred()
      site.get('/', (ctx) => ctx.html(html()))
      site.get('/stream', (ctx) =>
        ctx.header('content-type', 'text/plain').stream(
          (async function* () {
            yield text
            await read.promise
            yield 'the end'
          })(),
        ),
      )
      await page.exposeFunction('seen', () => read.resolve())
      await page.goto(await serve(site))
      const body = await page.evaluate(async (length) => {
        const reader = (await fetch('/stream')).body!.pipeThrough(new TextDecoderStream()).getReader()
        let body = ''
        for (;;) {
          const { done, value } = await reader.read()
          if (done) return body
          body += value
          if (body.length === length) (window as unknown as { seen(): void }).seen()
        }
      }, text.length)
      assert.equal(body, `${text}the end`)
    },
  )
}

visit('events that a filter lets compress come at once', async ({ app, serve, page }) => {
  const site = app()
  site.use(compress({ filter: /event-stream/ }))
  const events = [deferred(), deferred(), deferred()]
  site.get('/', (ctx) => ctx.html(html()))
  site.get('/events', (ctx) =>
    ctx.header('content-type', 'text/event-stream').stream(
      (async function* () {
        for (const [id, event] of events.entries()) {
          yield `id: ${id}\ndata: ${'x'.repeat(id * 5_000)}\n\n`
          // The next is sent when the page has this one.
          await event.promise
        }
      })(),
    ),
  )
  await page.exposeFunction('seen', (id: string) => events[Number(id)]?.resolve())
  const coding = new Promise<string | undefined>((resolve) => {
    page.on('response', (response) => {
      if (response.url().endsWith('/events')) resolve(response.headers()['content-encoding'])
    })
  })
  await page.goto(await serve(site))
  const lengths = await page.evaluate(
    () =>
      new Promise((resolve) => {
        const source = new EventSource('/events')
        const lengths: number[] = []
        source.onmessage = ({ data, lastEventId }) => {
          lengths.push(data.length)
          if (lastEventId === '2') {
            source.close()
            resolve(lengths)
          }
          ;(window as unknown as { seen(id: string): void }).seen(lastEventId)
        }
      }),
  )
  assert.deepEqual(lengths, [0, 5_000, 10_000])
  assert.equal(await coding, 'gzip')
})

visit('a compressed reply has a weak tag, by which a reload is told 304', async ({ app, serve, page }) => {
  const site = app()
  const seen: unknown[] = []
  site.use(etag(), compress({ encodings: ['br'] }))
  site.onResponse((ctx, { status }) => {
    if (ctx.path === '/') seen.push([status, ctx.headers['if-none-match']])
  })
  site.get('/', (ctx) =>
    ctx
      .header('cache-control', 'no-cache')
      .header('etag', '"v1"')
      .html(html(`<p>${text}</p>`)),
  )
  await page.goto(await serve(site))
  await page.reload()
  assert.equal(await page.textContent('p'), text)
  assert.deepEqual(seen, [
    [200, undefined],
    [304, 'W/"v1"'],
  ])
})
