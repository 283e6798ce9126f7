import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { type Kit, turns } from '../../kit.ts'

/** Middleware around routes. */
export function middlewareOrder(kit: Kit): void {
  describe('routing', () => {
    test('middleware: order, around the handler, and state', async () => {
      const app = kit.app()
      const order: string[] = []
      app.use(async (ctx, next) => {
        order.push('a')
        ctx.state['user'] = 'ann'
        await next()
        order.push(`a${ctx.status()}`)
      })
      app.use((_ctx, next) => {
        order.push('b')
        return next()
      })
      app.get(
        '/m',
        (_ctx, next) => {
          order.push('c')
          return next()
        },
        (ctx) => {
          order.push('handler')
          ctx.status(201)
          return { user: ctx.state['user'] as unknown }
        },
      )
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/m')
        assert.equal(reply.status, 201)
        assert.deepEqual(reply.json(), { user: 'ann' })
        assert.deepEqual(order, ['a', 'b', 'c', 'handler', 'a201'])
      })
    })

    test('middleware runs for routes registered before it, and for 404, 405 and OPTIONS', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.use((ctx, next) => {
        ctx.header('x-mw', ctx.method)
        return next()
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).headers['x-mw'], 'GET')
        assert.equal((await live.ask('/none')).headers['x-mw'], 'GET')
        assert.equal((await live.ask('/x', { method: 'PUT' })).headers['x-mw'], 'PUT')
        assert.equal((await live.ask('/x', { method: 'OPTIONS' })).headers['x-mw'], 'OPTIONS')
      })
    })

    test('middleware that replies keeps the handler from running', async () => {
      const app = kit.app()
      let ran = false
      app.use((ctx) => ctx.json({ no: true }, 401))
      app.get('/x', () => {
        ran = true
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).status, 401)
        assert.equal(ran, false)
      })
    })

    test('middleware may return the reply', async () => {
      const app = kit.app()
      app.use(async (ctx) => {
        ctx.status(403)
        return { no: true }
      })
      app.get('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 403)
        assert.deepEqual(reply.json(), { no: true })
      })
    })

    test('next() twice is an error', async () => {
      const app = kit.app()
      app.use(async (_ctx, next) => {
        await next()
        await next()
      })
      app.get('/x', () => 'once')
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        assert.equal((await live.ask('/x')).text, 'once')
        const { code, message } = kit.reports[before] as VolantError
        assert.equal(code, 'E_NEXT_TWICE')
        assert.match(message, /^a middleware of GET \/x called next\(\) more than once: /)
      })
    })

    test('next() without await or return still gives the reply', async () => {
      const app = kit.app()
      app.use((_ctx, next) => {
        void next()
      })
      app.use(async (_ctx, next) => {
        void next()
      })
      app.get('/x', async () => {
        await turns()
        return 'late'
      })
      app.get('/fails', async () => {
        await turns()
        throw new Error('late')
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, 'late')
        assert.equal((await live.ask('/fails')).status, 500)
      })
    })
  })
}
