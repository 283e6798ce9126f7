/**
 * The protocol of tRPC 11, by its own client and beside its own server. Long: what the two servers say is compared request
 * by request.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  httpSubscriptionLink,
  safe,
  TRPCClientError,
} from '@trpc/client'
import {
  type inferProcedureInput,
  type inferRouterInputs,
  type inferRouterOutputs,
  initTRPC,
  tracked as theirTracked,
  TRPCError,
} from '@trpc/server'
import { fetchRequestHandler } from '@trpc/server/adapters/fetch'
import { createHTTPServer } from '@trpc/server/adapters/standalone'
import { before, HTTPError } from 'volant'
import { procedure, router, tracked } from 'volant/procedures'
import { trpc, type TRPCOptions, type TRPCRouterOf } from 'volant/trpc'
import * as z from 'zod'
import { FetchEventSource } from './event-source.ts'
import { deferred, eventually, Kit, type Live, within } from './kit.ts'

const Id = z.object({ id: z.string() })
const User = z.object({ id: z.string(), name: z.string() })

/** Compiles only if both are the same type. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <_T extends true>(): void => {}

function api() {
  const released: string[] = []
  const auth = before<{ user: string }>((ctx) => {
    const user = ctx.headers['x-user'] ?? ctx.headers['authorization']
    if (user === undefined) throw new HTTPError(401, 'who are you?')
    ctx.state.user = user
  })
  const tree = router({
    ping: procedure().query(() => 'pong'),
    nothing: procedure().query(() => {}),
    date: procedure().query(() => ({ at: new Date(0) })),
    cookie: procedure().query(({ ctx }) => {
      ctx.header('x-made-by', 'procedure').append('vary', 'x-user').cookie('seen', 'yes')
      return 1
    }),
    users: router({
      get: procedure()
        .input(Id)
        .output(User)
        .errors({ NO_USER: { status: 404, description: 'There is no such user', data: Id } })
        .query(async ({ input, ctx }) => {
          if (input.id === 'none') throw ctx.fail('NO_USER', { id: input.id })
          return { id: input.id, name: 'Ann' }
        }),
      add: procedure()
        .use(auth)
        .input(User)
        .mutation(({ input, ctx }) => ({ ...input, by: ctx.state.user })),
    }),
    secret: procedure().query(() => {
      throw new Error('the password is hunter2')
    }),
    theirs: procedure().query(() => {
      throw new TRPCError({ code: 'CONFLICT', message: 'taken' })
    }),
    teapot: procedure().query(() => {
      throw new HTTPError(418, undefined, { headers: { 'retry-after': '5' } })
    }),
    big: procedure().query(() => 1n),
    broken: procedure()
      .output(User)
      .query(() => ({ id: 'hunter2', name: 7 }) as never),
    echo: procedure()
      .input(z.unknown())
      .query(({ input }) => ({ input })),
    later: procedure()
      .input(z.number())
      .query(async ({ input }) => {
        await sleep(input)
        return input
      }),
    deferred: procedure().query(() => ({
      now: 1,
      later: sleep(20, 2),
      failing: Promise.reject(new HTTPError(409, 'no')),
    })),
    numbers: procedure().query(async function* () {
      yield 1
      yield { nested: Promise.resolve(2) }
    }),
    upload: procedure().mutation(() => 1),
    form: procedure()
      .input(z.instanceof(FormData))
      .mutation(({ input }) => input.get('name')),
    size: procedure()
      .input(z.instanceof(ReadableStream))
      .mutation(async ({ input }) => {
        let length = 0
        for await (const chunk of input as ReadableStream<Uint8Array>) length += chunk.length
        return length
      }),
    ticks: procedure()
      .input(z.object({ from: z.number().default(0), lastEventId: z.string().optional() }).optional())
      .subscription(async function* ({ input, ctx }) {
        let at = Number(input?.lastEventId ?? input?.from ?? 0)
        try {
          while (!ctx.signal.aborted) {
            at += 1
            yield tracked(String(at), { at })
            await sleep(at % 3 === 0 ? 10_000 : 1, undefined, { signal: ctx.signal })
          }
        } finally {
          released.push(`ticks ${at}`)
        }
      }),
    three: procedure()
      .output(z.number())
      .subscription(async function* () {
        yield 1
        yield tracked('b', 2)
        yield 3
      }),
    refused: procedure()
      .errors({ FULL: { status: 429 } })
      .subscription(async function* ({ ctx }) {
        yield 1
        throw ctx.fail('FULL')
      }),
    quiet: procedure().subscription(async function* ({ ctx }) {
      yield ctx.connectionParams?.['token'] ?? 'none'
      await sleep(10_000, undefined, { signal: ctx.signal }).catch(() => {})
      released.push('quiet')
    }),
  })
  return { tree, released }
}

type AppRouter = TRPCRouterOf<ReturnType<typeof api>['tree']>

const kit = new Kit()

async function served(
  run: (live: Live, url: string, released: string[]) => Promise<void>,
  options: TRPCOptions = {},
): Promise<void> {
  const { tree, released } = api()
  const app = kit.app()
  app.register(trpc(tree, options))
  await kit.serve(app, (live) => run(live, `${live.address.url}${options.prefix ?? '/trpc'}`, released))
}

const get = (input: unknown) => `?input=${encodeURIComponent(JSON.stringify(input))}`

describe("tRPC's own client", () => {
  const links = { httpLink, httpBatchLink, httpBatchStreamLink }
  for (const [name, link] of Object.entries(links)) {
    test(`queries, mutations and errors over ${name}`, () =>
      served(async (_, url) => {
        const client = createTRPCClient<AppRouter>({ links: [link({ url, headers: { 'x-user': 'bob' } })] })
        const [pong, user, nothing, date] = await Promise.all([
          client.ping.query(),
          client.users.get.query({ id: 'u1' }),
          client.nothing.query(),
          client.date.query(),
        ])
        same<Same<typeof user, { id: string; name: string }>>()
        same<Same<typeof date, { at: string }>>()
        assert.equal(pong, 'pong')
        assert.deepEqual(user, { id: 'u1', name: 'Ann' })
        assert.equal(nothing, undefined)
        assert.deepEqual(date, { at: '1970-01-01T00:00:00.000Z' })
        const added = await client.users.add.mutate({ id: 'u2', name: 'Cy' })
        same<Same<typeof added, { by: string; id: string; name: string }>>()
        assert.deepEqual(added, { id: 'u2', name: 'Cy', by: 'bob' })

        const outcomes = await Promise.allSettled([
          client.users.get.query({ id: 'none' }),
          client.users.get.query({ id: 7 as never }),
          client.secret.query(),
          client.theirs.query(),
          client.teapot.query(),
          client.broken.query(),
          (client as unknown as { nope: { query(): Promise<never> } }).nope.query(),
        ])
        const shapes = outcomes.map((outcome) => {
          assert.equal(outcome.status, 'rejected')
          assert.ok(outcome.reason instanceof TRPCClientError, String(outcome.reason))
          return outcome.reason.shape as { message: string; code: number; data: Record<string, unknown> }
        })
        assert.deepEqual(shapes[0], {
          message: 'There is no such user',
          code: -32004,
          data: {
            code: 'NOT_FOUND',
            httpStatus: 404,
            path: 'users.get',
            error: { code: 'NO_USER', data: { id: 'none' } },
          },
        })
        assert.equal(shapes[1]?.code, -32600)
        const { errors } = (shapes[1] as (typeof shapes)[0]).data['error'] as {
          errors: { in: string; pointer: string }[]
        }
        assert.deepEqual(
          errors.map((issue) => [issue.in, issue.pointer]),
          [['input', '#/id']],
        )
        const internal = (path: string) => ({
          message: 'Internal Server Error',
          code: -32603,
          data: { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, path },
        })
        assert.deepEqual(shapes[2], internal('secret'))
        assert.deepEqual(shapes[3], {
          message: 'taken',
          code: -32009,
          data: { code: 'CONFLICT', httpStatus: 409, path: 'theirs' },
        })
        assert.deepEqual(shapes[4]?.data, { code: 'BAD_REQUEST', httpStatus: 418, path: 'teapot' })
        assert.deepEqual(shapes[5], internal('broken'))
        assert.equal(shapes[6]?.data['code'], 'NOT_FOUND')
      }))
  }

  test('errors are typed by their procedure', () =>
    served(async (_, url) => {
      const client = createTRPCClient<AppRouter>({ links: [httpLink({ url })] })
      const [, error] = await safe(client.users.get.query({ id: 'none' }))
      const detail = error?.shape?.data.error
      assert.equal(detail?.code, 'NO_USER')
      if (detail?.code === 'NO_USER') {
        same<Same<typeof detail.data, { id: string }>>()
        assert.deepEqual(detail.data, { id: 'none' })
      }
    }))

  test('inputs and outputs are those of the schemas', () => {
    type Inputs = inferRouterInputs<AppRouter>
    type Outputs = inferRouterOutputs<AppRouter>
    same<Same<Inputs['users']['get'], { id: string }>>()
    same<Same<Outputs['users']['get'], { id: string; name: string }>>()
    same<Same<Inputs['ping'], void | undefined>>()
    same<Same<Outputs['ping'], string>>()
    same<Same<inferProcedureInput<AppRouter['later']>, number>>()
  })

  test('a streamed batch gives what is ready first, and values that come later', () =>
    served(async (_, url) => {
      const client = createTRPCClient<AppRouter>({ links: [httpBatchStreamLink({ url })] })
      const order: number[] = []
      const slow = client.later.query(120).then((value) => order.push(value))
      const fast = client.later.query(1).then((value) => order.push(value))
      const value = await client.deferred.query()
      assert.equal(value.now, 1)
      assert.equal(await value.later, 2)
      await assert.rejects(value.failing)
      const numbers: unknown[] = []
      for await (const number of await client.numbers.query()) {
        numbers.push(
          typeof number === 'number' ? number : await (number as { nested: Promise<number> }).nested,
        )
      }
      assert.deepEqual(numbers, [1, 2])
      await Promise.all([slow, fast])
      assert.deepEqual(order, [1, 120])
    }))

  test('form data is the input of a mutation where that is allowed, bytes always', async () => {
    const form = new FormData()
    form.set('name', 'Ann')
    const send = async (url: string) => {
      const client = createTRPCClient<AppRouter>({ links: [httpLink({ url })] })
      assert.equal(await client.size.mutate(new Blob(['bytes']) as never), 5)
      return client.form.mutate(form)
    }
    await served(async (_, url) => assert.equal(await send(url), 'Ann'), { acceptForms: true })
    await served((_, url) => assert.rejects(send(url), /Unsupported content-type/))
  })

  test('a transformer carries what JSON cannot', async () => {
    /** Dates are `{ date: milliseconds }`, wherever they are. */
    const walk = (value: unknown, map: (value: object) => unknown): unknown => {
      if (typeof value !== 'object' || value === null) return value
      const mapped = map(value)
      if (mapped !== value) return mapped
      if (Array.isArray(value)) return value.map((each) => walk(each, map))
      return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, walk(each, map)]))
    }
    const dates = {
      serialize: (all: unknown): unknown =>
        walk(all, (value) => (value instanceof Date ? { date: value.getTime() } : value)),
      deserialize: (all: unknown): unknown =>
        walk(all, (value) => ('date' in value ? new Date(value.date as number) : value)),
    }
    const tree = router({
      next: procedure()
        .input(z.date())
        .query(({ input }) => new Date(input.getTime() + 1)),
      days: procedure().subscription(async function* () {
        yield new Date(1)
      }),
    })
    const app = kit.app()
    app.register(trpc(tree, { transformer: dates }))
    await kit.serve(app, async (live) => {
      const url = `${live.address.url}/trpc`
      for (const link of [httpLink, httpBatchLink, httpBatchStreamLink] as const) {
        const client = createTRPCClient<TRPCRouterOf<typeof tree, true>>({
          links: [link({ url, transformer: dates })],
        })
        const next = await client.next.query(new Date(41))
        same<Same<typeof next, Date>>()
        assert.equal(next.getTime(), 42)
      }
    })
  })
})

