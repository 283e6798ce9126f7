/** Tells whether a schema allows text, which a reply sends as text/plain, and other values, which it sends as JSON. */
import { isObject, type JSONSchemaObject, type Resolve, resolverOf } from './document.ts'

export interface TextOrJSON {
  readonly text: boolean
  readonly json: boolean
}

/** Both are true for a schema that does not say what type its values have. */
export function textOrJSON(schema: JSONSchemaObject): TextOrJSON {
  return allowed(schema, resolverOf(schema), 0)
}

/** References may go in circles. */
const deepest = 16

function allowed(schema: unknown, resolve: Resolve, depth: number): TextOrJSON {
  if (!isObject(schema) || depth > deepest) return { text: true, json: true }
  const { type, anyOf, oneOf, allOf, $ref, properties } = schema
  const inside = (each: unknown): TextOrJSON => allowed(each, resolve, depth + 1)
  if (typeof type === 'string') return only(type === 'string')
  if (Array.isArray(type)) return anyOfThem(type.map((each) => only(each === 'string')))
  if (schema['const'] !== undefined) return only(typeof schema['const'] === 'string')
  if (Array.isArray(schema['enum']))
    return anyOfThem(schema['enum'].map((value) => only(typeof value === 'string')))
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices)) return anyOfThem(choices.map(inside))
  if (Array.isArray(allOf)) {
    const all = allOf.map(inside)
    return { text: all.every(({ text }) => text), json: all.every(({ json }) => json) }
  }
  if (typeof $ref === 'string') return inside(resolve($ref)?.schema)
  return { text: !isObject(properties), json: true }
}

function only(text: boolean): TextOrJSON {
  return { text, json: !text }
}

function anyOfThem(all: readonly TextOrJSON[]): TextOrJSON {
  return { text: all.some(({ text }) => text), json: all.some(({ json }) => json) }
}
