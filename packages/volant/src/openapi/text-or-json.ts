import type { JSONSchemaObject } from './types.ts'
import { isObject, type Resolve, resolverOf } from '../schema/document.ts'

/** What a value may be: text that is returned is sent as text, everything else as JSON. */
export interface Kinds {
  readonly text: boolean
  readonly json: boolean
}

/** Of the values a schema lets through; both where it does not say. */
export function kindsOf(raw: JSONSchemaObject): Kinds {
  return kinds(raw, resolverOf(raw), 0)
}

/** References may go in circles. */
const deepest = 16

function kinds(schema: unknown, resolve: Resolve, depth: number): Kinds {
  if (!isObject(schema) || depth > deepest) return { text: true, json: true }
  const { type, anyOf, oneOf, allOf, $ref } = schema
  if (typeof type === 'string') return { text: type === 'string', json: type !== 'string' }
  if (Array.isArray(type)) return either(type.map((each) => kinds({ type: each }, resolve, depth + 1)))
  if (schema['const'] !== undefined) return kindOf(schema['const'])
  if (Array.isArray(schema['enum'])) return either(schema['enum'].map(kindOf))
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return either(choices.map((each) => kinds(each, resolve, depth + 1)))
  if (Array.isArray(allOf)) return both(allOf.map((each) => kinds(each, resolve, depth + 1)))
  if (typeof $ref === 'string') return kinds(resolve($ref)?.schema, resolve, depth + 1)
  return { text: !isObject(schema['properties']), json: true }
}

function kindOf(value: unknown): Kinds {
  return { text: typeof value === 'string', json: typeof value !== 'string' }
}

function either(all: readonly Kinds[]): Kinds {
  return { text: all.some(({ text }) => text), json: all.some(({ json }) => json) }
}

function both(all: readonly Kinds[]): Kinds {
  return { text: all.every(({ text }) => text), json: all.every(({ json }) => json) }
}
