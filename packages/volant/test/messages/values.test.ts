import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type VolantError } from 'volant'
import { Kit, stderrLines } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  const circle: Record<string, unknown> = { list: [1] }
  circle['self'] = { 'a b': [{ circle }] }
  let deep: unknown[] = []
  for (let level = 0; level < 50_000; level++) deep = [deep]

  const values: [RegExp, unknown][] = [
    [/^the reply of GET \/v\/:id cannot be written as JSON: a BigInt at a\.b\[0\];/, { a: { b: [1n] } }],
    [/JSON: a BigInt;/, 1n],
    [/JSON: a BigInt at toJSON\.x;/, { toJSON: { x: 1n } }],
    [/JSON: a BigInt at date;/, { date: { toJSON: () => 1n } }],
    [/JSON: a cycle at self\["a b"\]\[0\]\.circle$/, circle],
    // From Node.js 25 on JSON.stringify does not recurse, and carries it.
    ...(carries(deep) ? [] : ([[/JSON: it is nested too deeply$/, deep]] as [RegExp, unknown][])),
    [/JSON: it is a Map; Object\.fromEntries\(map\)/, new Map([['a', 1]])],
    [/JSON: it is a Set; Array\.from\(set\)/, new Set([1])],
    [/JSON: it is a function; call it, also where it makes a middleware$/, () => 1],
    [/JSON: it is a symbol$/, Symbol('x')],
  ]

  test('what JSON cannot carry is named, and where it is', async () => {
    const app = kit.app()
    app.get('/v/:id', (ctx) => values[Number(ctx.params.id)]?.[1])
    app.get('/empty', () => ({}))
    app.get('/own', () => ({
      toJSON() {
        throw new Error('its own')
      },
    }))
    app.get('/shared', () => {
      const one = { x: 1 }
      return { a: one, b: [one, one] }
    })
    await kit.serve(app, async (live) => {
      for (const [index, [message]] of values.entries()) {
        assert.equal((await live.ask(`/v/${index}`)).status, 500)
        const error = kit.reports.pop() as VolantError
        assert.equal(error.code, 'E_NOT_SERIALISABLE')
        assert.match(error.message, message)
      }
      assert.equal((await live.ask('/empty')).text, '{}')
      assert.equal((await live.ask('/own')).status, 500)
      assert.equal((kit.reports.pop() as Error).message, 'its own')
      assert.equal((await live.ask('/shared')).text, '{"a":{"x":1},"b":[{"x":1},{"x":1}]}')
    })
  })

  test('what JSON makes {} of inside of a reply is named, once for a route', async () => {
    const app = kit.app()
    app.get('/promise', () => ({ page: { user: Promise.resolve({ name: 'Ada' }) } }))
    app.get('/map', (ctx) => ctx.json([{ rows: [new Map([['a', 1]])] }]))
    app.get('/set', () => ({ empty: {}, tags: new Set(['a']) }))
    app.get('/error', () => ({ error: new Error('hidden') }))
    app.get('/fine', () => ({ empty: {}, own: new URLSearchParams('a=b'), date: new Date(0) }))
    const said = await stderrLines(async () => {
      for (const path of ['/promise', '/map', '/set', '/error', '/fine', '/promise'])
        assert.equal((await app.inject(path)).status, 200)
    })
    const once = 'This is said once for a route, and not in production.'
    assert.deepEqual(said, [
      `volant: the reply of GET /promise has {} at page.user: it is a promise; await it. ${once}`,
      `volant: the reply of GET /map has {} at [0].rows[0]: it is a Map; Object.fromEntries(map) makes an object of it. ${once}`,
      `volant: the reply of GET /set has {} at tags: it is a Set; Array.from(set) makes an array of it. ${once}`,
      `volant: the reply of GET /error has {} at error: it is an Error; send its message. ${once}`,
    ])
  })

  test('a Blob is streamed with its type', async () => {
    const app = kit.app()
    app.get('/typed', () => new Blob(['<b>', 'hello</b>'], { type: 'text/html' }))
    app.get('/plain', () => new Blob(['x'.repeat(100_000)]))
    app.get('/own', (ctx) => {
      ctx.header('content-type', 'text/x-own').status(201)
      return new Blob(['own'], { type: 'text/html' })
    })
    await kit.serve(app, async (live) => {
      const typed = await live.ask('/typed')
      assert.equal(typed.text, '<b>hello</b>')
      assert.equal(typed.headers['content-type'], 'text/html')
      assert.equal(typed.headers['content-length'], '12')
      const plain = await live.ask('/plain')
      assert.equal(plain.text.length, 100_000)
      assert.equal(plain.headers['content-type'], 'application/octet-stream')
      const own = await live.ask('/own')
      assert.deepEqual([own.status, own.headers['content-type'], own.text], [201, 'text/x-own', 'own'])
      assert.equal((await live.ask('/typed', { method: 'HEAD' })).headers['content-length'], '12')
    })
  })

  test('a Response that was read and a chunk that is none are named with their route', async () => {
    const app = kit.app()
    app.get('/response', async () => {
      const response = new Response('x')
      await response.text()
      return response
    })
    app.get('/chunk', (ctx) => ctx.stream([5 as never]))
    assert.equal((await app.inject('/response')).status, 500)
    assert.match(
      (kit.reports.pop() as VolantError).message,
      /^GET \/response replied with a Response whose body was/,
    )
    await assert.rejects(app.inject('/chunk'), { code: 'E_RESET' })
    assert.equal(
      (kit.reports.pop() as VolantError).message,
      'a chunk of the stream of GET /chunk is a string or bytes, not 5',
    )
  })
})

function carries(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
