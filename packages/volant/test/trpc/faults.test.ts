/** Errors outside of procedures, and errors that cannot be written. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  safe,
  TRPCClientError,
} from '@trpc/client'
import { before, HTTPError } from 'volant'
import { procedure, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { eventually } from '../kit.ts'
import { type Shape, kit, served } from './served.ts'

const lines = { 'trpc-accept': 'application/jsonl' }

describe('tRPC: what fails outside of procedures', () => {
  const tree = router({
    ping: procedure().query(() => 'pong'),
    set: procedure()
      .input(z.unknown())
      .mutation(() => 1),
    slow: procedure()
      .input(z.object({ lastEventId: z.string() }).optional())
      .subscription(async function* () {
        yield 1
      }),
    getter: procedure().query(async () => ({
      get now(): never {
        throw new Error('hunter2')
      },
    })),
  })

  test('is told in the shape of tRPC, and once to everybody else', async () => {
    const app = kit.app()
    app.use(
      before((ctx) => {
        if (ctx.headers['x-user'] === undefined)
          throw new HTTPError(401, 'who are you?', { headers: { 'www-authenticate': 'Bearer' } })
        if (ctx.headers['x-user'] === 'broken') throw new Error('hunter2')
      }),
    )
    const known = kit.reports.length
    let asked = 0
    app.onError(() => {
      asked++
      return 'no shape'
    })
    app.group('/small', (scope) => scope.register(trpc(tree)))
    await kit.serve(app, async (live) => {
      const url = `${live.address.url}/small/trpc`
      for (const link of [httpLink, httpBatchLink, httpBatchStreamLink]) {
        for (const [headers, status, code] of [
          [{}, 401, 'UNAUTHORIZED'],
          [{ 'x-user': 'broken' }, 500, 'INTERNAL_SERVER_ERROR'],
        ] as const) {
          const client = createTRPCClient<TRPCRouterOf<typeof tree>>({ links: [link({ url, headers })] })
          const [, error] = await safe(client.ping.query())
          assert.ok(error instanceof TRPCClientError, String(error))
          const { shape } = error
          assert.deepEqual([shape?.data.httpStatus, shape?.data.code], [status, code])
        }
      }
      assert.equal(kit.reports.length - known, 3)
      assert.equal(asked, 0)
      assert.equal((await live.ask('/small/trpc/ping')).headers['www-authenticate'], 'Bearer')
    })
  })

  test('malformed queries and results that cannot be looked at have it, too', () =>
    served(tree, async (live) => {
      for (const [path, code] of [
        ['/trpc/ping?batch=%zz', 'BAD_REQUEST'],
        ['/trpc/slow?lastEventId=%zz', 'BAD_REQUEST'],
        ['/trpc/getter', 'INTERNAL_SERVER_ERROR'],
      ]) {
        const reply = await live.ask(path as string)
        assert.equal((reply.json() as { error?: Shape }).error?.data.code, code, String(path))
      }
    }))
})

describe('tRPC: an error that cannot be written', () => {
  const unwritable = () => new HTTPError(400, 'no', { code: 'NO', data: 1n })
  let ended = 0
  const tree = router({
    fine: procedure().query(() => 1),
    failing: procedure().query(() => {
      throw unwritable()
    }),
    events: procedure().subscription(async function* () {
      yield 1
      throw unwritable()
    }),
    values: procedure().query(async function* () {
      try {
        yield 1
        yield 1n
      } finally {
        ended++
      }
    }),
  })
  const internal = /"code":"INTERNAL_SERVER_ERROR","httpStatus":500/

  test('leaves the other calls of its batch as they are', () =>
    served(tree, async (live) => {
      const reply = await live.ask('/trpc/fine,failing,fine?batch=1')
      const items = reply.json() as { result?: object; error?: Shape }[]
      assert.deepEqual([items[0]?.result, items[2]?.result], [{ data: 1 }, { data: 1 }])
      assert.match(JSON.stringify(items[1]?.error), internal)
    }))

  test('is the last event of its subscription', () =>
    served(tree, async (live) => {
      const { text } = await live.ask('/trpc/events')
      assert.match(text, /event: serialized-error\ndata: .*INTERNAL_SERVER_ERROR/)
    }))

  test('a generator whose value cannot be written is released', () =>
    served(tree, async (live) => {
      const { text } = await live.ask('/trpc/values?batch=1', { headers: lines })
      assert.match(text, internal)
      await eventually(() => ended === 1, 'the end of the generator')
    }))
})
