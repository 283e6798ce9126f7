/** What passes the schemas of a request, and what is told of the rest, by every library. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Problem, validate } from 'volant'
import { Kit } from '../kit.ts'
import { good, items, libraries, type Out, type Schemas } from './libraries.ts'

const kit = new Kit()

interface Asked {
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: unknown
}

/** What passes, and what of it the handler sees. */
const passing: Readonly<Record<string, [asked: Asked, seen: Partial<Out>]>> = {
  'numbers, and defaults for what is not there': [
    { path: '/items/7' },
    { params: { id: 7 }, query: { order: 'up', limit: 5 }, cookies: {}, body: good as Out['body'] },
  ],
  'one value where several may be': [
    { path: '/items/1?tag=a' },
    { query: { order: 'up', limit: 5, tag: ['a'] } },
  ],
  'several values': [
    { path: '/items/1?tag=a&tag=b&order=down&limit=2.5&deep=false' },
    { query: { order: 'down', limit: 2.5, deep: false, tag: ['a', 'b'] } },
  ],
  cookies: [{ headers: { cookie: 'session=s' } }, { cookies: { session: 's' } }],
  'text that looks like something else stays text': [
    { headers: { 'x-key': '123', cookie: 'session=1' } },
    { cookies: { session: '1' } },
  ],
  'a number in a union': [{ body: { ...good, size: 3 } }, { body: { ...good, size: 3 } as Out['body'] }],
  'what is optional is left out': [
    { body: { ...good, address: undefined, lines: [] } },
    { body: { name: 'ann', note: null, lines: [], size: 'm' } },
  ],
}

/** What does not, and the places it is told of. */
const failing: Readonly<Record<string, [asked: Asked, places: string[]]>> = {
  'a parameter that is no number': [{ path: '/items/x' }, ['params #/id']],
  'a parameter that is no whole number': [{ path: '/items/1.5' }, ['params #/id']],
  'a parameter that is too small': [{ path: '/items/0' }, ['params #/id']],
  'a value that is not one of those allowed': [{ path: '/items/1?order=left' }, ['query #/order']],
  'a number that is too large': [{ path: '/items/1?limit=11' }, ['query #/limit']],
  'a truth that is none': [{ path: '/items/1?deep=maybe' }, ['query #/deep']],
  'a header that is too short': [{ headers: { 'x-key': 'ab' } }, ['headers #/x-key']],
  'a cookie without a value': [{ headers: { cookie: 'session=' } }, ['cookies #/session']],
  'a body that is no object': [{ body: 'ann' }, ['body #']],
  'text for a number': [{ body: { ...good, lines: [{ sku: 'a', count: '1' }] } }, ['body #/lines/0/count']],
  'a number for text': [{ body: { ...good, name: 12 } }, ['body #/name']],
  'no alternative': [{ body: { ...good, size: true } }, ['body #/size']],
  'null where it is not allowed': [{ body: { ...good, address: null } }, ['body #/address']],
  'a name that has to be escaped': [
    { body: { ...good, address: { city: 'x', 'a/b~c': 1 } } },
    ['body #/address/a~1b~0c'],
  ],
  'all of it at once': [
    {
      path: '/items/0?order=left&limit=11',
      headers: { 'x-key': 'a', cookie: 'session=' },
      body: { name: 'a', lines: [{ sku: 1, count: 1 }, { sku: 'b' }], size: 'm' },
    },
    [
      'params #/id',
      'query #/order',
      'query #/limit',
      'headers #/x-key',
      'cookies #/session',
      'body #/name',
      'body #/note',
      'body #/lines/0/sku',
      'body #/lines/1/count',
    ],
  ],
}

for (const [library, api] of Object.entries(libraries)) describe(`schemas of ${library}`, () => requests(api))

function requests(api: Schemas): void {
  const ask = async (row: Asked, check: (reply: { status: number; json(): unknown }) => void) => {
    const app = kit.app()
    items(app, api)
    await kit.serve(app, async (live) => {
      const { path = '/items/1', headers = {}, body = good } = row
      check(await live.post(path, 'application/json', JSON.stringify(body), { 'x-key': 'key', ...headers }))
    })
  }
  for (const [name, [asked, seen]] of Object.entries(passing)) {
    test(name, () =>
      ask(asked, (reply) => {
        assert.equal(reply.status, 200)
        const got = reply.json() as Record<string, unknown>
        for (const [part, value] of Object.entries(seen)) assert.deepEqual(got[part], value)
        assert.equal(got['key'], asked.headers?.['x-key'] ?? 'key')
      }),
    )
  }
  for (const [name, [asked, places]] of Object.entries(failing)) {
    test(name, () =>
      ask(asked, (reply) => {
        const problem = reply.json() as Problem
        assert.deepEqual([reply.status, problem.code], [400, 'E_VALIDATION'])
        assert.deepEqual(
          problem.errors?.map(({ in: part, pointer }) => `${part} ${pointer}`).sort(),
          places.toSorted(),
        )
        assert.ok(problem.errors?.every(({ detail }) => detail.length > 0))
      }),
    )
  }

  test('as a middleware, for a scope', async () => {
    const app = kit.app()
    const { query } = api
    app.with(validate({ query })).get('/x', (ctx) => ctx.query.limit + 1)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).text, '6')
      assert.equal((await live.ask('/x?limit=12')).status, 400)
    })
  })
}
