import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import type { Handler } from 'volant'
import type { Kit } from '../../kit.ts'

const json = 'application/json; charset=utf-8'

const text = 'text/plain; charset=utf-8'

const bytes = 'application/octet-stream'

/** Handler, then the status, content type and body it must give. */
const table: Record<string, [Handler, number, string | undefined, string]> = {
  'a returned object': [() => ({ a: 1, b: 'é' }), 200, json, '{"a":1,"b":"é"}'],
  'a returned array': [() => [1, 2], 200, json, '[1,2]'],
  'a returned number': [() => 7, 200, json, '7'],
  'a returned zero': [() => 0, 200, json, '0'],
  'a returned boolean': [() => false, 200, json, 'false'],
  'a returned string': [() => 'hé', 200, text, 'hé'],
  'an empty string': [() => '', 200, text, ''],
  'a returned Buffer': [() => Buffer.from([0x41, 0x42]), 200, bytes, 'AB'],
  'a returned Uint8Array': [() => new Uint8Array([0x43]), 200, bytes, 'C'],
  'a returned ArrayBuffer': [() => new Uint8Array([0x44]).buffer, 200, bytes, 'D'],
  undefined: [() => undefined, 204, undefined, ''],
  null: [() => null, 204, undefined, ''],
  'undefined after status 201': [(ctx) => void ctx.status(201), 201, undefined, ''],
  'a promise of an object': [async () => ({ a: 1 }), 200, json, '{"a":1}'],
  'a promise of undefined': [async () => undefined, 204, undefined, ''],
  // oxlint-disable-next-line unicorn/no-thenable -- that is the case
  'a thenable': [() => ({ then: (go: (value: string) => void) => go('then') }), 200, text, 'then'],
  'an instance with toJSON': [() => new Date(0), 200, json, '"1970-01-01T00:00:00.000Z"'],
  'an object without prototype': [
    () => Object.assign(Object.create(null) as object, { a: 1 }),
    200,
    json,
    '{"a":1}',
  ],
  'ctx.json': [(ctx) => ctx.json({ a: 1 }), 200, json, '{"a":1}'],
  'ctx.json with a status': [(ctx) => ctx.json({ a: 1 }, 201), 201, json, '{"a":1}'],
  'ctx.json in an async handler': [async (ctx) => ctx.json([]), 200, json, '[]'],
  'ctx.json after an await': [
    async (ctx) => {
      await new Promise((resolve) => setImmediate(resolve))
      ctx.json(null)
    },
    200,
    json,
    'null',
  ],
  'ctx.status before ctx.json': [(ctx) => ctx.status(202).json({}), 202, json, '{}'],
  'ctx.text': [(ctx) => ctx.text('t', 203), 203, text, 't'],
  'ctx.html': [(ctx) => ctx.html('<p>é'), 200, 'text/html; charset=utf-8', '<p>é'],
  'ctx.bytes': [(ctx) => ctx.bytes(new Uint8Array([0x45])), 200, bytes, 'E'],
  'ctx.reply': [(ctx) => ctx.reply(418, { tea: true }), 418, json, '{"tea":true}'],
  'ctx.reply without a value': [(ctx) => ctx.reply(202), 202, undefined, ''],
  'a content type of its own': [
    (ctx) => ctx.header('Content-Type', 'text/csv').text('a,b'),
    200,
    'text/csv',
    'a,b',
  ],
  'a content type before a returned object': [
    (ctx) => {
      ctx.header('content-type', 'application/vnd.api+json')
      return { a: 1 }
    },
    200,
    'application/vnd.api+json',
    '{"a":1}',
  ],
  'status 204 drops the body': [(ctx) => ctx.json({ a: 1 }, 204), 204, json, ''],
  'status 205 drops the body': [(ctx) => ctx.text('x', 205), 205, text, ''],
  'status 304 drops the body': [(ctx) => ctx.status(304).text('x'), 304, text, ''],
  'a Response': [
    () => new Response('hi', { status: 201, headers: { 'content-type': 'text/x' } }),
    201,
    'text/x',
    'hi',
  ],
  'Response.json': [() => Response.json({ a: 1 }), 200, 'application/json', '{"a":1}'],
  'a Response without body': [() => new Response(null, { status: 204 }), 204, undefined, ''],
  'a web stream': [() => new Response('ab').body, 200, bytes, 'ab'],
  'a Node.js stream': [() => Readable.from([Buffer.from('a'), Buffer.from('b')]), 200, bytes, 'ab'],
  'a generator': [
    function* () {
      yield 'a'
      yield new Uint8Array([0x62])
    },
    200,
    bytes,
    'ab',
  ],
  'an async generator': [
    async function* () {
      yield 'a'
      await new Promise((resolve) => setImmediate(resolve))
      yield 'é'
    },
    200,
    bytes,
    'aé',
  ],
  'an empty generator': [function* () {}, 200, bytes, ''],
  'ctx.stream with type': [
    (ctx) => ctx.stream(['a', 'b'], { type: 'text/x', status: 201 }),
    201,
    'text/x',
    'ab',
  ],
  'ctx.stream with a length': [(ctx) => ctx.stream(['ab', 'c'], { length: 3 }), 200, bytes, 'abc'],
  'a large string': [() => 'x'.repeat(300_000), 200, text, 'x'.repeat(300_000)],
  'a large buffer': [() => Buffer.alloc(300_000, 'y'), 200, bytes, 'y'.repeat(300_000)],
  'an error returned': [
    () => new Error('hidden'),
    500,
    'application/problem+json; charset=utf-8',
    '{"type":"about:blank","title":"Internal Server Error","status":500}',
  ],
}

/** What each returned value is on the wire. */
export function replyValues(kit: Kit): void {
  describe('replies', () => {
    for (const [name, [handler, status, type, body]] of Object.entries(table)) {
      const needs = name === 'an empty generator' ? kit.needs('streamed-head') : {}
      test(`${name}, by GET, HEAD and inject`, needs, async () => {
        const app = kit.app()
        app.get('/x', handler)
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/x')
          assert.equal(reply.status, status)
          assert.equal(reply.headers['content-type'], type)
          assert.equal(reply.text, body)
          assert.notEqual(reply.headers['date'], undefined)
          const head = await live.ask('/x', { method: 'HEAD' })
          assert.equal(head.status, status)
          assert.equal(head.headers['content-type'], type)
          assert.equal(head.headers['content-length'], reply.headers['content-length'])
          const injected = await app.inject('/x')
          assert.equal(injected.status, status)
          assert.equal(injected.headers['content-type'], type)
          assert.equal(injected.text(), body)
          assert.equal(injected.headers['content-length'], reply.headers['content-length'])
        })
      })
    }

    for (const value of ['a bigint', 'a function', 'a symbol', 'a circle']) {
      test(`${value} cannot be JSON: 500, not a crash`, async () => {
        const circle: Record<string, unknown> = {}
        circle['self'] = circle
        const values: Record<string, unknown> = {
          'a bigint': 1n,
          'a function': () => 1,
          'a symbol': Symbol('x'),
          'a circle': circle,
        }
        const app = kit.app()
        app.get('/sync', () => values[value])
        app.get('/async', async () => values[value])
        app.get('/json', async (ctx) => ctx.json(values[value]))
        await kit.serve(app, async (live) => {
          for (const path of ['/sync', '/async', '/json']) assert.equal((await live.ask(path)).status, 500)
        })
      })
    }
  })
}
