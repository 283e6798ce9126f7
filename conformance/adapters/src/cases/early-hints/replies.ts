import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Hints, VolantError } from 'volant'
import { deferred, eventually, type Kit, request } from '../../kit.ts'
import { style, font } from './links.ts'

const bad: [string, unknown][] = [
  ['a name that is no token', { 'a b': 'x' }],
  ['an empty name', { '': 'x' }],
  ["one of the server's own names", { 'Content-Length': '3' }],
  ['Connection', { connection: 'close' }],
  ['CR and LF in a value', { link: 'a\r\nb: c' }],
  ['CR and LF in a later value', { link: [style, 'a\r\n\r\nHTTP/1.1 200 OK'] }],
  ['a character past Latin-1', { link: '\u20ac' }],
  ['a value that is no string', { link: { a: 1 } }],
  ['null', { link: null }],
  ['no object', 'link'],
  ['an array', [style]],
  ['nothing', undefined],
]

export function earlyHintsBeforeReplies(kit: Kit): void {
  describe('early hints', () => {
    test('arrive while the handler works, as often as it gives them', async () => {
      const app = kit.app()
      const gates = [deferred(), deferred()] as const
      app.get('/page', async (ctx) => {
        ctx.header('x-own', '1')
        ctx.earlyHints({ link: [style, font], 'X-Name': 'caf\u00e9' })
        await gates[0].promise
        ctx.earlyHints({ link: font })
        await gates[1].promise
        return 'done'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const first = await wire.send(request('GET', '/page')).interim()
        assert.equal(first.status, 103)
        assert.deepEqual(first.raw, [
          ['link', style],
          ['link', font],
          ['X-Name', 'caf\u00e9'],
        ])
        gates[0].resolve()
        const second = await wire.interim()
        assert.deepEqual([second.status, second.raw], [103, [['link', font]]])
        gates[1].resolve()
        const reply = await wire.interim()
        assert.deepEqual([reply.status, reply.text], [200, 'done'])
        assert.equal(reply.headers['link'], undefined)
        assert.equal(reply.headers['x-own'], '1')
        assert.equal((await wire.send(request('GET', '/none')).interim()).status, 404)
      })
    })

    test('before replies of every kind, and to HEAD', async () => {
      const app = kit.app()
      app.use((ctx, next) => {
        ctx.earlyHints({ link: style })
        return next()
      })
      app.get('/value', () => ({ a: 1 }))
      app.get('/stream', async function* () {
        yield 'a'
        yield 'b'
      })
      app.get('/empty', () => undefined)
      app.get('/boom', () => {
        throw new Error('boom')
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const [method, path, status, text] of [
          ['GET', '/value', 200, '{"a":1}'],
          ['HEAD', '/value', 200, ''],
          ['GET', '/stream', 200, 'ab'],
          ['GET', '/empty', 204, ''],
          ['GET', '/boom', 500, null],
          ['POST', '/value', 405, null],
        ] as const) {
          assert.equal((await wire.send(request(method, path)).interim()).status, 103, path)
          const reply = await wire.reply(method)
          assert.equal(reply.status, status, path)
          if (text !== null) assert.equal(reply.text, text)
        }
      })
    })

    test('after the reply they are reported, and nothing is sent', async () => {
      const app = kit.app()
      app.get('/text', (ctx) => {
        ctx.text('first')
        ctx.earlyHints({ link: style })
      })
      app.get('/stream', (ctx) => {
        ctx.stream(['a'])
        ctx.earlyHints({ link: style })
      })
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        assert.equal((await live.ask('/text')).text, 'first')
        assert.equal((await live.ask('/stream')).text, 'a')
        const codes = kit.reports.splice(before).map((error) => (error as VolantError).code)
        assert.deepEqual(codes, ['E_ALREADY_REPLIED', 'E_ALREADY_REPLIED'])
      })
    })

    test('to a client that left they are dropped', async () => {
      const app = kit.app()
      const gone = deferred()
      const outcome = deferred<unknown>()
      app.get('/gone', async (ctx) => {
        ctx.signal.addEventListener('abort', () => gone.resolve())
        await gone.promise
        try {
          for (let count = 0; count < 100; count++) ctx.earlyHints({ link: style })
          outcome.resolve('dropped')
        } catch (error) {
          outcome.resolve(error)
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/gone'))
        await eventually(() => app.stats().inFlight === 1, 'a request in flight')
        wire.reset()
        assert.equal(await outcome.promise, 'dropped')
        await eventually(() => app.stats().inFlight === 0, 'the end of the request')
      })
    })

    test('clients of HTTP/1.0 get none', async () => {
      const app = kit.app()
      app.get('/page', (ctx) => {
        ctx.earlyHints({ link: style })
        return 'done'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send('GET /page HTTP/1.0\r\n\r\n').interim()
        assert.deepEqual([reply.status, reply.text], [200, 'done'])
        await wire.ended()
      })
    })

    for (const [what, hints] of bad) {
      test(`${what} is E_BAD_HEADER, and nothing is sent`, async () => {
        const app = kit.app()
        app.get('/page', (ctx) => {
          try {
            ctx.earlyHints(hints as Hints)
            return 'taken'
          } catch (error) {
            return error instanceof VolantError ? error.code : 'another error'
          }
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const reply = await wire.send(request('GET', '/page')).interim()
          assert.deepEqual([reply.status, reply.text], [200, 'E_BAD_HEADER'])
        })
      })
    }

    test('without a header nothing is sent', async () => {
      const app = kit.app()
      app.get('/page', (ctx) => {
        ctx.earlyHints({})
        ctx.earlyHints({ link: [] })
        return 'done'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send(request('GET', '/page')).interim()).status, 200)
      })
    })

    test('inject keeps them beside the reply', async () => {
      const app = kit.app()
      app.get('/page', (ctx) => {
        ctx.earlyHints({ Link: [style, font] })
        ctx.earlyHints({ 'x-more': '1' })
        return 'done'
      })
      const reply = await app.inject('/page')
      assert.deepEqual(
        reply.informational.map(({ status, headers }) => [status, { ...headers }]),
        [
          [103, { link: `${style}, ${font}` }],
          [103, { 'x-more': '1' }],
        ],
      )
      assert.equal(reply.text(), 'done')
      assert.deepEqual((await app.inject('/none')).informational, [])
    })
  })
}
