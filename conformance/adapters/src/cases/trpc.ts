/** tRPC over a socket: a call, a batch that is streamed, events, and a client that reads slowly. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createTRPCClient, httpBatchStreamLink, httpLink } from '@trpc/client'
import { procedure, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { eventually, type Kit, unchanging } from '../kit.ts'
import { frameworkClock, passes } from '../time-limit.ts'

const tree = router({
  double: procedure()
    .input(z.number())
    .query(({ input }) => input * 2),
  quiet: procedure().subscription(async function* ({ ctx: { signal } }) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    yield 1
  }),
})

export function trpcCases(kit: Kit): void {
  describe('tRPC', () => {
    test('calls, alone and in a batch that is streamed', async () => {
      const app = kit.app()
      app.register(trpc(tree))
      await kit.serve(app, async (live) => {
        const url = `${live.address.url}/trpc`
        for (const link of [httpLink({ url }), httpBatchStreamLink({ url })]) {
          const client = createTRPCClient<TRPCRouterOf<typeof tree>>({ links: [link] })
          assert.deepEqual(await Promise.all([1, 2].map((each) => client.double.query(each))), [2, 4])
          await assert.rejects(client.double.query('x' as unknown as number), /not valid/)
        }
      })
    })

    test('a quiet subscription is kept alive by pings', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app()
      app.register(trpc(tree, { pingInterval: 15_000, reconnectAfter: 30_000 }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.from('GET /trpc/quiet HTTP/1.1\r\nhost: a\r\n\r\n'))
        await wire.until(() => wire.received.includes('event: connected') || undefined, 'the head')
        await passes(clock, 15_000, () => wire.received.includes('event: ping'), 'a ping')
        const text = wire.received.toString()
        assert.match(text, /content-type: text\/event-stream\r\n/i)
        assert.match(text, /cache-control: no-cache, no-transform\r\n/i)
        assert.match(text, /event: connected\ndata: \{"reconnectAfterInactivityMs":30000\}\n\n/)
      })
    })

    test('a client that reads slowly slows the generator; one that leaves ends it', async () => {
      let made = 0
      let ended = false
      const tree = router({
        much: procedure().query(async function* () {
          try {
            for (; made < 2_000; made++) yield 'x'.repeat(65_536)
          } finally {
            ended = true
          }
        }),
      })
      const app = kit.app()
      app.register(trpc(tree))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send('GET /trpc/much?batch=1 HTTP/1.1\r\nhost: a\r\ntrpc-accept: application/jsonl\r\n\r\n')
        // Until the buffers between are full: then nothing more is made.
        await unchanging(() => made, 'the generator waits for its client')
        assert.ok(made < 1_500, `${made} values`)
        wire.close()
        await eventually(() => ended, 'the end of the generator')
      })
    })
  })
}