describe('tRPC subscriptions', () => {
  const subscriber = (url: string, more: object = {}) =>
    createTRPCClient<AppRouter>({
      links: [httpSubscriptionLink({ url, EventSource: FetchEventSource as never, ...more })],
    })

  test('events come until the client has enough', () =>
    served(async (_, url, released) => {
      const events: unknown[] = []
      const enough = deferred()
      const subscription = subscriber(url).ticks.subscribe(undefined, {
        onData(event) {
          same<Same<typeof event, { readonly id: string; readonly data: { at: number } }>>()
          events.push([event.id, event.data.at])
          if (events.length === 3) enough.resolve()
        },
      })
      await within(enough.promise, 60_000, 'three events')
      subscription.unsubscribe()
      assert.deepEqual(events, [
        ['1', 1],
        ['2', 2],
        ['3', 3],
      ])
      await eventually(() => released.includes('ticks 3'), 'the generator is released')
    }))

  test('the end, errors and parameters of the connection', () =>
    served(async (_, url, released) => {
      const all: unknown[] = []
      await within(
        new Promise<void>((resolve, reject) => {
          subscriber(url).three.subscribe(undefined, {
            onData: (event) => all.push(event),
            onComplete: resolve,
            onError: reject,
          })
        }),
        60_000,
        'three',
      )
      assert.deepEqual(
        all.map((event) => (typeof event === 'object' ? { ...event } : event)),
        [1, { id: 'b', data: 2 }, 3],
      )
      const error = await within(
        new Promise<unknown>((resolve) => {
          subscriber(url).refused.subscribe(undefined, { onError: resolve })
        }),
        60_000,
        'refused',
      )
      assert.ok(error instanceof TRPCClientError)
      assert.equal((error.shape as { code: number }).code, -32029)
      const token = await within(
        new Promise<unknown>((resolve) => {
          const subscription = subscriber(url, { connectionParams: { token: 't1' } }).quiet.subscribe(
            undefined,
            {
              onData(value) {
                subscription.unsubscribe()
                resolve(value)
              },
            },
          )
        }),
        60_000,
        'quiet',
      )
      assert.equal(token, 't1')
      await eventually(() => released.includes('quiet'), 'the generator is released')
    }))

  test('a client that lost its connection goes on after the last event', () =>
    served(
      async (_, url, released) => {
        const ids: string[] = []
        const enough = deferred()
        const subscription = subscriber(url).ticks.subscribe(undefined, {
          onData(event) {
            ids.push(event.id)
            if (ids.length === 6) enough.resolve()
          },
        })
        await within(enough.promise, 60_000, 'six events')
        subscription.unsubscribe()
        assert.deepEqual(ids, ['1', '2', '3', '4', '5', '6'])
        assert.ok(released.includes('ticks 3'), 'the first connection was released')
      },
      { maxSubscription: 100 },
    ))
})

