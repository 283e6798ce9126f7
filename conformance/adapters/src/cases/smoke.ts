/**
 * What the framework's tests in `packages/volant/test` show without a socket: here one case for each area shows that
 * it works over a socket of this adapter.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors, health, requestId, securityHeaders } from 'volant'
import { z } from 'zod'
import { deferred, type Kit, request } from '../kit.ts'

export function smoke(kit: Kit): void {
  describe('smoke', () => {
    test('accepts', async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.accepts('json', 'html') || 'none')
      await kit.serve(app, async (live) => {
        const headers = { accept: 'text/html;q=0.9, application/json;q=0.1' }
        assert.equal((await live.ask('/x', { headers })).text, 'html')
      })
    })

    test('cookies', async () => {
      const app = kit.app()
      app.get('/x', (ctx) =>
        ctx
          .cookie('a', 'ü')
          .cookie('b', ctx.cookies['c'] ?? '')
          .text('x'),
      )
      await kit.serve(app, async (live) => {
        const { raw } = await live.ask('/x', { headers: { cookie: 'c=%C3%A4' } })
        assert.deepEqual(
          raw.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value.split(';')[0]),
          ['a=%C3%BC', 'b=%C3%A4'],
        )
      })
    })

    test('cors', async () => {
      const origin = 'https://app.example'
      const app = kit.app()
      app.use(cors({ origin }))
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        assert.equal(
          (await live.ask('/x', { headers: { origin } })).headers['access-control-allow-origin'],
          origin,
        )
        const preflight = await live.ask('/x', {
          method: 'OPTIONS',
          headers: { origin, 'access-control-request-method': 'PUT' },
        })
        assert.equal(preflight.status, 204)
        assert.match(preflight.headers['access-control-allow-methods'] ?? '', /PUT/)
      })
    })

    test('health: details, and /ready is 503 while the app closes', async () => {
      const held = deferred()
      const entered = deferred()
      const app = kit.app()
      app.register(health, { details: '/details' })
      app.get('/held', async () => {
        entered.resolve()
        await held.promise
        return 'done'
      })
      app.get('/closing', () => app.closing)
      await kit.serve(app, async (live) => {
        assert.ok((JSON.parse((await live.ask('/details')).text) as { requests: number }).requests >= 1)
        assert.equal((await live.ask('/closing')).text, 'false')
        const wire = await live.connect()
        wire.send(request('GET', '/held'))
        await entered.promise
        const closed = app.close()
        assert.equal(app.closing, true)
        const inside = await app.inject('/ready')
        assert.equal(inside.status, 503)
        assert.deepEqual(JSON.parse(inside.body.toString()), { status: 'closing' })
        held.resolve()
        assert.equal((await wire.reply()).text, 'done')
        wire.close()
        await closed
      })
    })

    test('request ids', async () => {
      const app = kit.app()
      app.use(requestId())
      app.get('/x', (ctx) => ctx.id)
      await kit.serve(app, async (live) => {
        const { headers, text } = await live.ask('/x')
        assert.ok(text.length > 10)
        assert.equal(headers['x-request-id'], text)
      })
    })

    test('scopes', async () => {
      const app = kit.app()
      app.group('/api', (api) => {
        api.use((ctx, next) => {
          ctx.header('x-api', '1')
          return next()
        })
        api.get('/x', () => 'x')
      })
      app.get('/y', () => 'y')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/api/x')).headers['x-api'], '1')
        assert.equal((await live.ask('/y')).headers['x-api'], undefined)
      })
    })

    test('security headers', async () => {
      const app = kit.app()
      app.use(securityHeaders())
      await kit.serve(app, async (live) => {
        const { status, headers } = await live.ask('/none')
        assert.deepEqual([status, headers['x-content-type-options']], [404, 'nosniff'])
      })
    })

    test('validation', async () => {
      const app = kit.app()
      const schemas = {
        params: z.object({ id: z.coerce.number() }),
        query: z.object({ limit: z.coerce.number().default(10) }),
        body: z.object({ name: z.string() }),
      }
      app.post('/users/:id', schemas, ({ params, query, body }) => ({ params, query, body }))
      await kit.serve(app, async (live) => {
        const good = await live.post('/users/7?limit=5', 'application/json', '{"name":"ü"}')
        assert.deepEqual(good.json(), { params: { id: 7 }, query: { limit: 5 }, body: { name: 'ü' } })
        const bad = await live.post('/users/x', 'application/json', '{}')
        assert.equal(bad.status, 400)
        assert.deepEqual(
          (bad.json() as { errors: { in: string; pointer: string }[] }).errors.map(
            (each) => `${each.in} ${each.pointer}`,
          ),
          ['params #/id', 'body #/name'],
        )
      })
    })
  })
}
