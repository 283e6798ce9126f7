/** What the calls of a client take and give, by the routes they call. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as v from 'valibot'
import * as z from 'zod'
import {
  type Client,
  ClientError,
  createClient,
  type Failure,
  type HeaderValue,
  type Invalid,
  type Jsonified,
  type PathValue,
  type QueryValue,
  type Success,
} from '../../src/client/index.ts'
import { contract, createApp, middleware, type RootParts, type Scope } from '../../src/index.ts'
import type { RouteParts } from '../../src/types/parts.ts'

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(value: Same<A, B>): void => assert.ok(value)
type Flat<T> = T extends object ? { [K in keyof T]: Flat<T[K]> } : T

const User = z.object({ id: z.number(), name: z.string(), born: z.date() })
const app = createApp({ signals: false })
const auth = middleware<{ user: string }>()(
  { errors: { UNAUTHORIZED: { status: 401, data: z.object({ realm: z.string() }) } } },
  (_, next) => next(),
)

const api = {
  users: {
    get: app.with(auth).get(
      '/users/:id',
      {
        params: z.object({ id: z.coerce.number() }),
        query: z.object({ tag: z.array(z.string()).optional(), page: z.coerce.number().default(1) }),
        response: User,
        errors: { USER_NOT_FOUND: { status: 404, data: z.object({ since: z.date() }) } },
      },
      (ctx) => {
        if (ctx.params.id === 0) throw ctx.fail('USER_NOT_FOUND', { since: new Date() })
        return { id: ctx.params.id, name: 'a', born: new Date() }
      },
    ),
    add: app.post(
      '/users',
      {
        body: z.object({ name: z.string(), age: z.number().default(0) }),
        response: { 201: User, 204: null, 409: z.object({ taken: z.string() }) },
      },
      (ctx) => ctx.reply(204),
    ),
    remove: app.delete('/users/:id', () => {}),
  },
  plain: app.get('/plain', () => ({ at: new Date(), of: [1, undefined] as (number | undefined)[] })),
  text: app.get('/text/:name?', (ctx) => `hi ${ctx.params.name}`),
  none: app.put('/none', () => undefined),
  itself: app.post('/itself', (ctx) => ctx.json({ a: 1 })),
  stream: app.get('/stream/*', function* () {
    yield 'a'
  }),
  keyed: app.get(
    '/keyed',
    { headers: z.object({ 'x-key': z.string() }), cookies: v.object({ session: v.optional(v.string()) }) },
    () => 1,
  ),
}
/** A route of a group is a value where the group is defined. */
const grouped = () => {
  const routes = (group: Scope<RouteParts<RootParts, '/orgs/:org'>>) => ({
    get: group.get('/users/:id', { params: z.object({ id: z.coerce.number() }) }, () => 1),
    list: group.get('/users', () => 1),
  })
  let made: ReturnType<typeof routes> | undefined
  app.group('/orgs/:org', (group) => void (made = routes(group)))
  return made as ReturnType<typeof routes>
}

const client = createClient<typeof api>('http://unused.test')
type Result<C> = C extends (...args: never) => Promise<infer R> ? R : never
type Given<C> = C extends (input: infer I, ...rest: never) => unknown ? Flat<I> : never

