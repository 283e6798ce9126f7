/** Lists the properties of a schema for the path, the query, the headers or the cookies of a request. */
import type { OpenAPISchema } from './types.ts'
import { isObject, type Resolve, resolverOf } from '../schema/document.ts'

/** A property of an object schema. */
export interface Property {
  readonly name: string
  readonly required: boolean
  readonly raw: OpenAPISchema
}

/** Gives null for a schema of another type, for one of any names, and for one whose properties depend on each other. */
export function propertiesOf(raw: OpenAPISchema): Property[] | null {
  const found = collected(raw, resolverOf(raw), 0)
  if (found === null) return null
  return [...found.properties].map(([name, each]) => ({
    name,
    required: found.required.has(name),
    raw: each,
  }))
}

interface Collected {
  readonly properties: Map<string, OpenAPISchema>
  readonly required: Set<string>
}

/** The most levels of `allOf` and `$ref`, since references may go in circles. */
const deepest = 16

function collected(raw: OpenAPISchema, resolve: Resolve, depth: number): Collected | null {
  if (depth > deepest) return null
  if (['anyOf', 'oneOf', 'not', 'if', 'patternProperties'].some((each) => raw[each] !== undefined))
    return null
  const { $ref, allOf, properties, additionalProperties, required, type } = raw
  const found: Collected = {
    properties: new Map(isObject(properties) ? Object.entries(properties).filter(hasSchema) : []),
    required: new Set(Array.isArray(required) ? (required as string[]) : []),
  }
  const parts: unknown[] = Array.isArray(allOf) ? [...allOf] : []
  if (typeof $ref === 'string') parts.push(resolve($ref)?.schema)
  for (const part of parts) {
    const inside = isObject(part) ? collected(part, resolve, depth + 1) : null
    if (inside === null) return null
    for (const [name, each] of inside.properties) {
      const before = found.properties.get(name)
      found.properties.set(name, before === undefined ? each : { allOf: [before, each] })
    }
    for (const name of inside.required) found.required.add(name)
  }
  const isList = found.properties.size > 0 || additionalProperties === false || type === undefined
  return isList || additionalProperties === undefined ? found : null
}

function hasSchema(entry: [string, unknown]): entry is [string, OpenAPISchema] {
  return isObject(entry[1])
}
