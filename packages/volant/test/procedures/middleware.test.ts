/** Middleware of procedures. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HTTPError, middleware, VolantError } from 'volant'
import { caller, procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

test('errors of middleware are those of the procedure, too', async () => {
  const limited = middleware(
    { errors: { BUSY: { status: 429, data: z.object({ after: z.number() }) } } },
    (ctx, next) => {
      if (ctx.headers['x-busy'] !== undefined) throw ctx.fail('BUSY', { after: 5 })
      return next()
    },
  )
  const tree = router({
    work: procedure()
      .use(limited)
      .errors({ DONE: { status: 410 } })
      .query(({ ctx }) => {
        if (ctx.headers['x-again'] !== undefined) throw ctx.fail('BUSY', { after: 9 })
        throw ctx.fail('DONE')
      }),
  })
  await assert.rejects(caller(tree).work(), { status: 410, code: 'DONE' })
  await assert.rejects(caller(tree, { headers: { 'x-busy': '1' } }).work(), {
    status: 429,
    data: { after: 5 },
  })
  await assert.rejects(caller(tree, { headers: { 'x-again': '1' } }).work(), {
    status: 429,
    data: { after: 9 },
  })
})

test('middleware may answer in place of the handler; to swallow an error is no answer', async () => {
  const early = router({
    cached: procedure()
      .use(middleware(() => ({ from: 'cache' })))
      .query((): object => assert.fail('not to be called')),
    swallowed: procedure()
      .use(middleware((_, next) => next().catch(() => {})))
      .query(() => {
        throw new HTTPError(418)
      }),
    stopped: procedure()
      .use(middleware(() => {}))
      .query(() => 1),
    both: procedure()
      .use(
        middleware(async (_, next) => {
          await next()
          return 2
        }),
      )
      .query(() => 1),
    twice: procedure()
      .use(
        middleware(async (_, next) => {
          await next()
          await next()
        }),
      )
      .query(() => 1),
    unheld: procedure()
      .use(middleware((_, next) => void next()))
      .query(async () => 1),
    forgotten: procedure()
      .use(
        middleware(async (_, next) => {
          void next()
        }),
      )
      .query(async () => 1),
    failing: procedure()
      .use(
        middleware(async (_, next) => {
          void next()
        }),
      )
      .query(async () => {
        throw new HTTPError(418)
      }),
    recovered: procedure()
      .use(middleware((_, next) => next().then(undefined, () => 'instead')))
      .query(async (): Promise<string> => {
        throw new HTTPError(418)
      }),
    refused: procedure()
      .use(middleware((_, next) => (next as (error: Error) => Promise<void>)(new HTTPError(418))))
      .query(() => 1),
  })
  const call = caller(early)
  assert.deepEqual(await call.cached(), { from: 'cache' })
  await assert.rejects(call.swallowed(), { status: 418 })
  await assert.rejects(call.stopped(), { code: 'E_NEXT_MISSING' })
  await assert.rejects(call.both(), { code: 'E_ALREADY_REPLIED' })
  await assert.rejects(call.twice(), { code: 'E_NEXT_TWICE', message: /the procedure twice called/ })
  assert.equal(await call.unheld(), 1)
  assert.equal(await call.forgotten(), 1)
  await assert.rejects(call.failing(), { status: 418 })
  assert.equal(await call.recovered(), 'instead')
  await assert.rejects(call.refused(), { status: 418 })
})

test('a middleware that calls next() after its call has ended is reported', async () => {
  const reported: unknown[] = []
  let runs = 0
  let late: (() => Promise<void>) | null = null
  const tree = router({
    work: procedure()
      .use(
        middleware((_, next) => {
          late = next
          return 'early'
        }),
      )
      .query(() => ++runs),
  })
  const app = kit.app({ report: (error) => reported.push((error as VolantError).code) })
  app.register(trpc(tree))
  await kit.serve(app, async (live) => {
    assert.deepEqual((await live.ask('/trpc/work')).json(), { result: { data: 'early' } })
    await late?.()
    assert.deepEqual([reported, runs], [['E_NEXT_LATE'], 0])
    await caller(tree).work()
    await late?.()
    assert.deepEqual([reported, runs], [['E_NEXT_LATE'], 0])
  })
})