test('inputs are those of the schemas, and of the pattern', () => {
  const never = (): void => {
    void client.users.get({ params: { id: 1 } })
    void client.users.get({ params: { id: '1' }, query: { tag: ['a'], page: 2 } })
    // @ts-expect-error the parameter is missing
    void client.users.get({})
    // @ts-expect-error the input is missing
    void client.users.get()
    // @ts-expect-error a parameter cannot be an object
    void client.users.get({ params: { id: {} } })
    // @ts-expect-error the query has no such key
    void client.users.get({ params: { id: 1 }, query: { pages: 2 } })
    // @ts-expect-error there is no such part
    void client.users.get({ params: { id: 1 }, queries: { page: 2 } })
    void client.users.add({ body: { name: 'a' } })
    // @ts-expect-error the body is missing
    void client.users.add({})
    // @ts-expect-error it is not what the schema takes
    void client.users.add({ body: { name: 1 } })
    void client.users.remove({ params: { id: 1 } })
    // @ts-expect-error the pattern has another parameter
    void client.users.remove({ params: { name: 1 } })
    void client.plain()
    void client.plain({ query: { any: [1, null, true], at: new Date() } }, { timeout: 5 })
    // @ts-expect-error nothing is sent with GET
    void client.plain({ body: 1 })
    void client.text({})
    void client.text({ params: { name: 1 } })
    void client.stream({ params: { '*': 'a/b' } })
    void client.none({ body: new Blob([]) })
    void client.keyed({ headers: { 'x-key': 'a' } })
    void client.keyed({ headers: { 'x-key': 'a' }, cookies: { session: 'a' } })
    // @ts-expect-error the field is missing
    void client.keyed({ cookies: { session: 'a' } })
    // @ts-expect-error there is no such operation
    void client.users.gets
  }
  assert.ok(never)
  same<Given<typeof client.users.add>['body'], { name: string; age?: number | undefined }>(true)
  // Not an intersection, of which editors show "…".
  type Pairs<V> = Readonly<Record<string, V>> | undefined
  same<
    Parameters<typeof client.users.remove>[0],
    {
      params: { id: PathValue }
      body?: unknown
      query?: Pairs<QueryValue>
      headers?: Pairs<HeaderValue>
      cookies?: Pairs<PathValue | undefined>
    }
  >(true)
})

test('a mistake in the options of a client is found where it is', () => {
  const never = (): void => {
    // @ts-expect-error there is no such option
    createClient<typeof api>('http://unused.test', { header: {} })
    createClient<typeof api>(
      'http://unused.test',
      // @ts-expect-error here, not at the address, which would be the one of the line above
      { retry: true },
    )
  }
  assert.ok(never)
})

test('parameters of a group come before those of its routes', () => {
  const inside = createClient(grouped(), 'http://unused.test')
  const never = (): void => {
    void inside.get({ params: { org: 'a', id: 1 } })
    void inside.list({ params: { org: 'a' } })
    // @ts-expect-error the group's parameter is missing
    void inside.get({ params: { id: 1 } })
    // @ts-expect-error here, too
    void inside.list()
  }
  assert.ok(never)
})

test('results are told apart by ok, status and code', () => {
  type Get = Result<typeof client.users.get>
  type Told = { id: number; name: string; born: string }
  same<
    Get,
    | Success<200, Told>
    | Failure<'USER_NOT_FOUND', 404, { since: string }>
    | Failure<'UNAUTHORIZED', 401, { realm: string }>
    | Invalid
  >(true)
  same<
    Result<typeof client.users.add>,
    Success<201, Told> | Success<204, undefined> | Failure<undefined, 409, { taken: string }> | Invalid
  >(true)
  same<Result<typeof client.plain>, Success<number, { at: string; of: (number | null)[] }>>(true)
  same<Result<typeof client.text>, Success<number, string>>(true)
  same<Result<typeof client.none>, Success<number, undefined>>(true)
  same<Result<typeof client.itself>, Success<number, unknown>>(true)
  same<Result<typeof client.stream>, Success<number, ReadableStream<Uint8Array<ArrayBuffer>>>>(true)
  same<Result<typeof client.keyed>, Success<number, number> | Invalid>(true)
  const narrow = (reply: Get): string => {
    if (reply.ok) return reply.data.name + reply.data.born
    switch (reply.code) {
      case 'USER_NOT_FOUND':
        return reply.data.since + String(reply.status satisfies 404)
      case 'UNAUTHORIZED':
        return reply.data.realm
      case 'E_VALIDATION':
        return reply.issues.map(({ pointer }) => pointer).join()
    }
  }
  assert.ok(narrow)
})

