/** What this server says beside that of tRPC 11, request by request. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { describe, test } from 'node:test'
import { initTRPC, tracked as theirTracked, TRPCError } from '@trpc/server'
import { createHTTPServer } from '@trpc/server/adapters/standalone'
import { HTTPError } from 'volant'
import { procedure, router, tracked } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import * as z from 'zod'
import { kit, get } from './kit.ts'

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
