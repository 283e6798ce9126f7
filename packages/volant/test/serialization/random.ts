/** Schemas and values that a seed decides. */
import { Random } from '@volant/test-kit'
import { normalizeMade } from '../../src/schema/normalize.ts'
import type { Schema } from './texts.ts'

const names = ['a', 'b', 'c', 'x-d', 'x-e', '7', 'toJSON', 'kind']

export class RandomSchemas extends Random {
  /** Whether values are such as JSON.parse gives. */
  readonly #isPlain: boolean

  constructor(seed: number, isPlain: boolean) {
    super(seed)
    this.#isPlain = isPlain
  }

  schema(depth: number): Schema {
    const deeper = () => this.schema(depth - 1)
    switch (this.below(depth <= 0 ? 3 : 12)) {
      case 0:
        return {}
      case 1:
        return { type: this.pick(['string', 'number', 'integer', 'boolean', 'null', 'object', 'array']) }
      case 2:
        return this.pick([
          { $ref: '#' },
          { $ref: '#/$defs/one' },
          { $ref: '#two' },
          { type: ['string', 'null'] },
        ])
      case 3:
        return { type: 'array', items: deeper() }
      case 4:
        return { prefixItems: [deeper(), deeper()], ...(this.below(2) === 0 ? { items: deeper() } : {}) }
      case 5:
        return { allOf: [deeper(), deeper()] }
      case 6:
        return { [this.pick(['anyOf', 'oneOf'])]: [deeper(), deeper(), { type: 'null' }] }
      case 7:
        return {
          oneOf: [1, 2].map((kind) => ({
            type: 'object',
            properties: { kind: { const: kind }, [this.pick(names)]: deeper() },
            required: ['kind'],
          })),
        }
      case 8:
        return {
          patternProperties: { '^x-': deeper() },
          additionalProperties: this.pick([true, false, deeper()]),
        }
      default: {
        const own = names.filter(() => this.below(2) === 0)
        const rest = this.pick([
          {},
          {},
          {},
          { additionalProperties: false },
          { additionalProperties: deeper() },
        ])
        return {
          type: 'object',
          properties: Object.fromEntries(own.map((name) => [name, deeper()])),
          required: own.filter(() => this.below(3) === 0),
          ...rest,
        }
      }
    }
  }

  document(): Schema {
    const root = { ...this.schema(3) }
    const $defs = { one: this.schema(2), two: { $anchor: 'two', ...this.schema(1) } }
    return normalizeMade({ ...root, $defs })
  }

  value(depth: number): unknown {
    const deeper = () => this.value(depth - 1)
    switch (this.below(depth <= 0 ? 4 : 10)) {
      case 0:
        return this.pick([0, 1, 2, -1.5, 2 ** 53])
      case 1:
        return this.pick(['', 'a', 'ü"\\\n', '\u2028'])
      case 2:
        return this.pick([true, false, null])
      case 3:
        return this.#isPlain ? null : this.#odd()
      case 4:
        return Array.from({ length: this.below(4) }, deeper)
      default: {
        const order = names.filter(() => this.below(2) === 0).sort(() => this.below(3) - 1)
        return Object.fromEntries(order.map((name) => [name, name === 'kind' ? this.below(3) : deeper()]))
      }
    }
  }

  #odd(): unknown {
    class Model {
      readonly made: unknown
      constructor(made: unknown) {
        this.made = made
      }
      toJSON() {
        return this.made
      }
    }
    return this.pick<() => unknown>([
      () => undefined,
      () => NaN,
      () => -0,
      () => '\ud800',
      () => new Date(1e12),
      () => Symbol('s'),
      () => () => 1,
      () => 1n,
      () => new Map([['a', 1]]),
      () => Buffer.from('a'),
      () => new Model(this.value(1)),
      () => Object.assign(Object.create(null) as object, { b: 1, a: 2 }),
      () => Object.assign(Object.create({ a: 1 }) as object, { c: 1, b: 2 }),
      () => {
        const circle: Record<string, unknown> = { a: 1 }
        circle.b = circle
        return circle
      },
    ])()
  }
}
