import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { type Kit } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errorHandlers(kit: Kit): void {
  describe('errors', () => {
    test('onError replies: returned, imperative, async, with the status of the error', async () => {
      const app = kit.app()
      app.onError(async (error, ctx) => {
        await Promise.resolve()
        const message = error instanceof Error ? error.message : 'odd'
        if (message === 'imperative') return ctx.json({ imperative: true }, 409)
        if (message === 'undefined') return undefined
        if (message === 'again') throw new HTTPError(422, 'from the error handler')
        return { caught: message }
      })
      app.get('/:what', (ctx) => {
        throw ctx.params.what === 'odd'
          ? 'odd'
          : ctx.params.what === 'teapot'
            ? new HTTPError(418, 'teapot')
            : new Error(ctx.params.what)
      })
      await kit.serve(app, async (live) => {
        const teapot = await live.ask('/teapot')
        assert.equal(teapot.status, 418)
        assert.deepEqual(teapot.json(), { caught: 'teapot' })
        assert.equal((await live.ask('/plain')).status, 500)
        assert.deepEqual((await live.ask('/odd')).json(), { caught: 'odd' })
        assert.equal((await live.ask('/imperative')).status, 409)
        const undefinedReply = await live.ask('/undefined')
        assert.equal(undefinedReply.status, 500)
        assert.equal(undefinedReply.headers['content-type'], 'application/problem+json; charset=utf-8')
        assert.equal((await live.ask('/again')).status, 422)
      })
    })

    test('an error handler that fails is reported with what it was given, each once', async () => {
      const app = kit.app()
      const first = new Error('first')
      const second = new Error('second')
      app.onError((error, ctx) => {
        if (ctx.path.endsWith('again')) throw error
        if (ctx.path.endsWith('async')) return Promise.reject(second)
        throw second
      })
      for (const path of ['/again', '/async', '/sync']) {
        app.get(path, () => {
          throw first
        })
      }
      await kit.serve(app, async (live) => {
        for (const [path, reported] of [
          ['/again', [first]],
          ['/async', [first, second]],
          ['/sync', [first, second]],
          ['/nowhere', [second]],
        ] as const) {
          const before = kit.reports.length
          assert.equal((await live.ask(path)).status, 500)
          assert.deepEqual(kit.reports.slice(before), reported)
        }
      })
    })

    test('onError sees 404, 405 and body errors', async () => {
      const app = kit.app()
      app.onError((error) => ({ code: (error as HTTPError).code }))
      app.post('/b', (ctx) => ctx.json(ctx.body))
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/none')).json(), { code: 'E_NOT_FOUND' })
        const wrong = await live.ask('/b')
        assert.equal(wrong.status, 405)
        assert.deepEqual(wrong.json(), { code: 'E_METHOD_NOT_ALLOWED' })
        assert.equal(wrong.headers['allow'], 'POST, OPTIONS')
        assert.deepEqual((await live.post('/b', 'application/json', '{')).json(), {
          code: 'E_BODY_MALFORMED',
        })
      })
    })
  })
}