test('contracts, and routes whose types are not known', () => {
  const tree = {
    get: contract.get('/users/:id', { response: User, errors: { GONE: { status: 410 } } }),
    put: contract.put('/users/:id', { body: User }),
  }
  const made = createClient(tree, 'http://unused.test')
  same<
    Result<typeof made.get>,
    Success<200, { id: number; name: string; born: string }> | Failure<'GONE', 410, undefined>
  >(true)
  const loose = createClient<{ any: { method: string; path: string } }>('http://unused.test')
  same<Result<typeof loose.any>, Success<number, unknown> | Failure<string, number, unknown>>(true)
  same<Client<typeof api>['users']['get'], typeof client.users.get>(true)
  assert.equal(typeof made.get, 'function')
  assert.equal(ClientError.name, 'ClientError')
})

test('a media type says how a reply is read', () => {
  const tree = {
    page: app.get('/page', { mediaType: 'text/html', response: z.string() }, () => '<p>'),
    csv: app.get('/csv', { mediaType: 'text/csv; charset=utf-8' }, function* () {
      yield 'a,b'
    }),
    image: app.get('/image', { mediaType: 'image/svg+xml', response: z.string() }, () => '<svg/>'),
    events: app.get('/events', { mediaType: 'text/event-stream' }, () => ''),
    patch: app.get('/patch', { mediaType: 'application/json-patch+json', response: User }, () => ({
      id: 1,
      name: 'a',
      born: new Date(),
    })),
  }
  const made = createClient<typeof tree>('http://unused.test')
  same<Result<typeof made.page>, Success<200, string>>(true)
  same<Result<typeof made.csv>, Success<number, string>>(true)
  same<Result<typeof made.image>, Success<200, ReadableStream<Uint8Array<ArrayBuffer>>>>(true)
  same<Result<typeof made.events>, Success<number, ReadableStream<Uint8Array<ArrayBuffer>>>>(true)
  same<Result<typeof made.patch>, Success<200, { id: number; name: string; born: string }>>(true)
})

test('plain JSON Schema is read off, and what cannot be is left open', () => {
  const tree = {
    json: contract.post('/json/:id', {
      params: { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] },
      query: { type: 'object', properties: { page: { type: 'integer', default: 1 } }, required: ['page'] },
      body: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      response: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
    }),
    open: app.post('/open/:id', { params: z.any(), query: z.any(), body: z.any() }, () => 1),
  }
  const made = createClient<typeof tree>('http://unused.test')
  same<Result<typeof made.json>, Success<200, { ok: boolean }> | Invalid>(true)
  const never = (): void => {
    void made.json({ params: { id: 1 }, query: { page: 2 }, body: { name: 'a' } })
    // @ts-expect-error a number is asked for
    void made.json({ params: { id: 'a' }, query: { page: 2 }, body: { name: 'a' } })
    void made.open({ params: { id: 'a' }, query: { any: [1] }, body: { any: 1 } })
    // @ts-expect-error the pattern has a parameter
    void made.open({ query: { any: [1] } })
  }
  assert.ok(never)
})

test('what JSON makes of a value', () => {
  same<
    Jsonified<{ a: Date; b?: Date; c: () => void; d: symbol }>,
    { a: string; b?: string; c: undefined; d: undefined }
  >(true)
  same<Jsonified<[Date, string | undefined]>, [string, string | null]>(true)
  same<Jsonified<readonly Date[]>, readonly string[]>(true)
  same<Jsonified<{ toJSON(): { at: Date } }>, { at: string }>(true)
  same<Jsonified<unknown>, unknown>(true)
  same<Jsonified<'a' | null | 1>, 'a' | null | 1>(true)
  same<Jsonified<URL>, string>(true)
  same<Jsonified<Map<string, Date>>, Record<string, never>>(true)
  same<
    Jsonified<{ a: ReadonlySet<number>; b: RegExp }>,
    { a: Record<string, never>; b: Record<string, never> }
  >(true)
  same<Jsonified<{ size: number; has(key: string): boolean }>, { size: number; has: undefined }>(true)
})
