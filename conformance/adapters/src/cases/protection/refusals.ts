import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { allowedHosts, httpsRedirect, ipRestriction, tooBusy, trailingSlash } from 'volant/middleware'
import { deferred, eventually, type Kit, request } from '../../kit.ts'

/** Requests that a plugin refuses: for their host, their address or their number. */
export function refusedRequests(kit: Kit): void {
  describe('protection', () => {
    const codeOf = (reply: { json(): unknown }): unknown => (reply.json() as { code: string }).code

    test('a host that is not listed is 421, as Host and in an absolute target, and the connection goes on', async () => {
      const app = kit.app()
      app.use(allowedHosts(['shop.example', '[::1]']))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const [host, status] of [
          ['evil.example', 421],
          ['shop.example', 200],
          ['SHOP.example.:81', 200],
          ['[::1]:81', 200],
          ['shop.example.evil.example', 421],
        ] as const) {
          for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
            const reply = await wire.send(request(method, '/x', { host })).reply(method)
            const expected = status === 421 ? 421 : { GET: 200, HEAD: 200, OPTIONS: 204, DELETE: 405 }[method]
            assert.equal(reply.status, expected, `${method} ${host}`)
          }
        }
      })
    })

    test('nobody is sent to another host', async () => {
      const app = kit.app()
      app.use('/secure', httpsRedirect({ allowedHosts: ['shop.example'] }))
      app.use(trailingSlash('remove'))
      app.get('/secure/x', () => 'served')
      app.post('/secure/x', (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        const secure = await live.ask('/secure/x?a=1', { headers: { host: 'shop.example:8080' } })
        const other = await live.ask('/secure/x', { headers: { host: 'evil.example' } })
        const post = await live.post('/secure/x', 'text/plain', 'password', { host: 'shop.example' })
        if (kit.scheme === 'https') {
          assert.deepEqual([secure.text, other.text, post.text], ['served', 'served', 'password'])
        } else {
          assert.deepEqual(
            [secure.status, secure.headers['location']],
            [308, 'https://shop.example/secure/x?a=1'],
          )
          assert.deepEqual([other.status, other.headers['location']], [421, undefined])
          assert.deepEqual([post.status, codeOf(post)], [403, 'E_HTTPS_REQUIRED'])
        }
        for (const [path, to] of [
          ['/a/?b=/', '/a?b=/'],
          ['//evil.example/', '/evil.example'],
          ['//evil.example//', '/evil.example'],
          ['/\\evil.example/', '/%5Cevil.example'],
          ['/%2F%2fevil.example/', '/%2F%2Fevil.example'],
          ['/%09/evil.example/', '/%09/evil.example'],
        ] as const) {
          const { status, headers } = await live.ask(path)
          // An adapter may refuse the path.
          if (status !== 400) assert.deepEqual([status, headers['location']], [308, to], path)
        }
      })
    })

    test('clients are told apart by the address of their connection', async () => {
      const app = kit.app()
      app.use('/none', ipRestriction({ deny: ['loopback'] }))
      app.use('/own', ipRestriction({ allow: ['127.0.0.1/32'] }))
      app.get('/own', () => 'own')
      await kit.serve(app, async (live) => {
        const headers = { 'x-forwarded-for': '192.0.2.1', forwarded: 'for=192.0.2.1' }
        const reply = await live.ask('/none', { headers })
        assert.deepEqual([reply.status, codeOf(reply)], [403, 'E_IP_DENIED'])
        assert.equal((await live.ask('/own', { headers })).text, 'own')
      })
    })

    test('a request that is refused is refused before its body is sent', kit.needs('late-100'), async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      app.use('/ip', ipRestriction({ deny: ['loopback'] }))
      app.use('/host', allowedHosts(['shop.example']))
      app.use('/https', httpsRedirect({ allowedHosts: ['localhost'] }))
      const busy = tooBusy({ maxRss: 1, sampleInterval: 100 })
      app.use('/busy', busy)
      for (const path of ['/ip', '/host', '/https', '/busy', '/open']) app.post(path, (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        for (const path of ['/open', '/busy'])
          assert.equal((await live.post(path, 'text/plain', 'sent')).text, 'sent')
        await clock.advance(100)
        assert.equal(busy.stats().shedding, 1)
        for (const [path, status] of [
          ['/ip', 403],
          ['/host', 421],
          // Over TLS the app does not refuse this request, and the client may send its body.
          ['/https', kit.scheme === 'https' ? 100 : 403],
          ['/busy', 503],
        ] as const) {
          const wire = await live.connect()
          wire.send(request('POST', path, { 'content-length': '1000', expect: '100-continue' }))
          assert.equal((await wire.interim()).status, status)
        }
      })
    })

    test('requests past maxInFlight are refused, also those whose client has left before', async () => {
      const app = kit.app()
      const guard = tooBusy({ maxInFlight: 2 })
      app.use(guard)
      let started = 0
      const done = deferred<string>()
      app.get('/slow', () => {
        started++
        return done.promise
      })
      app.get('/health', () => 'well')
      await kit.serve(app, async (live) => {
        const leaving = await live.connect()
        leaving.send(request('GET', '/slow'))
        await eventually(() => started === 1, 'the first runs')
        const staying = await live.connect()
        staying.send(request('GET', '/slow'))
        await eventually(() => started === 2, 'the second runs')
        const refused = await live.ask('/slow')
        assert.deepEqual(
          [refused.status, refused.headers['retry-after'], codeOf(refused)],
          [503, '10', 'E_TOO_BUSY'],
        )
        assert.equal((await live.ask('/health')).text, 'well')
        leaving.reset()
        await eventually(() => guard.stats().inFlight === 1, 'the first is not counted any more')
        done.resolve('done')
        assert.equal((await staying.reply()).text, 'done')
        assert.equal((await live.ask('/slow')).text, 'done')
        assert.deepEqual(guard.stats(), { ...guard.stats(), inFlight: 0, refused: 1, shedding: 0 })
      })
    })
  })
}
