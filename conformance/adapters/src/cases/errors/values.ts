import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, HTTPError } from 'volant'
import { type Kit } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errorsOfValues(kit: Kit): void {
  describe('errors', () => {
    test('a context that is returned is no value', async () => {
      const app = kit.app()
      app.use(before((ctx) => ctx.header('x-before', '1')))
      app.use(before(async (ctx) => ctx.header('x-later', '1')))
      app.use(async (ctx, next) => {
        await next()
        return ctx
      })
      app.get('/value', () => 'value')
      app.get('/status', (ctx) => ctx.status(202))
      app.get('/async', async (ctx) => ctx.header('x-handler', '1'))
      app.onError((_, ctx) => ctx.header('x-error', '1'))
      app.get('/error', () => {
        throw new HTTPError(418)
      })
      app.get('/inside', (ctx) => ({ ctx }))
      await kit.serve(app, async (live) => {
        const value = await live.ask('/value')
        assert.equal(value.text, 'value')
        assert.equal(value.headers['x-before'], '1')
        assert.equal(value.headers['x-later'], '1')
        const status = await live.ask('/status')
        assert.deepEqual([status.status, status.text], [202, ''])
        assert.equal((await live.ask('/async')).headers['x-handler'], '1')
        const error = await live.ask('/error')
        assert.deepEqual([error.status, error.headers['x-error']], [418, '1'])
        const inside = await live.ask('/inside')
        assert.equal(inside.status, 500)
        assert.ok(!inside.text.includes('limits'))
      })
    })
  })
}
