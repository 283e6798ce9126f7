import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  safe,
  TRPCClientError,
} from '@trpc/client'
import { before, HTTPError } from 'volant'
import { caller, procedure, type Router, rest, router } from 'volant/procedures'
import { trpc, type TRPCOptions, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { eventually, type Kit, type Live } from '../kit.ts'

interface Shape {
  readonly message: string
  readonly data: { readonly code: string; readonly httpStatus: number; readonly error?: { code: string } }
}

/** What goes wrong around a procedure, and in what it gives. */
export function overTRPCFaults(kit: Kit): void {
  const lines = { 'trpc-accept': 'application/jsonl' }

  async function served(
    tree: Router,
    run: (live: Live) => Promise<void>,
    options: TRPCOptions = {},
  ): Promise<void> {
    const app = kit.app()
    app.register(trpc(tree, options))
    await kit.serve(app, run)
  }

  test('a procedure without input gets none, through every door', async () => {
    const seen: unknown[] = []
    const look = ({ input }: { input: unknown }) => {
      seen.push(input)
      return 1
    }
    const tree = router({
      things: router({
        getThing: procedure().query(look),
        createThing: procedure().mutation(look),
        watch: procedure().subscription(async function* (call) {
          yield look(call)
        }),
      }),
    })
    const app = kit.app()
    app.register(rest(tree))
    app.register(trpc(tree, { acceptForms: true }))
    await kit.serve(app, async (live) => {
      const post = (type: string, body: string) => ({
        method: 'POST',
        headers: { 'content-type': type },
        body,
      })
      for (const [path, ask] of [
        ['/trpc/things.getThing?input=%7B%22role%22:%22admin%22%7D', {}],
        ['/trpc/things.getThing?batch=1&input=%7B%220%22:1%7D', {}],
        ['/trpc/things.createThing', post('application/json', '{"role":"admin"}')],
        ['/trpc/things.createThing', post('application/octet-stream', 'bytes')],
        ['/trpc/things.createThing', post('multipart/form-data; boundary=a', '--a--\r\n')],
        ['/trpc/things.watch?input=1&lastEventId=7', {}],
        ['/things?role=admin', {}],
        ['/things', post('application/json', '{"role":"admin"}')],
      ] as const) {
        const { status, text } = await live.ask(path, ask)
        assert.ok(status === 200 || status === 201, `${path}: ${status} ${text}`)
      }
    })
    const call = caller(tree) as unknown as { things: Record<string, (input: unknown) => Promise<unknown>> }
    await call.things['getThing']?.({ role: 'admin' })
    assert.deepEqual(seen, Array.from({ length: 9 }))
  })

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
          assert.equal((reply.json() as { error?: Shape }).error?.data.code, code, path)
        }
      }))
  })

  test('tRPC: what is wrong with the input of a query is not told of a body', () =>
    served(
      router({
        echo: procedure()
          .input(z.unknown())
          .query(() => 1),
      }),
      async (live) => {
        for (const input of ['%7B%22__proto__%22:1%7D', '['.repeat(200) + ']'.repeat(200)]) {
          const reply = await live.ask(`/trpc/echo?input=${input}`)
          const { message } = (reply.json() as { error: Shape }).error
          assert.match(message, /^the input (has|is)/)
        }
      },
    ))

  test('tRPC: a batch of 100 is taken, and a larger one is told what to set', () =>
    served(router({ a: procedure().query(() => 1) }), async (live) => {
      const names = (count: number) => Array.from({ length: count }, () => 'a').join()
      assert.equal((await live.ask(`/trpc/${names(100)}?batch=1`)).status, 200)
      const reply = await live.ask(`/trpc/${names(101)}?batch=1`)
      assert.equal(reply.status, 400)
      assert.match((reply.json() as { error: Shape }).error.message, /set maxItems: 100 on the client's link/)
    }))

  test('tRPC: the input of a batch is read once, and what a transformer cannot read is the fault of the client', async () => {
    let read = 0
    const tree = router({
      echo: procedure()
        .input(z.unknown())
        .query(({ input }) => ({ input })),
      set: procedure()
        .input(z.unknown())
        .mutation(({ input }) => ({ input })),
    })
    const transformer = {
      serialize: (value: unknown) => value,
      deserialize(value: unknown) {
        read++
        if (value === 'bad') throw new Error('no such type')
        return value
      },
    }
    const before = kit.reports.length
    await served(
      tree,
      async (live) => {
        const inputs = encodeURIComponent(JSON.stringify({ 0: 'bad', 1: 1, 2: 'bad', 3: 2 }))
        const reply = await live.ask(`/trpc/echo,echo,echo,echo?batch=1&input=${inputs}`)
        const items = reply.json() as { result?: { data: unknown }; error?: Shape }[]
        assert.deepEqual(
          items.map(({ result, error }) => result?.data ?? error?.data.httpStatus),
          [400, { input: 1 }, 400, { input: 2 }],
        )
        assert.equal(read, 4)
        assert.equal((await live.ask('/trpc/echo?input=%22bad%22')).status, 400)
        const parse = JSON.parse
        let parsed = 0
        JSON.parse = (text: string) => {
          if (text === '{"0":') parsed++
          return parse(text) as unknown
        }
        try {
          const asked = await live.ask('/trpc/echo,echo,echo?batch=1&input=%7B%220%22:')
          assert.equal(asked.status, 400)
        } finally {
          JSON.parse = parse
        }
        assert.equal(parsed, 1)
      },
      { transformer },
    )
    assert.equal(kit.reports.length, before)
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

  test('tRPC: nothing is left of subscriptions with a time limit', async () => {
    setFlagsFromString('--expose-gc')
    const collect = runInNewContext('gc') as () => void
    const signals: WeakRef<AbortSignal>[] = []
    const tree = router({
      once: procedure().subscription(async function* ({ ctx }) {
        ctx.signal.addEventListener('abort', () => {})
        signals.push(new WeakRef(ctx.signal))
        yield 1
      }),
    })
    await served(
      tree,
      async (live) => {
        for (let at = 0; at < 20; at++) assert.equal((await live.ask('/trpc/once')).status, 200)
        await eventually(() => {
          collect()
          return signals.filter((each) => each.deref() !== undefined).length < 10
        }, 'signals are released')
      },
      { maxSubscription: 60_000 },
    )
  })
}