describe('tRPC over the wire', () => {
  test('headers that procedures set are those of the reply', () =>
    served(async (live) => {
      const reply = await live.ask('/trpc/cookie')
      assert.equal(reply.headers['x-made-by'], 'procedure')
      assert.equal(reply.headers['vary'], 'x-user, trpc-accept, accept')
      assert.match(reply.headers['set-cookie'] ?? '', /^seen=yes/)
      assert.equal((await live.ask('/trpc/teapot')).headers['retry-after'], '5')
    }))

  test('headers that a procedure sets before it waits are in the head of a streamed batch', () =>
    served(async (live) => {
      const { length } = kit.reports
      const reply = await live.ask('/trpc/cookie,ping?batch=1', {
        headers: { 'trpc-accept': 'application/jsonl' },
      })
      assert.equal(reply.headers['x-made-by'], 'procedure')
      assert.deepEqual(reply.setCookies, ['seen=yes; Path=/; HttpOnly; SameSite=Lax'])
      assert.deepEqual(kit.reports.slice(length), [])
    }))

  test('bad requests are told in the shape of tRPC, before anything runs', () =>
    served(async (live) => {
      const shape = async (path: string, ask?: Parameters<Live['ask']>[1]) => {
        const reply = await live.ask(path, ask)
        const { error } = reply.json() as {
          error: { message: string; data: { code: string; httpStatus: number } }
        }
        assert.equal(error.data.httpStatus, reply.status, path)
        return `${reply.status} ${error.data.code}: ${error.message}`
      }
      const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
      assert.equal(await shape('/trpc/nope'), '404 NOT_FOUND: No procedure found on path "nope"')
      assert.equal(await shape('/trpc/__proto__'), '404 NOT_FOUND: No procedure found on path "__proto__"')
      assert.equal(
        await shape('/trpc/users.constructor'),
        '404 NOT_FOUND: No procedure found on path "users.constructor"',
      )
      assert.equal(await shape('/trpc/users.get?input=%7B'), '400 BAD_REQUEST: the input is not valid JSON')
      assert.equal(
        await shape('/trpc/users.get?input=%'),
        '400 BAD_REQUEST: the query has a malformed escape',
      )
      assert.match(
        await shape(`/trpc/echo${get(JSON.parse('{"__proto__":1}'))}`),
        /^400 BAD_REQUEST: .*__proto__/,
      )
      assert.match(
        await shape(`/trpc/echo?input=${'['.repeat(100)}${']'.repeat(100)}`),
        /^400 BAD_REQUEST: .*nested/,
      )
      assert.equal(await shape('/trpc/users.add', json), '401 UNAUTHORIZED: who are you?')
      assert.match(await shape('/trpc/upload', { ...json, body: '{' }), /^400 BAD_REQUEST: .*not valid JSON/)
      assert.equal(
        await shape('/trpc/upload', { method: 'POST', body: '{}' }),
        '415 UNSUPPORTED_MEDIA_TYPE: Missing content-type header',
      )
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=a',
      ]) {
        const headers = { 'content-type': type }
        assert.match(
          await shape('/trpc/upload', { method: 'POST', headers, body: '{}' }),
          /^415 UNSUPPORTED_MEDIA_TYPE/,
        )
      }
      assert.equal(
        await shape('/trpc/upload'),
        '405 METHOD_NOT_SUPPORTED: Unsupported GET-request to mutation procedure at path "upload"',
      )
      assert.equal((await live.ask('/trpc/upload')).headers['allow'], 'POST')
      assert.match(await shape('/trpc/ping', { ...json, body: '{}' }), /^405 METHOD_NOT_SUPPORTED/)
      assert.equal((await live.ask('/trpc/ping', { ...json, body: '{}' })).headers['allow'], 'GET')
      assert.match(
        await shape('/trpc/ping', { headers: { 'trpc-accept': 'application/jsonl' } }),
        /^400 BAD_REQUEST: Streaming/,
      )
      assert.match(await shape('/trpc/deferred'), /^415 UNSUPPORTED_MEDIA_TYPE: .*httpBatchStreamLink/)
      assert.equal(await shape('/trpc/big'), '500 INTERNAL_SERVER_ERROR: Internal Server Error')
      assert.equal((await live.ask('/trpc/ping', { method: 'HEAD' })).status, 204)
      assert.equal(
        await shape('/trpc/ping', { method: 'PUT' }),
        '405 METHOD_NOT_SUPPORTED: PUT is not allowed here; GET, HEAD, POST, OPTIONS are',
      )
    }))

  test('a batch has a limit, which is looked at first', () =>
    served(
      async (live) => {
        const paths = (count: number) => Array.from({ length: count }, () => 'ping').join(',')
        const three = await live.ask(`/trpc/${paths(3)}?batch=1`)
        assert.equal(three.status, 200)
        assert.deepEqual(
          three.json(),
          Array.from({ length: 3 }, () => ({ result: { data: 'pong' } })),
        )
        for (const count of [4, 10_000]) {
          const headers = { 'content-type': 'application/json' }
          const reply = await live.ask(
            `/trpc/${Array.from({ length: count }, () => 'a').join(',')}?batch=1`,
            {
              method: 'POST',
              headers,
              body: '{',
            },
          )
          assert.equal(reply.status, count > 4 ? reply.status : 400)
          if (count > 4) {
            assert.ok([414, 431].includes(reply.status), String(reply.status))
            continue
          }
          const { error } = reply.json() as { error: { data: object } }
          assert.deepEqual(error.data, {
            code: 'BAD_REQUEST',
            httpStatus: 400,
            error: { code: 'E_BATCH_SIZE' },
          })
        }
      },
      { maxBatchSize: 3 },
    ))

  test('the calls of a batch have one outcome each', () =>
    served(async (live) => {
      const reply = await live.ask(
        `/trpc/users.get,nope,secret,ticks,users.get?batch=1&input=${encodeURIComponent('{"0":{"id":"a"},"4":{"id":"none"}}')}`,
      )
      assert.equal(reply.status, 400)
      const mixed = reply.json() as { error: { message: string } }
      assert.equal(mixed.error.message, 'Cannot mix procedure types in call: query, subscription')
      const mixedWell = await live.ask(
        `/trpc/users.get,nope,users.get?batch=1&input=${encodeURIComponent('{"0":{"id":"a"},"2":{"id":"none"}}')}`,
      )
      assert.equal(mixedWell.status, 207)
      const items = mixedWell.json() as { result?: { data: unknown }; error?: { data: { code: string } } }[]
      assert.deepEqual(items[0]?.result?.data, { id: 'a', name: 'Ann' })
      assert.equal(items[1]?.error?.data.code, 'NOT_FOUND')
      assert.equal(items[2]?.error?.data.code, 'NOT_FOUND')
      const inputs = await live.ask('/trpc/ping,ping?batch=1&input=[1]')
      assert.equal(inputs.status, 400)
    }))

  test('what cannot be written is an error of its call alone', async () => {
    const tree = router({
      big: procedure().query(() => 1n),
      later: procedure().query(() => ({ big: Promise.resolve({ value: 1n }) })),
      failing: procedure().query(() => {
        throw new HTTPError(400, 'no', { code: 'NO', data: 1n })
      }),
      fine: procedure().query(() => 1),
    })
    const app = kit.app()
    app.register(trpc(tree))
    await kit.serve(app, async (live) => {
      const batch = (paths: string, headers = {}) => live.ask(`/trpc/${paths}?batch=1`, { headers })
      const two = (await batch('big,fine')).json() as { result?: object; error?: { data: object } }[]
      assert.deepEqual(two[1], { result: { data: 1 } })
      assert.deepEqual(two[0]?.error?.data, { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, path: 'big' })
      for (const path of ['failing', 'failing?batch=1'])
        assert.equal((await live.ask(`/trpc/${path}`)).status, 500)
      const lines = await batch('big,fine,failing,later', { 'trpc-accept': 'application/jsonl' })
      assert.equal(lines.status, 200)
      assert.match(lines.text, /\{"data":1\}|\[1\]/)
      assert.equal(lines.text.match(/INTERNAL_SERVER_ERROR/g)?.length, 3)
    })
  })

  test('queries are taken with POST where that is allowed, mutations never with GET', () =>
    served(
      async (live) => {
        const headers = { 'content-type': 'application/json' }
        const reply = await live.ask('/trpc/users.get', { method: 'POST', headers, body: '{"id":"a"}' })
        assert.deepEqual(reply.json(), { result: { data: { id: 'a', name: 'Ann' } } })
        assert.equal((await live.ask('/trpc/upload')).status, 405)
      },
      { allowMethodOverride: true },
    ))

  test('responseMeta sets status and headers', () =>
    served(
      async (live) => {
        const one = await live.ask('/trpc/ping')
        assert.equal(one.headers['x-paths'], 'ping query 0 false')
        const batch = await live.ask('/trpc/ping,secret?batch=1')
        assert.equal(batch.status, 202)
        assert.equal(batch.headers['x-paths'], 'ping,secret query 1 false')
        const streamed = await live.ask('/trpc/ping,secret?batch=1', {
          headers: { accept: 'application/jsonl' },
        })
        assert.equal(streamed.headers['x-paths'], 'ping,secret query 0 true')
      },
      {
        responseMeta: ({ paths, type, errors, streamed }) => ({
          status: paths.length === 2 && !streamed ? 202 : undefined,
          headers: { 'x-paths': `${paths.join()} ${type} ${errors.length} ${streamed}` },
        }),
      },
    ))

  test('errors nobody expected are reported, and no others', () =>
    served(async (live) => {
      const before = kit.reports.length
      await live.ask('/trpc/secret')
      await live.ask('/trpc/broken')
      await live.ask('/trpc/users.get?input={"id":"none"}')
      await live.ask('/trpc/ping,secret?batch=1')
      const reports = kit.reports.slice(before)
      assert.equal(reports.length, 3)
      assert.match(String(reports[0]), /hunter2/)
      assert.doesNotMatch(String(reports[1]), /hunter2/)
      assert.match(String(reports[1]), /the procedure broken .*#\/name/)
    }))

  test('what an output does not declare is named in development and not sent in production', async () => {
    const rows = { id: 'a', name: 'Ann', password: 'hunter2' }
    const tree = router({
      user: procedure()
        .output(User)
        .query(() => rows),
    })
    const ways: [string, Record<string, string>][] = [
      ['/trpc/user', {}],
      ['/trpc/user?batch=1', {}],
      ['/trpc/user?batch=1', { 'trpc-accept': 'application/jsonl' }],
    ]
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      app.register(trpc(tree))
      await kit.serve(app, async (live) => {
        for (const [path, headers] of ways) {
          const { text } = await live.ask(path, { headers })
          assert.doesNotMatch(text, /hunter2|password/)
          assert.match(text, undeclaredProperties === 'strip' ? /"name":"Ann"/ : /Internal Server Error/)
          if (undeclaredProperties === 'throw')
            assert.match(String(kit.reports.at(-1)), /the procedure user .*\/password/)
        }
      })
    }
  })

  test('options that make no sense are refused', () => {
    const { tree } = api()
    for (const options of [
      { maxBatchSize: 0 },
      { maxBatchSize: 1.5 },
      { allowMethodOverride: 1 },
      { transformer: {} },
      { acceptForms: 'yes' },
      { responseMeta: 1 },
      { pingInterval: -1 },
      { reconnectAfter: 10_000 },
      { batching: true },
    ]) {
      assert.throws(() => trpc(tree, options as never), { code: 'E_BAD_OPTION' }, JSON.stringify(options))
    }
    assert.throws(() => trpc({} as never), { code: 'E_BAD_OPTION' })
  })
})

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
      60_000,
      'two events',
    )
    assert.deepEqual(events, [1, 2])
  })
})

