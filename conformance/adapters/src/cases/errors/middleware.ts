import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, cors, health, HTTPError, logger, validate, type VolantError } from 'volant'
import { eventually, type Kit } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errorsOfMiddleware(kit: Kit): void {
  describe('errors', () => {
    test('middleware can catch what the handler throws', async () => {
      const app = kit.app()
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch {
          ctx.json({ caught: true }, 418)
        }
      })
      app.get('/sync', () => {
        throw new Error('x')
      })
      app.get('/async', async () => {
        throw new Error('x')
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async'])
          assert.deepEqual((await live.ask(path)).json(), { caught: true })
      })
    })

    test('middleware that swallows an error without replying gives 500', async () => {
      const app = kit.app()
      app.use(async (_ctx, next) => next().catch(() => {}))
      app.use(async (_ctx, next) => {
        try {
          await next()
        } catch {
          return
        }
      })
      app.get('/sync', () => {
        throw new Error('x')
      })
      app.get('/async', async () => {
        throw new Error('x')
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async']) assert.equal((await live.ask(path)).status, 500)
      })
    })

    test('next() that comes too late is reported, and ends nothing', async () => {
      const app = kit.app()
      let ran = 0
      let late: () => unknown = () => {}
      app.use((_, next) => {
        late = next
      })
      app.get('/sync', () => ++ran)
      app.get('/async', async () => ++ran)
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async']) {
          const reports = kit.reports.length
          assert.equal((await live.ask(path)).status, 500)
          void late()
          await eventually(() => kit.reports.length > reports + 1, 'the reports')
          const [missing, tooLate] = kit.reports.slice(reports) as [VolantError, VolantError]
          assert.deepEqual([missing.code, tooLate.code], ['E_NEXT_MISSING', 'E_NEXT_LATE'])
          assert.match(
            tooLate.message,
            new RegExp(`^a middleware of GET ${path} called next\\(\\) after its chain had ended`),
          )
        }
      })
      assert.equal(ran, 0)
    })

    test('a middleware that neither replies nor calls next() is a mistake, not 204', async () => {
      const app = kit.app()
      app.get(
        '/stop',
        (_ctx, _next) => {},
        () => 'never',
      )
      app.get(
        '/async',
        async (_ctx, _next) => {},
        () => 'never',
      )
      app.get(
        '/context',
        (ctx, _next) => ctx.header('x-a', 'b'),
        () => 'never',
      )
      app.get(
        '/status',
        (ctx, _next) => void ctx.status(202),
        () => 'never',
      )
      app.get(
        '/empty',
        async (_ctx, next) => next(),
        () => {},
      )
      app.get(
        '/empty-async',
        (_ctx, next) => next(),
        async () => {},
      )
      app.get(
        '/express',
        (_ctx, next) => (next as (error: unknown) => unknown)(new HTTPError(401)),
        () => 'never',
      )
      await kit.serve(app, async (live) => {
        for (const path of ['/stop', '/async', '/context']) {
          const reports = kit.reports.length
          assert.equal((await live.ask(path)).status, 500, path)
          assert.equal(kit.reports.length, reports + 1)
          assert.match(String(kit.reports.at(-1)), new RegExp(`GET ${path} neither called next`))
        }
        assert.equal((await live.ask('/status')).status, 202)
        assert.equal((await live.ask('/empty')).status, 204)
        assert.equal((await live.ask('/empty-async')).status, 204)
        // Of those who write `next(error)` nobody is let through.
        assert.equal((await live.ask('/express')).status, 401)
      })
    })

    test('what is no middleware by itself says how it is written', () => {
      const app = kit.app()
      const wrong: [unknown, RegExp][] = [
        [cors, /app\.use\(cors\(\)\)/],
        [logger, /app\.use\(logger\(\)\)/],
        [validate, /validate\(\{ body: schema \}\)/],
        [health, /app\.register\(health\)/],
        [before, /before\(\(ctx\) => …\)/],
      ]
      for (const [value, message] of wrong) {
        assert.throws(() => app.use(value as never), { code: 'E_BAD_HANDLER', message })
        assert.throws(() => app.with(value as never), { code: 'E_BAD_HANDLER', message })
        assert.throws(() => app.get('/x', value as never, () => 1), { code: 'E_BAD_HANDLER', message })
      }
      assert.throws(() => app.use(), { code: 'E_BAD_HANDLER', message: /at least one/ })
      assert.throws(() => app.use('/x'), { code: 'E_BAD_HANDLER', message: /at least one/ })
      assert.throws(() => app.get('', () => 1), { code: 'E_ROUTE_PATTERN' })
    })
  })
}
