/** A router that tRPC itself serves, within an app. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
} from '@trpc/client'
import { initTRPC, TRPCError } from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import * as z from 'zod'
import { FetchEventSource } from './event-source.ts'
import { within } from '../kit.ts'
import { kit } from './kit.ts'

test("tRPC: a router of its own is mounted through tRPC's fetch adapter", async () => {
  const t = initTRPC.context<{ user: string | undefined }>().create({ isDev: false })
  const theirs = t.router({
    hello: t.procedure.input(z.string()).query(({ input, ctx }) => `${ctx.user ?? 'nobody'} greets ${input}`),
    add: t.procedure
      .input(z.array(z.number()))
      .mutation(({ input }) => input.reduce((sum, each) => sum + each, 0)),
    fail: t.procedure.query(() => {
      throw new TRPCError({ code: 'FORBIDDEN', message: 'no' })
    }),
    count: t.procedure.subscription(async function* () {
      yield 1
      yield 2
    }),
  })
  const app = kit.app()
  app.on(['GET', 'POST'], '/trpc/*', (ctx) =>
    fetchRequestHandler({
      endpoint: '/trpc',
      req: ctx.request,
      router: theirs,
      createContext: () => ({ user: ctx.headers['x-user'] }),
    }),
  )
  await kit.serve(app, async (live) => {
    const url = `${live.address.url}/trpc`
    for (const link of [httpLink, httpBatchLink, httpBatchStreamLink]) {
      const client = createTRPCClient<typeof theirs>({
        links: [link({ url, headers: { 'x-user': 'ann' } })],
      })
      assert.deepEqual(await Promise.all([client.hello.query('bob'), client.hello.query('cy')]), [
        'ann greets bob',
        'ann greets cy',
      ])
      assert.equal(await client.add.mutate([1, 2]), 3)
      await assert.rejects(client.fail.query(), { message: 'no' })
    }
    const events: number[] = []
    const client = createTRPCClient<typeof theirs>({
      links: [httpSubscriptionLink({ url, EventSource: FetchEventSource as never })],
    })
    await within(
      new Promise<void>((resolve, reject) => {
        client.count.subscribe(undefined, {
          onData: (event) => events.push(event),
          onComplete: resolve,
          onError: reject,
        })
      }),
      'two events',
    )
    assert.deepEqual(events, [1, 2])
  })
})
