/** Conditional requests and what a 304 has. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors, etag } from 'volant'
import { kit, modified, serving } from './kit.ts'

const earlier = 'Thu, 29 Feb 2024 12:34:55 GMT'

const later = 'Thu, 29 Feb 2024 12:34:57 GMT'

describe('etag', () => {
  // By RFC 9110 §13.1 and §13.2.2. The package fresh 2.0.0, which Express and Koa ask, decides the marked rows
  // otherwise: it knows neither If-Match nor If-Unmodified-Since, and takes anything for a date that Date.parse takes.
  const both = { etag: '"v1"', 'last-modified': modified }

  const conditions: [has: Record<string, string>, asked: Record<string, string>, status: number][] = [
    [both, {}, 200],
    [both, { 'if-none-match': '"v1"' }, 304],
    [both, { 'if-none-match': 'W/"v1"' }, 304],
    [both, { 'if-none-match': '"x", "v1" ,"y"' }, 304],
    [both, { 'if-none-match': '"x",,W/"v1"' }, 304],
    [both, { 'if-none-match': '*' }, 304],
    [both, { 'if-none-match': '"x"' }, 200],
    [both, { 'if-none-match': 'v1' }, 200],
    [both, { 'if-none-match': '"V1"' }, 200],
    [both, { 'if-none-match': '"x,"v1"' }, 200], // fresh: 304
    [both, { 'if-none-match': '' }, 200],
    [both, { 'if-none-match': '"v1"', 'if-modified-since': earlier }, 304],
    [both, { 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
    [both, { 'if-modified-since': modified }, 304],
    [both, { 'if-modified-since': later }, 304],
    [both, { 'if-modified-since': earlier }, 200],
    [both, { 'if-modified-since': 'Thursday, 29-Feb-24 12:34:56 GMT' }, 304],
    [both, { 'if-modified-since': 'Thu Feb 29 12:34:56 2024' }, 304],
    [both, { 'if-modified-since': '2030-01-01' }, 200], // fresh: 304
    [both, { 'if-modified-since': '2030' }, 200], // fresh: 304
    [both, { 'if-modified-since': 'garbage' }, 200],
    [both, { 'if-match': '"v1"' }, 200],
    [both, { 'if-match': '"x", "v1"' }, 200],
    [both, { 'if-match': '*' }, 200],
    [both, { 'if-match': 'W/"v1"' }, 412], // fresh: 200
    [both, { 'if-match': '"x"' }, 412], // fresh: 200
    [both, { 'if-match': '"x"', 'if-none-match': '"v1"' }, 412], // fresh: 304
    [both, { 'if-match': '"v1"', 'if-none-match': '"v1"' }, 304],
    [both, { 'if-match': '"v1"', 'if-unmodified-since': earlier }, 200],
    [both, { 'if-unmodified-since': earlier }, 412], // fresh: 200
    [both, { 'if-unmodified-since': modified }, 200],
    [both, { 'if-unmodified-since': 'garbage' }, 200],
    [both, { 'if-unmodified-since': modified, 'if-none-match': '"v1"' }, 304],
    // A reload asks the caches on the way for a new copy; this server has the newest (RFC 9111 §5.2.1.4).
    [both, { 'if-none-match': '"v1"', 'cache-control': 'no-cache' }, 304], // fresh: 200
    [{ etag: 'W/"v1"' }, { 'if-none-match': '"v1"' }, 304],
    [{ etag: 'W/"v1"' }, { 'if-none-match': 'W/"v1"' }, 304],
    [{ etag: 'W/"v1"' }, { 'if-match': 'W/"v1"' }, 412], // fresh: 200
    [{ etag: 'W/"v1"' }, { 'if-match': '"v1"' }, 412], // fresh: 200
    [{ etag: '"v1"' }, { 'if-modified-since': later }, 200],
    [{ etag: '"v1"' }, { 'if-unmodified-since': earlier }, 200],
    [{ etag: '"v1"', 'last-modified': 'yesterday' }, { 'if-modified-since': later }, 200],
    [{ etag: '"v1"', 'last-modified': '2020-01-01' }, { 'if-modified-since': later }, 200], // fresh: 304
    [{ 'last-modified': modified }, { 'if-modified-since': modified }, 304],
    [{ 'last-modified': modified }, { 'if-none-match': '"x"', 'if-modified-since': modified }, 200],
  ]

  test(`${conditions.length} conditional requests`, async () => {
    let has: Record<string, string> = {}
    const app = kit.app()
    app.use(etag())
    app.get('/text', (ctx) => {
      for (const [name, value] of Object.entries(has)) ctx.header(name, value)
      return 'hello'
    })
    app.get('/stream', (ctx) => {
      for (const [name, value] of Object.entries(has)) ctx.header(name, value)
      return (function* () {
        yield 'hel'
        yield 'lo'
      })()
    })
    await kit.serve(app, async (live) => {
      for (const [fields, headers, status] of conditions) {
        has = fields
        for (const path of ['/text', '/stream']) {
          for (const method of ['GET', 'HEAD']) {
            const reply = await live.ask(path, { method, headers })
            const what = `${method} ${path} ${JSON.stringify(fields)} ${JSON.stringify(headers)}`
            assert.equal(reply.status, status, what)
            if (status === 200) assert.equal(reply.text, method === 'HEAD' ? '' : 'hello', what)
            if (status === 304) assert.equal(reply.text, '', what)
            if (status === 412 && method === 'GET') {
              assert.equal((reply.json() as { code: string }).code, 'E_PRECONDITION', what)
            }
          }
        }
      }
    })
  })

  test('a 304 has what caches need, and nothing about content it does not have', async () => {
    const app = kit.app()
    app.use(cors({ origin: 'https://app.example' }))
    app.use(etag())
    const kept = {
      'cache-control': 'max-age=60',
      'content-location': '/x.json',
      expires: 'Thu, 01 Jan 2099 00:00:00 GMT',
      'x-own': '1',
    }
    app.get('/x', (ctx) => {
      for (const [name, value] of Object.entries(kept)) ctx.header(name, value)
      ctx.header('content-language', 'en').header('content-disposition', 'inline').header('vary', 'accept')
      ctx.cookie('a', 'b')
      return { x: 1 }
    })
    await kit.serve(app, async (live) => {
      const headers = { origin: 'https://app.example' }
      const first = await live.ask('/x', { headers })
      const tag = first.headers['etag'] as string
      const { status, headers: got } = await live.ask('/x', { headers: { ...headers, 'if-none-match': tag } })
      assert.equal(status, 304)
      assert.deepEqual(
        { ...got, date: undefined, 'set-cookie': undefined },
        {
          ...kept,
          etag: tag,
          vary: 'Origin, accept',
          'access-control-allow-origin': 'https://app.example',
          date: undefined,
          'set-cookie': undefined,
        },
      )
      assert.ok(got['set-cookie'])
    })
  })

  // A cache looks for the copy that has the very tag of the 304 (RFC 9111 §4.3.4).
  test('a 304 repeats the tag as the client has it, weak where compression made it weak', async () => {
    await serving(async (live) => {
      const tag = (await live.ask('/text')).headers['etag'] as string
      for (const [given, answered] of [
        [tag, tag],
        [`W/${tag}`, `W/${tag}`],
        [`"x", W/${tag}`, `W/${tag}`],
        ['*', tag],
      ] as const) {
        const reply = await live.ask('/text', { headers: { 'if-none-match': given } })
        assert.deepEqual([reply.status, reply.headers['etag']], [304, answered], given)
      }
    })
  })

  test('the source of a stream that the client has is cancelled', async () => {
    let cancelled = 0
    const app = kit.app()
    app.use(etag())
    app.get('/x', (ctx) => {
      ctx.header('etag', '"v1"')
      return ctx.stream(new ReadableStream({ cancel: () => void cancelled++ }), { type: 'text/plain' })
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x', { headers: { 'if-none-match': '"v1"' } })
      assert.deepEqual([reply.status, reply.text, reply.headers['content-type']], [304, '', undefined])
      assert.equal(cancelled, 1)
    })
  })
})
