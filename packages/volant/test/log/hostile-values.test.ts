/** Values that cannot be written, or not as they are. */
import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { describe, test } from 'node:test'
import { Kit } from '../kit.ts'
import { type Line, linesOf, membersOf } from './lines-of.ts'

const kit = new Kit()

describe('hostile values', () => {
  const thrower = new Proxy(
    {},
    {
      get: () => {
        throw new Error('get')
      },
      ownKeys: () => {
        throw new Error('keys')
      },
      getPrototypeOf: () => {
        throw new Error('prototype')
      },
    },
  )
  const round: Record<string, unknown> = { a: 1 }
  round['self'] = { round }
  const rows: [string, unknown, Record<string, unknown>][] = [
    [
      'a getter that throws',
      {
        get a(): never {
          throw new Error('no')
        },
        b: 1,
      },
      { a: '[Unreadable]', b: 1 },
    ],
    ['a toJSON that throws', { a: { toJSON: () => thrower.constructor } }, { a: '[Unreadable]' }],
    [
      'a toJSON that gives itself',
      {
        a: {
          toJSON() {
            return this
          },
          b: 1,
        },
      },
      { a: { b: 1 } },
    ],
    ['a cycle', { round }, { round: { a: 1, self: { round: '[Circular]' } } }],
    ['a BigInt', { a: 2n ** 80n, b: -5n }, { a: String(2n ** 80n), b: -5 }],
    ['a BigInt of a million digits', { a: 1n << 4_000_000n }, { a: '[BigInt]' }],
    ['a proxy that throws', { a: thrower, b: 1 }, { a: '[Unreadable]', b: 1 }],
    ['a proxy in front', thrower, {}],
    ['bytes', { a: Buffer.alloc(1e6), b: new ArrayBuffer(3) }, { a: '[1000000 bytes]', b: '[3 bytes]' }],
    ['a map and a set', { a: new Map([['x', 1]]), b: new Set([1, 2]) }, { a: { x: 1 }, b: [1, 2] }],
    ['an emitter', { socket: new EventEmitter() }, { socket: '[EventEmitter]' }],
    ['an invalid date', { a: new Date(NaN) }, { a: null }],
    ['a sparse array', { a: Object.assign([], { length: 4_000_000_000 }).length }, { a: 4_000_000_000 }],
    ['a prototype', JSON.parse('{"__proto__":{"a":1}}'), JSON.parse('{"__proto__":{"a":1}}')],
  ]
  for (const [name, given, wanted] of rows) {
    test(name, () => assert.deepEqual(Object.entries(membersOf(given)), Object.entries(wanted)))
  }

  test('an error whose members throw', () => {
    const error = new Error('x')
    for (const name of ['message', 'stack', 'cause', 'code', 'name', 'constructor']) {
      const bad = Object.defineProperty(new Error('x'), name, {
        get: () => {
          throw new Error(`no ${name}`)
        },
      })
      const [line] = linesOf((log) => log.error(bad, 'x')) as [Line]
      assert.equal(line.level, 50)
    }
    error.cause = error
    const [line] = linesOf((log) => log.error(error, 'x')) as [Line]
    assert.equal(String(line.err['stack']).match(/caused by/g)?.length, 5)
  })

  test('no line is longer than its bound, however deep, wide or long a value is', () => {
    let deep: unknown = 'bottom'
    for (let at = 0; at < 100_000; at++) deep = { deep }
    const values: unknown[] = [
      { deep },
      {
        wide: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`key${at}`, 'x'.repeat(1_000)])),
      },
      { list: Array.from({ length: 1e6 }, () => 'x'.repeat(1_000)) },
      { text: '\n'.repeat(1e7) },
      { ['n'.repeat(1e6)]: 1 },
      new Error('m'.repeat(1e7), { cause: new Error('c'.repeat(1e7)) }),
      { errors: Array.from({ length: 1_000 }, () => new Error('m'.repeat(1e5))) },
    ]
    const sizes: number[] = []
    const app = kit.app({ log: { destination: { write: (text) => void sizes.push(text.length) } } })
    for (const value of values) app.log.info(value, 'm'.repeat(1e6))
    assert.equal(sizes.length, values.length)
    for (const [at, size] of sizes.entries()) assert.ok(size < 600_000, `${at}: ${size}`)
    const { deep: shown } = membersOf({ deep })
    assert.match(JSON.stringify(shown), /"\[Object\]"/)
  })
})
