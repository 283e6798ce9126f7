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
import { before, cors, HTTPError } from 'volant'
import { caller, procedure, type Router, rest, router } from 'volant/procedures'
import { trpc, type TRPCOptions, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { eventually, Kit, type Live } from './kit.ts'

interface Shape {
  readonly message: string
  readonly data: { readonly code: string; readonly httpStatus: number; readonly error?: { code: string } }
}

const kit = new Kit()

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

test('a procedure without input gets none, over every transport', async () => {
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
        assert.equal((reply.json() as { error?: Shape }).error?.data.code, code, String(path))
      }
    }))
})

describe('tRPC: what no route takes', () => {
  const tree = router({
    ping: procedure().query(() => 'pong'),
    users: router({ set: procedure().mutation(() => 1) }),
  })
  const links = [httpLink, httpBatchLink, httpBatchStreamLink]
  /** The error a client of `url` has whose requests something on the way changes. */
  const failure = async (
    link: (typeof links)[number],
    url: string,
    changed: (url: string, init: RequestInit) => [string, RequestInit],
  ) => {
    const client = createTRPCClient<TRPCRouterOf<typeof tree>>({
      links: [link({ url, fetch: (at, init) => fetch(...changed(String(at), init as RequestInit)) })],
    })
    const [, error] = await safe(client.ping.query())
    assert.ok(error instanceof TRPCClientError, String(error))
    return `${error.data?.httpStatus} ${error.data?.code} ${error.message}`
  }

  test('other methods and the prefix by itself: clients can read why', () =>
    served(tree, async (live) => {
      const url = `${live.address.url}/trpc`
      for (const link of links) {
        for (const method of ['PUT', 'PATCH', 'DELETE']) {
          assert.equal(
            await failure(link, url, (at, init) => [at, { ...init, method }]),
            `405 METHOD_NOT_SUPPORTED ${method} is not allowed here; GET, HEAD, POST, OPTIONS are`,
          )
        }
        for (const slash of ['', '/']) {
          assert.equal(
            await failure(link, url, (at, init) => [at.replace('/ping', slash), init]),
            '404 NOT_FOUND No procedure found on path ""',
          )
        }
      }
      const { headers, text } = await live.ask('/trpc/users.set', { method: 'DELETE' })
      assert.equal(headers['allow'], 'GET, HEAD, POST, OPTIONS')
      assert.equal(headers['content-type'], 'application/json; charset=utf-8')
      assert.deepEqual(JSON.parse(text), {
        error: {
          message: 'DELETE is not allowed here; GET, HEAD, POST, OPTIONS are',
          code: -32005,
          data: {
            code: 'METHOD_NOT_SUPPORTED',
            httpStatus: 405,
            error: { code: 'E_METHOD_NOT_ALLOWED' },
          },
        },
      })
      const head = await live.ask('/trpc', { method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [404, ''])
    }))

  test('are the affair of the tRPC endpoint under its prefix, and only there', async () => {
    const app = kit.app()
    const asked: string[] = []
    app.onError((_, ctx) => {
      asked.push(`error ${ctx.path}`)
      return 'error'
    })
    app.onNotFound((ctx) => {
      asked.push(`not found ${ctx.path}`)
      return 'not found'
    })
    app.get('/other', () => 1)
    app.group('/teams/:team', (team) => team.register(trpc(tree, { prefix: '/rpc/' })))
    const inner = kit.app()
    inner.register(trpc(tree))
    app.mount('/inner', inner)
    app.register(trpc(tree))
    app.get('/trpc', () => 'a page')
    await kit.serve(app, async (live) => {
      const code = async (method: string, path: string): Promise<string> => {
        const reply = await live.ask(path, { method })
        if (!reply.headers['content-type']?.startsWith('application/json')) return reply.text
        const { data } = (reply.json() as { error: Shape }).error
        assert.equal(data.httpStatus, reply.status)
        return data.code
      }
      for (const prefix of ['/teams/7/rpc', '/inner/trpc', '/trpc']) {
        assert.equal(await code('PUT', `${prefix}/ping`), 'METHOD_NOT_SUPPORTED')
        assert.equal(await code('GET', `${prefix}/`), 'NOT_FOUND')
      }
      assert.equal(await code('POST', '/inner/trpc'), 'NOT_FOUND')
      assert.equal(await code('GET', '/trpc'), 'a page')
      assert.deepEqual(asked, [])
      assert.equal(await code('PUT', '/other'), 'error')
      assert.equal(await code('GET', '/trpcs'), 'not found')
      assert.equal(await code('GET', '/inner'), 'not found')
      assert.deepEqual(asked, ['error /other', 'not found /trpcs', 'not found /inner'])
      // No routes were needed for that.
      const methods = new Set(app.routes().map(({ method, path }) => path.includes('rpc/') && method))
      assert.deepEqual(methods, new Set([false, 'GET', 'POST']))
    })
  })

  test('an endpoint without a prefix leaves the other paths to the app', async () => {
    const problem = 'application/problem+json; charset=utf-8'
    for (const prefix of ['/', '']) {
      const app = kit.app()
      app.register(trpc(tree, { prefix }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/ping')).text, '{"result":{"data":"pong"}}')
        const root = await live.ask('/')
        assert.deepEqual([root.status, root.headers['content-type']], [404, problem])
        const put = await live.ask('/ping', { method: 'PUT' })
        assert.deepEqual([put.status, put.headers['content-type']], [405, problem])
      })
    }
  })

  test('OPTIONS and preflights are answered as anywhere', async () => {
    const app = kit.app()
    app.use('/trpc', cors({ origin: 'https://app.example' }))
    app.register(trpc(tree))
    await kit.serve(app, async (live) => {
      for (const path of ['/trpc/ping', '/trpc/users.set', '/trpc/ping,ping?batch=1']) {
        const plain = await live.ask(path, { method: 'OPTIONS' })
        assert.deepEqual([plain.status, plain.headers['allow']], [204, 'GET, HEAD, POST, OPTIONS'], path)
        const preflight = await live.ask(path, {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
        })
        assert.deepEqual(
          [preflight.status, preflight.headers['access-control-allow-origin']],
          [204, 'https://app.example'],
        )
      }
      const refused = await live.ask('/trpc/ping', {
        method: 'PUT',
        headers: { origin: 'https://app.example' },
      })
      assert.deepEqual(
        [refused.status, refused.headers['access-control-allow-origin']],
        [405, 'https://app.example'],
      )
    })
  })
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