describe('tRPC beside its own server', () => {
  const t = initTRPC.create({ isDev: false, sse: { ping: { enabled: false } } })
  const oracle = t.router({
    ping: t.procedure.query(() => 'pong'),
    nothing: t.procedure.query(() => {}),
    noInput: t.procedure.query(({ input }) => ({ input: input ?? null })),
    double: t.procedure.query(() => () => 1),
    echo: t.procedure.input(z.unknown()).query(({ input }) => ({ input })),
    set: t.procedure.input(z.unknown()).mutation(({ input }) => ({ input })),
    missing: t.procedure.query(() => {
      throw new TRPCError({ code: 'NOT_FOUND', message: 'gone' })
    }),
    deferred: t.procedure.query(() => ({ now: 1, later: Promise.resolve(2) })),
    list: t.procedure.query(async function* () {
      yield 1
      yield { deep: Promise.resolve([2]) }
      return 3
    }),
    events: t.procedure
      .input(z.object({ lastEventId: z.string().optional() }).optional())
      .subscription(async function* ({ input }) {
        if (input?.lastEventId !== undefined) yield `after ${input.lastEventId}`
        yield 1
        yield theirTracked('b', { two: 2 })
        yield 'c'
      }),
    failing: t.procedure.subscription(async function* () {
      yield 1
      throw new TRPCError({ code: 'FORBIDDEN', message: 'no further' })
    }),
  })
  const ours = router({
    ping: procedure().query(() => 'pong'),
    nothing: procedure().query(() => {}),
    noInput: procedure().query(({ input }) => ({ input: input ?? null })),
    double: procedure().query(() => () => 1),
    echo: procedure()
      .input(z.unknown())
      .query(({ input }) => ({ input })),
    set: procedure()
      .input(z.unknown())
      .mutation(({ input }) => ({ input })),
    missing: procedure().query(() => {
      throw new HTTPError(404, 'gone')
    }),
    deferred: procedure().query(() => ({ now: 1, later: Promise.resolve(2) })),
    list: procedure().query(async function* () {
      yield 1
      yield { deep: Promise.resolve([2]) }
      return 3
    }),
    events: procedure()
      .input(z.object({ lastEventId: z.string().optional() }).optional())
      .subscription(async function* ({ input }) {
        if (input?.lastEventId !== undefined) yield `after ${input.lastEventId}`
        yield 1
        yield tracked('b', { two: 2 })
        yield 'c'
      }),
    failing: procedure().subscription(async function* () {
      yield 1
      throw new HTTPError(403, 'no further')
    }),
  })

  const json = { 'content-type': 'application/json' }
  const lines = { 'trpc-accept': 'application/jsonl' }
  const cases: [path: string, init?: RequestInit][] = [
    ['/ping'],
    ['/nothing'],
    ['/missing'],
    ['/unknown'],
    ['/a/b'],
    ['/ping/'],
    [''],
    ['/'],
    ['/?batch=1'],
    ['', { method: 'POST', headers: json, body: '{}' }],
    ['/noInput?input=1'],
    ['/noInput?batch=1&input={"0":1}'],
    [`/echo${get({ a: [1, null, 'ü'], 'b c': '+' })}`],
    ['/echo?input=%22a+b%22'],
    ['/echo?input='],
    ['/echo?other=1&input=1'],
    ['/set', { method: 'POST', headers: json, body: '{"a":1}' }],
    ['/set', { method: 'POST', headers: json }],
    ['/set', { method: 'POST', headers: { 'content-type': 'Application/JSON; charset=utf-8' }, body: '[1]' }],
    ['/set'],
    ['/ping', { method: 'POST', headers: json, body: '{}' }],
    ['/events', { method: 'POST', headers: json, body: '{}' }],
    ['/ping', { method: 'HEAD' }],
    ['/ping?batch=1'],
    ['/ping,echo?batch=1&input={"1":"x"}'],
    ['/ping%2Cecho?batch=1&input={"1":"x"}'],
    ['/ping,missing?batch=1'],
    ['/missing,missing?batch=1'],
    ['/ping,unknown?batch=1'],
    ['/ping,set?batch=1'],
    ['/set,set?batch=1', { method: 'POST', headers: json, body: '{"0":1,"1":{"x":2}}' }],
    ['/ping,events?batch=1'],
    ['/events?batch=1'],
    ['/ping?batch=2'],
    ['/ping', { headers: lines }],
    ['/ping?batch=1', { headers: lines }],
    ['/nothing?batch=1', { headers: lines }],
    ['/missing?batch=1', { headers: lines }],
    ['/deferred?batch=1', { headers: lines }],
    ['/list?batch=1', { headers: lines }],
    ['/events'],
    ['/events?lastEventId=7'],
    ['/events', { headers: { 'last-event-id': 'x' } }],
    ['/failing'],
  ]
  /** Where the guide says that they differ: what we say, and what they say. */
  const differences: [path: string, init: RequestInit, ours: string, theirs: string][] = [
    [
      '/set',
      { method: 'PATCH', headers: json, body: '{}' },
      '405 METHOD_NOT_SUPPORTED',
      '405 METHOD_NOT_SUPPORTED set',
    ],
    ['/ping', { method: 'PUT' }, '405 METHOD_NOT_SUPPORTED', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['', { method: 'PUT', headers: json, body: '{}' }, '404 NOT_FOUND', '404 NOT_FOUND'],
    ['', { method: 'HEAD' }, '404 nothing', '204 nothing'],
    ['/%zz', {}, '400 problem', '400 BAD_REQUEST'],
    ['/echo?input=%7B%22__proto__%22:1%7D', {}, '400 BAD_REQUEST echo', '200 result'],
    [`/echo?input=${'['.repeat(80)}${']'.repeat(80)}`, {}, '400 BAD_REQUEST echo', '200 result'],
    ['/set', { method: 'POST', headers: json, body: '{"__proto__":1}' }, '400 BAD_REQUEST set', '200 result'],
    [
      '/set',
      { method: 'POST', headers: { ...json, 'content-encoding': 'gzip' }, body: '{}' },
      '415 UNSUPPORTED_MEDIA_TYPE set',
      '200 result',
    ],
    [
      '/set',
      { method: 'POST', headers: { 'content-type': 'application/json; charset=latin1' }, body: '{}' },
      '415 UNSUPPORTED_MEDIA_TYPE set',
      '200 result',
    ],
    ['/ping?connectionParams=%7B', {}, '200 result', '400 PARSE_ERROR'],
    ['/double', {}, '500 INTERNAL_SERVER_ERROR double', '200 result'],
    ['/deferred', {}, '415 UNSUPPORTED_MEDIA_TYPE deferred', '415 UNSUPPORTED_MEDIA_TYPE'],
    ['/ping?batch=%zz', {}, '400 BAD_REQUEST', '200 result'],
  ]
  /** Fields that belong to the protocol; the others are the server's. */
  const fields = ['vary', 'allow', 'cache-control', 'x-accel-buffering']

  const beside = async (run: (ourUrl: string, theirUrl: string) => Promise<void>): Promise<void> => {
    const server = createHTTPServer({ router: oracle, basePath: '/trpc/' })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const app = kit.app()
    app.register(trpc(ours))
    try {
      await kit.serve(app, (live) =>
        run(`${live.address.url}/trpc`, `http://127.0.0.1:${(server.address() as AddressInfo).port}/trpc`),
      )
    } finally {
      server.closeAllConnections()
      server.close()
    }
  }

  test('says the same, byte for byte', () =>
    beside(async (ourUrl, theirUrl) => {
      for (const [path, init] of cases) {
        const said = async (base: string) => {
          const reply = await fetch(base + path, init)
          return {
            status: reply.status,
            fields: fields.map((field) => [field, reply.headers.get(field)]),
            // RFC 8259 §11: JSON is UTF-8 with and without a charset.
            'content-type': reply.headers.get('content-type')?.replace('; charset=utf-8', '') ?? null,
            body: await reply.text(),
          }
        }
        const [expected, actual] = [await said(theirUrl), await said(ourUrl)]
        // A request that fails as a whole has no type there, and is sent as text.
        if (expected['content-type'] === 'text/plain;charset=UTF-8')
          expected['content-type'] = 'application/json'
        // Where the content type of a reply without content is nobody's business.
        if (expected.body === '') expected['content-type'] = actual['content-type']
        assert.deepEqual(
          actual,
          expected,
          `${init?.method ?? 'GET'} ${path} ${JSON.stringify(init?.headers ?? {})}`,
        )
      }
    }))

  test('its JSON has a charset, which means nothing (RFC 8259 §11) and tRPC does not send', () =>
    beside(async (ourUrl, theirUrl) => {
      const [path, init] = cases[0] as (typeof cases)[number]
      const typeAt = async (base: string) => (await fetch(base + path, init)).headers.get('content-type')
      assert.deepEqual(
        [await typeAt(theirUrl), await typeAt(ourUrl)],
        ['application/json', 'application/json; charset=utf-8'],
      )
    }))

  test('differs where the guide says so', () =>
    beside(async (ourUrl, theirUrl) => {
      for (const [path, init, expected, theirs] of differences) {
        const said = async (base: string) => {
          const reply = await fetch(base + path, init)
          const text = await reply.text()
          if (reply.headers.get('content-type')?.startsWith('application/problem+json') === true)
            return `${reply.status} problem`
          if (text === '') return `${reply.status} nothing`
          const { error } = JSON.parse(text) as { error?: { data: { code: string; path?: string } } }
          if (error === undefined) return `${reply.status} result`
          return [reply.status, error.data.code, ...(error.data.path ? [error.data.path] : [])].join(' ')
        }
        const where = `${init.method ?? 'GET'} ${path}`
        assert.equal(await said(ourUrl), expected, where)
        assert.match(await said(theirUrl), new RegExp(`^${theirs}`), where)
      }
    }))
})
