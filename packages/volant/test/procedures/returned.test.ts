import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTRPCClient, httpBatchLink, httpBatchStreamLink, httpLink, TRPCClientError } from '@trpc/client'
import { before, HTTPError, middleware, type Problem } from 'volant'
import { caller, procedure, rest, router, tracked } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { Kit } from '../kit.ts'

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <_T extends true>(): void => {}
const Book = z.object({ isbn: z.string() })

const kit = new Kit()

const gone = () => new HTTPError(410, 'it is gone', { code: 'GONE' })
const seen: string[] = []
const watching = middleware(async (_, next) => {
  await next().catch((error: unknown) => {
    seen.push((error as HTTPError).code ?? String(error))
    throw error
  })
  seen.push('went on')
})
const afterwards = middleware(async (_, next) => {
  await next()
  return gone()
})
const never = (): string => assert.fail('not to be called')
const tree = router({
  books: router({
    getSync: procedure()
      .rest({ path: '/getSync' })
      .query(() => gone()),
    getAsync: procedure()
      .rest({ path: '/getAsync' })
      .query(async () => gone()),
    getChecked: procedure()
      .rest({ path: '/getChecked' })
      .output(Book)
      .query(() => gone()),
    getCheckedLater: procedure()
      .rest({ path: '/getCheckedLater' })
      .output(Book)
      .query(async () => gone()),
    getEmpty: procedure()
      .rest({ path: '/getEmpty', status: 204 })
      .query(async () => gone()),
    getBehindGate: procedure()
      .rest({ path: '/getBehindGate' })
      .use(before(() => gone()))
      .query(never),
    getBehindSlowGate: procedure()
      .rest({ path: '/getBehindSlowGate' })
      .use(before(async () => gone()))
      .output(z.string())
      .query(never),
    getBehind: procedure()
      .rest({ path: '/getBehind' })
      .use(middleware(() => gone()))
      .query(never),
    getWatched: procedure()
      .rest({ path: '/getWatched' })
      .use(watching)
      .output(Book)
      .query(() => gone()),
    getAfterwards: procedure()
      .rest({ path: '/getAfterwards' })
      .use(afterwards)
      .query(() => 1),
  }),
})
const names = Object.keys(
  tree.procedures.books.procedures,
) as (keyof typeof tree.procedures.books.procedures)[]

async function through(
  run: (url: string, ask: (path: string) => Promise<[number, unknown]>) => Promise<void>,
) {
  const app = kit.app()
  app.register(rest(tree)).register(trpc(tree))
  await kit.serve(app, (live) =>
    run(live.address.url, async (path) => {
      const { status, text } = await live.ask(path)
      return [status, text === '' ? undefined : JSON.parse(text)]
    }),
  )
}

describe('errors that procedures return', () => {
  test('over REST, over tRPC and in process', () =>
    through(async (url, ask) => {
      for (const name of names) {
        const [status, problem] = await ask(`/${name}`)
        assert.deepEqual([status, (problem as Problem).code], [410, 'GONE'], name)
        await assert.rejects((caller(tree).books[name] as () => Promise<unknown>)(), { code: 'GONE' }, name)
      }
      assert.ok(!seen.includes('went on'), seen.join())
      for (const link of [httpLink, httpBatchLink, httpBatchStreamLink] as const) {
        const client = createTRPCClient<TRPCRouterOf<typeof tree>>({
          links: [link({ url: `${url}/trpc` })],
        })
        const outcomes = await Promise.allSettled(names.map((name) => client.books[name].query()))
        outcomes.forEach((outcome, at) => {
          assert.equal(outcome.status, 'rejected', `${link.name} ${names[at]}`)
          const { data } = (outcome.reason as TRPCClientError<TRPCRouterOf<typeof tree>>).shape as {
            data: { httpStatus: number; error?: { code: string } }
          }
          assert.deepEqual([data.httpStatus, data.error?.code], [410, 'GONE'], `${link.name} ${names[at]}`)
        })
      }
    }))

  test('and so is that of a subscription, whether it is given or ends it', async () => {
    const subscriptions = router({
      refused: procedure().subscription(async () => gone()),
      checked: procedure()
        .output(z.number())
        .subscription(() => gone()),
      gated: procedure()
        .use(before(() => gone()))
        .subscription(async function* () {
          yield never()
        }),
      yielded: procedure().subscription(async function* () {
        yield 1
        yield tracked('2', gone())
      }),
      ended: procedure()
        .output(z.number())
        .subscription(async function* () {
          yield 1
          return gone()
        }),
    })
    const call = caller(subscriptions)
    await assert.rejects(call.refused(), { code: 'GONE' })
    await assert.rejects(call.checked(), { code: 'GONE' })
    await assert.rejects(call.gated(), { code: 'GONE' })
    for (const name of ['yielded', 'ended'] as const) {
      const events: unknown[] = []
      await assert.rejects(
        async () => {
          for await (const event of await call[name]()) events.push(event)
        },
        { code: 'GONE' },
        name,
      )
      assert.deepEqual(events, [1], name)
    }
    const app = kit.app()
    app.register(trpc(subscriptions))
    await kit.serve(app, async (live) => {
      for (const name of Object.keys(subscriptions.procedures)) {
        const { text } = await live.ask(`/trpc/${name}`)
        assert.match(text, /event: serialized-error\ndata: .*"code":"GONE"/, name)
        assert.doesNotMatch(text, /event: return/, name)
      }
    })
  })

  test('and that of a part that comes later in a streamed batch', async () => {
    const later = router({
      part: procedure().query(() => ({ now: 1, later: Promise.resolve(gone()) })),
      numbers: procedure().query(async function* (): AsyncGenerator<unknown> {
        yield 1
        yield gone()
      }),
    })
    const app = kit.app()
    app.register(trpc(later))
    await kit.serve(app, async (live) => {
      const url = `${live.address.url}/trpc`
      const client = createTRPCClient<TRPCRouterOf<typeof later>>({ links: [httpBatchStreamLink({ url })] })
      const isGone = (error: unknown): boolean =>
        (error as { cause?: { data?: { httpStatus?: number } } }).cause?.data?.httpStatus === 410 ||
        /it is gone/.test(String(error))
      const part = await client.part.query()
      assert.equal(part.now, 1)
      await assert.rejects(part.later as Promise<unknown>, isGone)
      const seen: unknown[] = []
      await assert.rejects(async () => {
        for await (const number of await client.numbers.query()) seen.push(number)
      }, isGone)
      assert.deepEqual(seen, [1])
    })
  })

  test('the types take one beside what the output says, and callers get none', async () => {
    const books = router({
      one: procedure()
        .input(Book)
        .output(Book)
        .query(({ input }) => (input.isbn === 'none' ? new HTTPError(404) : { isbn: input.isbn })),
      two: procedure()
        .input(Book)
        .query(async ({ input }) => (input.isbn === 'none' ? new HTTPError(404) : { isbn: input.isbn })),
    })
    const one = await caller(books).one({ isbn: '1' })
    const two = await caller(books).two({ isbn: '2' })
    same<Same<typeof one, { isbn: string }>>()
    same<Same<typeof two, { isbn: string }>>()
    assert.deepEqual([one, two], [{ isbn: '1' }, { isbn: '2' }])
    procedure()
      .output(Book)
      // @ts-expect-error -- an error beside it does not make this a book
      .query(({ path }) => (path === '' ? new HTTPError(404) : { isbn: 7 }))
  })
})
