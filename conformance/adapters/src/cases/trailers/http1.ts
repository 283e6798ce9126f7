import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { fromConnect } from 'volant/connect'
import { type Kit, request } from '../../kit.ts'

export function trailersOfHttp1(kit: Kit): void {
  test('an adapter without trailers says so', { skip: kit.can('trailers') && 'it has them' }, async () => {
    const app = kit.app()
    app.get('/', (ctx) => ctx.trailer('x-a', '1').text('x'))
    app.post('/', { bodyMode: 'stream' }, async (ctx) => {
      await ctx.request.text()
      return { ...ctx.trailers }
    })
    app.get(
      '/connect',
      fromConnect((_, res) => res.addTrailers({ 'x-a': '1' })),
    )
    await kit.serve(app, async (live) => {
      for (const path of ['/', '/connect']) {
        assert.equal((await live.ask(path)).status, 500)
        assert.match(String(kit.reports.pop()), /no fields behind a body/)
      }
      assert.deepEqual((await live.post('/', null, 'x')).json(), {})
    })
  })

  describe('trailers in HTTP/1', kit.needs('trailers'), () => {
    test('a reply of HTTP/1.0 has none', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/whole', (ctx) => ctx.trailer('x-a', '1').text('whole'))
      app.get('/stream', (ctx) => ctx.trailer('x-a', '1').stream(['stream']))
      await kit.serve(app, async (live) => {
        for (const [path, text] of [
          ['/whole', 'whole'],
          ['/stream', 'stream'],
        ] as const) {
          const wire = await live.connect()
          wire.send(`GET ${path} HTTP/1.0\r\n\r\n`)
          const reply = await wire.reply()
          assert.deepEqual([reply.status, reply.text], [200, text])
          await wire.ended()
        }
      })
    })

    test('they leave as they were given, and the next reply begins behind them', async () => {
      const app = kit.app()
      app.get('/s', (ctx) => ctx.trailer('X-One', 'é').trailer('x-two', ['a', 'b']).stream(['body']))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let times = 0; times < 2; times++) {
          const reply = await wire.send(request('GET', '/s')).reply()
          assert.equal(reply.headers['content-length'], undefined)
          assert.deepEqual(
            reply.trailers.map(([name, value]) => [name.toLowerCase(), value]),
            [
              ['x-one', 'é'],
              ['x-two', 'a'],
              ['x-two', 'b'],
            ],
          )
        }
        const whole = await wire.send(request('GET', '/none')).reply()
        assert.equal(whole.status, 404)
      })
    })

    test('those of a request never become fields of its head, and forbidden ones are not seen', async () => {
      const app = kit.app()
      app.post('/', { bodyMode: 'stream' }, async (ctx) => {
        const body = await ctx.request.text()
        return { body, head: ctx.headers['x-a'] ?? null, trailers: { ...ctx.trailers } }
      })
      await kit.serve(app, async (live) => {
        const head =
          'POST / HTTP/1.1\r\nHost: a\r\nX-A: head\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n'
        const wire = await live.connect()
        wire.send(`${head}X-A: trailer\r\nX-B:\t1\t\r\nX-b: 2\r\nX-C:\r\nCache-Control: no-store\r\n\r\n`)
        assert.deepEqual((await wire.reply()).json(), {
          body: 'hello',
          head: 'head',
          trailers: { 'x-a': 'trailer', 'x-b': '1, 2', 'x-c': '' },
        })
        // The result is the same when each byte arrives alone.
        for (const byte of `${head}X-A: trailer\r\n\r\n`) {
          wire.send(byte)
          await new Promise(setImmediate)
        }
        assert.deepEqual((await wire.reply()).json(), {
          body: 'hello',
          head: 'head',
          trailers: { 'x-a': 'trailer' },
        })
        // The native adapter refuses the request, and node:http passes it on.
        wire.send(`${head}Content-Length: 5\r\nX-D: 1\r\n\r\n`)
        const reply = await wire.reply()
        if (reply.status === 200)
          assert.deepEqual((reply.json() as { trailers: unknown }).trailers, { 'x-d': '1' })
        else assert.equal(reply.status, 400)
      })
    })

    test('app.inject carries them both ways', async () => {
      const app = kit.app()
      app.post('/echo', { bodyMode: 'stream' }, async (ctx) => {
        assert.deepEqual({ ...ctx.trailers }, {})
        const text = await ctx.request.text()
        ctx.trailer('x-seen', JSON.stringify({ ...ctx.trailers })).text(text)
      })
      app.get('/none', (ctx) => ctx.text('none'))
      app.get('/length', (ctx) => ctx.trailer('x-a', '1').stream(['abc'], { length: 3 }))
      app.get('/old', (ctx) => ctx.trailer('x-a', '1').text('abc'))
      const trailers = { 'x-a': '1', 'x-b': ['2', '3'] }
      for (const body of [undefined, 'text', Readable.from(['te', 'xt'])]) {
        const reply = await app.inject({ method: 'POST', url: '/echo', body, trailers })
        assert.equal(reply.status, 200)
        assert.equal(reply.text(), body === undefined ? '' : 'text')
        assert.deepEqual({ ...reply.trailers }, { 'x-seen': '{"x-a":"1","x-b":"2, 3"}' })
        assert.equal(reply.headers['content-length'], undefined)
      }
      assert.deepEqual({ ...(await app.inject('/none')).trailers }, {})
      assert.deepEqual({ ...(await app.inject('/length')).trailers }, {})
      const old = await app.inject({ url: '/old', httpVersion: '1.0' })
      assert.deepEqual([old.text(), { ...old.trailers }], ['abc', {}])
      await assert.rejects(
        app.inject({ method: 'POST', url: '/echo', body: 'x', trailers: { host: 'b' } }),
        /inject: trailers/,
      )
      // A web Response cannot have trailers.
      const response = await app.fetch(new Request('http://a/echo', { method: 'POST', body: 'text' }))
      assert.equal(await response.text(), 'text')
    })
  })
}
