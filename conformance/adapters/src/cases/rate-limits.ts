import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { describe, test } from 'node:test'
import { cors } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { type Kit, request, stderrLines } from '../kit.ts'

/** Limits over sockets; the counting itself is in `packages/volant/test/rate-limit/`. */
export function rateLimits(kit: Kit): void {
  describe('rate limits', () => {
    test('eight connections that send all they can get exactly what is allowed', async () => {
      for (const algorithm of ['gcra', 'fixed', 'sliding'] as const) {
        const app = kit.app()
        const limiter = rateLimit({ max: 200, timeWindow: '30 days', algorithm })
        app.use(limiter)
        app.get('/x', () => 'x')
        await kit.serve(app, async (live) => {
          const bytes = Array.from({ length: 50 }, () => request('GET', '/x'))
          const hammer = async (): Promise<number> => {
            const wire = await live.connect()
            let passed = 0
            for await (const { status } of kit.replies(wire, bytes)) {
              assert.ok(status === 200 || status === 429)
              if (status === 200) passed++
            }
            return passed
          }
          const passed = await Promise.all(Array.from({ length: 8 }, hammer))
          assert.equal(
            passed.reduce((sum, each) => sum + each, 0),
            200,
            algorithm,
          )
          assert.equal(limiter.stats().refused, 200)
        })
      }
    })

    test('a 429 has its fields, and the connection goes on', async () => {
      const app = kit.app()
      app.use(rateLimit({ max: 2, timeWindow: '1 hour' }))
      app.get('/x', (ctx) => ctx.header('x-own', 'ü').text('x'))
      app.get('/stream', (ctx) => ctx.stream(['a', 'b']))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const first = await wire.send(request('GET', '/x')).reply()
        assert.deepEqual([first.status, first.headers['ratelimit-policy']], [200, '"default";q=2;w=3600'])
        assert.match(first.headers['ratelimit'] ?? '', /^"default";r=1;t=1[678]\d\d$/)
        const stream = await wire.send(request('GET', '/stream')).reply()
        assert.equal(stream.text, 'ab')
        assert.match(stream.headers['ratelimit'] ?? '', /^"default";r=0;t=1[678]\d\d$/)
        for (const method of ['GET', 'HEAD', 'POST', 'DELETE']) {
          const reply = await wire
            .send(request(method, '/x', {}, method === 'POST' ? 'body' : ''))
            .reply(method)
          assert.equal(reply.status, 429)
          const wait = reply.headers['retry-after'] ?? ''
          assert.match(wait, /^1[678]\d\d$/)
          assert.equal(reply.headers['ratelimit'], `"default";r=0;t=${wait}`)
          assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
          if (method === 'HEAD') assert.equal(reply.text, '')
          else assert.equal((reply.json() as { code: string }).code, 'E_RATE_LIMITED')
          assert.notEqual(reply.headers['connection'], 'close')
        }
      })
    })

    test(
      'a client that waits for 100 Continue is refused before it sends its body',
      kit.needs('late-100'),
      async () => {
        const app = kit.app()
        app.use(rateLimit({ max: 1 }))
        app.post('/x', { beforeBody: () => {} }, (ctx) => ctx.bodyText)
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/x', 'text/plain', 'sent')).text, 'sent')
          const wire = await live.connect()
          wire.send(request('POST', '/x', { 'content-length': '1000', expect: '100-continue' }))
          assert.equal((await wire.interim()).status, 429)
        })
      },
    )

    test('X-Forwarded-For and its like change nothing without trustProxy', async () => {
      const app = kit.app()
      const keys = new Set<string>()
      app.use(rateLimit({ max: 1, onExceeded: (_, key) => keys.add(key) }))
      app.get('/x', () => 'x')
      const lines = await stderrLines(() =>
        kit.serve(app, async (live) => {
          await live.ask('/x')
          for (const [name, value] of [
            ['x-forwarded-for', '192.0.2.1'],
            ['forwarded', 'for=192.0.2.2'],
            ['x-real-ip', '192.0.2.3'],
            ['cf-connecting-ip', '192.0.2.4'],
          ] as const) {
            assert.equal((await live.ask('/x', { headers: { [name]: value } })).status, 429, name)
          }
        }),
      )
      // It is said once in a process.
      for (const line of lines) assert.match(line, /rateLimit.*trustProxy/)
      assert.deepEqual([...keys], ['127.0.0.1'])
    })

    const hasIpv6 = Object.values(networkInterfaces()).some((list) =>
      list?.some(({ address }) => address === '::1'),
    )
    const skip = hasIpv6 ? false : 'this machine has no IPv6'
    test('a dual-stack socket sees the same client', { skip }, async () => {
      const app = kit.app()
      const keys: string[] = []
      app.use(rateLimit({ max: 1, onExceeded: (_, key) => keys.push(key) }))
      app.get('/x', () => 'x')
      const { port } = await app.listen({ port: 0, host: '::' })
      try {
        for (const host of ['127.0.0.1', '[::1]']) {
          for (const status of [200, 429]) {
            assert.equal((await fetch(`http://${host}:${port}/x`)).status, status, host)
          }
        }
        assert.deepEqual(keys, ['127.0.0.1', '0:0:0:0::/64'])
      } finally {
        await app.close()
      }
    })

    test('every spelling of a path is one key', async () => {
      const app = kit.app()
      app.use(rateLimit({ max: 1, keyGenerator: (ctx) => ctx.path }))
      app.get('/a/:b', () => 'x')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/a/x')).status, 200)
        for (const path of ['/%61/x', '/a/%78', '/./a/x', '/b/../a/x', '/a/x?q', '/%2e/a/x']) {
          const { status } = await live.ask(path)
          assert.ok(status === 429 || status === 400, `${path}: ${status}`)
        }
      })
    })

    test('pages of other origins can read it', async () => {
      const app = kit.app()
      app.use(rateLimit({ max: 1 }))
      app.use(cors({ origin: 'https://app.example' }))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        for (const status of [200, 429]) {
          const reply = await live.ask('/x', { headers: { origin: 'https://app.example' } })
          assert.deepEqual(
            [reply.status, reply.headers['access-control-allow-origin']],
            [status, 'https://app.example'],
          )
          assert.equal(
            reply.headers['access-control-expose-headers'],
            'RateLimit-Policy, RateLimit, Retry-After',
          )
        }
      })
    })
  })
}
