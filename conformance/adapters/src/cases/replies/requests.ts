import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit } from '../../kit.ts'

/** What a handler sees of its request. */
export function requestInReplies(kit: Kit): void {
  describe('replies', () => {
    test('what ctx says of the request', async () => {
      const app = kit.app()
      app.get('/r', async (ctx) => {
        const request = ctx.request
        return {
          method: ctx.method,
          url: request.url,
          version: ctx.httpVersion,
          ip: ctx.ip,
          agent: ctx.headers['user-agent'],
          joined: ctx.headers['x-two'],
          cookies: ctx.cookies,
          header: request.headers.get('x-two'),
          ids: ctx.id === ctx.id && ctx.id.length > 8,
          missing: ctx.headers['constructor'] === undefined,
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(
          'GET /r?q=1 HTTP/1.1\r\nHost: h.test\r\nUser-Agent: me\r\nX-Two: a\r\nx-two: b\r\nCookie: a=1; b=%20\r\nCookie: c=%C3%A9; a=2\r\n\r\n',
        )
        assert.deepEqual((await wire.reply()).json(), {
          method: 'GET',
          url: `${kit.scheme}://h.test/r?q=1`,
          version: '1.1',
          ip: '127.0.0.1',
          agent: 'me',
          joined: 'a, b',
          cookies: { a: '1', b: ' ', c: 'é' },
          header: 'a, b',
          ids: true,
          missing: true,
        })
      })
    })

    test('objects with names of the request have no prototype, and share nothing', async () => {
      const app = kit.app()
      app.post('/r/:id', (ctx) => {
        const parts = [ctx.params, ctx.query, ctx.headers, ctx.cookies, ctx.state, ctx.body as object]
        const polluted = parts.map((part) => {
          const shared: unknown = Object.getPrototypeOf(part)
          if (shared !== null) Reflect.set(shared as object, 'polluted', 'yes')
          return [shared === null, 'constructor' in part, 'polluted' in part]
        })
        return polluted
      })
      await kit.serve(app, async (live) => {
        for (let round = 0; round < 2; round++) {
          const reply = await live.post('/r/7?q=1', 'application/x-www-form-urlencoded', 'a=1', {
            cookie: 'c=1',
          })
          assert.deepEqual(reply.json(), Array(6).fill([true, false, false]))
        }
      })
    })

    test('a handler reads its request after its reply, as long as it has not returned', async () => {
      const app = kit.app()
      const read: unknown[] = []
      const go = deferred()
      app.post('/after/:who', async (ctx) => {
        ctx.text('sent')
        await go.promise
        read.push([ctx.params.who, ctx.query.q, ctx.headers['x-mine'], ctx.bodyText, ctx.path])
      })
      app.get('/other/:who', () => 'other')
      await kit.serve(app, async (live) => {
        const headers = { 'x-mine': 'yes', 'content-type': 'text/plain' }
        const first = live.ask('/after/ada?q=1', { method: 'POST', headers, body: 'body' })
        assert.equal((await first).text, 'sent')
        for (let round = 0; round < 5; round++) await live.ask(`/other/${round}?q=2`)
        go.resolve()
        await eventually(() => read.length > 0, 'the handler has read its request')
        assert.deepEqual(read, [['ada', '1', 'yes', 'body', '/after/ada']])
      })
    })
  })
}
