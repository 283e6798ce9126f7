/**
 * A value does not choose how much is done for it. Reads of the value are counted. What is done with what was read cannot
 * be: the values are so large that the steps of a square, 4 · 10^10 and more, outlast any run of tests. What a format
 * costs by the length of its text is in format-cost.test.ts.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run, told } from './kit.ts'

test('a large or recursive value does not choose how long it takes', () => {
  let reads = 0
  /** Has every read of a property be counted. */
  const counted = <T extends object>(value: T): T =>
    new Proxy(value, {
      get(target, name, receiver) {
        reads++
        return Reflect.get(target, name, receiver) as unknown
      },
    })
  const readsOf = (schema: unknown, value: unknown): number => {
    reads = 0
    const outcome = run(schema, value)
    assert.ok('value' in outcome || outcome.issues.length < 2_000)
    return reads
  }
  const numbers = { type: 'array', items: { type: 'number' } }
  const texts = Array.from({ length: 500_000 }, () => 'x')
  assert.ok(readsOf(numbers, counted(texts)) <= texts.length + 2)
  const objects = Array.from({ length: 300_000 }, (_, at) => counted({ id: at }))
  assert.ok(readsOf({ type: 'array', uniqueItems: true }, objects) <= objects.length)
  // Both alternatives fail at each level: to look for all faults would take 2^60 steps.
  const branch = (name: string) => ({
    type: 'object',
    properties: { t: { const: name }, next: { $ref: '#/$defs/node' } },
    required: ['t'],
  })
  const tree = { $ref: '#/$defs/node', $defs: { node: { anyOf: [branch('a'), branch('b')] } } }
  let deep: object = {}
  for (let level = 0; level < 60; level++) deep = counted({ t: level % 2 === 0 ? 'a' : 'b', next: deep })
  assert.ok(readsOf(tree, deep) <= 8 * 60)
  const wrong = Object.fromEntries(Array.from({ length: 250 }, (_, at) => [`k${at}`, 'x']))
  assert.equal(told({ type: 'object', additionalProperties: { type: 'number' } }, wrong).length, 250)
})
