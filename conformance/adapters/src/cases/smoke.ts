/**
 * What the framework's tests in `packages/volant/test` show without a socket: here one case for each area shows that
 * it works over a socket of this adapter.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contract, cors, health, requestId, securityHeaders } from 'volant'
import { createClient } from 'volant/client'
import { procedure, rest, router } from 'volant/procedures'
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

    test('contracts', async () => {
      const tree = {
        get: contract.get('/users/:id', {
          params: z.object({ id: z.coerce.number() }),
          response: z.object({ id: z.number(), born: z.date() }),
          errors: { GONE: { status: 410 } },
        }),
      }
      const born = new Date(0)
      const app = kit.app()
      app.implement(tree, {
        get: (ctx) => {
          if (ctx.params.id === 0) throw ctx.fail('GONE')
          return { id: ctx.params.id, born }
        },
      })
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/users/7')).json(), { id: 7, born: born.toJSON() })
        const client = createClient(tree, live.address.url)
        assert.equal((await client.get({ params: { id: 7 } })).data?.id, 7)
        const gone = await client.get({ params: { id: 0 } })
        assert.ok(!gone.ok && gone.code === 'GONE')
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

    test('details of errors, in development and on this machine', async () => {
      const app = kit.app({ errorDetails: true })
      app.get('/x', () => {
        throw new TypeError('no id')
      })
      await kit.serve(app, async (live) => {
        const { detail } = (await live.ask('/x')).json() as { detail: string }
        assert.match(detail, /^TypeError: no id \(\S+smoke\.[jt]s:\d+:\d+\)/)
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

    test('procedures over REST', async () => {
      const input = z.object({ id: z.number() })
      const users = router({
        getUser: procedure()
          .input(input)
          .output(input)
          .query(({ input: { id } }) => ({ id })),
      })
      const app = kit.app()
      app.register(rest(router({ users })))
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/users/7')).json(), { id: 7 })
        assert.equal((await live.ask('/users/x')).status, 400)
      })
    })

    test('send hooks', async () => {
      const app = kit.app()
      app.onSend((_, reply) => {
        reply.headers.set('x-status', reply.status)
        reply.body = `${String(reply.body)}!`
      })
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const { text, headers } = await live.ask('/x')
        assert.deepEqual([text, headers['x-status'], headers['content-length']], ['x!', '200', '2'])
        assert.equal((await live.ask('/none')).headers['x-status'], '404')
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

    test('schemas of replies', async () => {
      const app = kit.app()
      const response = z.object({ id: z.number(), note: z.string().optional() })
      app.get('/x', { response }, () => ({ id: 1 }))
      app.get('/wrong', { response }, () => ({ id: 'one' }) as unknown as { id: number })
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/x')).json(), { id: 1 })
        assert.equal((await live.ask('/wrong')).status, 500)
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
