import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTRPCClient, createWSClient, wsLink } from '@trpc/client'
import { initTRPC, tracked, TRPCError } from '@trpc/server'
import { applyWSSHandler } from '@trpc/server/adapters/ws'
import { createSocketServer } from 'volant/ws'
import WebSocket from 'ws'
import * as z from 'zod'
import { eventually, type Kit, type Live, within } from '../../kit.ts'
import { socketUrl } from './clients.ts'

/** tRPC runs on `app.ws`, with its own client. */
export function trpcOverSockets(kit: Kit): void {
  describe('tRPC over WebSockets', () => {
    async function serve(
      run: (parts: {
        live: Live
        seen: { ended: number }
        drop: () => void
        reconnect: () => void
      }) => Promise<void>,
    ): Promise<void> {
      const seen = { ended: 0 }
      const app = kit.app()
      const sockets = createSocketServer<{ user: string }>()
      app.ws('/trpc', {
        ...sockets.hooks,
        upgrade: (ctx) => sockets.upgrade(ctx, { user: String(ctx.query['user']) }),
      })
      const { broadcastReconnectNotification } = applyWSSHandler({
        wss: sockets,
        router: trpcRouter(seen),
        createContext: ({ res, info }): TRPCContext => ({
          user: sockets.dataOf(res).user,
          key: info.connectionParams?.['key'],
        }),
      })
      const drop = () => {
        for (const client of sockets.clients) client.terminate()
      }
      await kit.serve(app, (live) => run({ live, seen, drop, reconnect: broadcastReconnectNotification }))
    }
    const connect = (live: Live, options: Partial<Parameters<typeof createWSClient>[0]> = {}) => {
      const socket = createWSClient({
        url: socketUrl(live, '/trpc?user=Ada'),
        WebSocket: WebSocket as unknown as typeof globalThis.WebSocket,
        retryDelayMs: () => 10,
        ...options,
      })
      return {
        socket,
        client: createTRPCClient<ReturnType<typeof trpcRouter>>({ links: [wsLink({ client: socket })] }),
      }
    }

    test('queries and mutations, with the data of the upgrade', async () => {
      await serve(async ({ live }) => {
        const { client, socket } = connect(live)
        const [user, ...doubles] = await within(
          Promise.all([client.user.query(), ...[1, 2, 3].map((each) => client.double.mutate(each))]),
          'the replies',
        )
        assert.deepEqual([user, ...doubles], ['Ada', 2, 4, 6])
        await assert.rejects(client.double.mutate('x' as unknown as number), /expected number/i)
        await socket.close()
      })
    })

    test('connectionParams reach the context', async () => {
      await serve(async ({ live }) => {
        for (const key of ['right', 'wrong']) {
          const { client, socket } = connect(live, { connectionParams: { key } })
          const reply = within(client.forbidden.query(), 'the reply')
          if (key === 'right') assert.equal(await reply, 'right')
          else await assert.rejects(reply, /UNAUTHORIZED/)
          await socket.close()
        }
      })
    })

    test('a subscription that its client stops ends', async () => {
      await serve(async ({ live, seen }) => {
        const { client, socket } = connect(live)
        const got: number[] = []
        const subscription = client.ticks.subscribe({}, { onData: ({ data }) => got.push(data) })
        await eventually(() => got.length === 3, 'three values')
        subscription.unsubscribe()
        await eventually(() => seen.ended === 1, 'its end')
        assert.deepEqual(got, [1, 2, 3])
        await socket.close()
      })
    })

    for (const how of ['drop', 'reconnect'] as const) {
      const name = how === 'drop' ? 'a connection that is lost' : 'a server that says so'
      test(`its client connects again after ${name}, and goes on from the last event`, async () => {
        await serve(async ({ live, seen, ...parts }) => {
          const { client, socket } = connect(live)
          const got: number[] = []
          client.ticks.subscribe({}, { onData: ({ data }) => got.push(data) })
          await eventually(() => got.length === 3, 'three values')
          parts[how]()
          await eventually(() => got.length === 6, 'three more')
          assert.deepEqual(got, [1, 2, 3, 4, 5, 6])
          await eventually(() => seen.ended === 1, 'the end of the first subscription')
          await socket.close()
        })
      })
    }

    test('the close of the app is 1001 for the client', async () => {
      const codes: (number | undefined)[] = []
      await serve(async ({ live, seen }) => {
        const { client, socket } = connect(live, { onClose: (cause) => codes.push(cause?.code) })
        const got: number[] = []
        client.ticks.subscribe({}, { onData: ({ data }) => got.push(data) })
        await eventually(() => got.length === 3, 'three values')
        await live.app.close()
        await eventually(() => codes.length > 0 && seen.ended === 1, 'the close')
        await socket.close()
      })
      assert.equal(codes[0], 1001)
    })
  })
}

interface TRPCContext {
  user: string | undefined
  key: string | undefined
}

function trpcRouter(seen: { ended: number }) {
  const { router, procedure } = initTRPC.context<TRPCContext>().create()
  return router({
    user: procedure.query(({ ctx }) => ctx.user),
    double: procedure.input(z.number()).mutation(({ input }) => input * 2),
    forbidden: procedure.query(({ ctx }) => {
      if (ctx.key !== 'right') throw new TRPCError({ code: 'UNAUTHORIZED' })
      return ctx.key
    }),
    ticks: procedure.input(z.object({ lastEventId: z.string().optional() })).subscription(async function* ({
      input,
      signal,
    }) {
      try {
        for (let id = Number(input.lastEventId ?? 0) + 1; ; id++) {
          yield tracked(String(id), id)
          // A client that connects again goes on from here.
          if (id % 3 === 0) await new Promise((resolve) => signal?.addEventListener('abort', resolve))
          if (signal?.aborted) return
        }
      } finally {
        seen.ended++
      }
    }),
  })
}
