/** The members of an object's schema, as far as they can be told: a route's path may have no parameter that its input lacks. */
import { jsonSchemaOf } from './json-schema.ts'
import type { Schema } from '../types/parts.ts'

/** Whether the object may have a member: false only where the JSON Schema lists the members without it. */
export function mayHave(schema: Schema, member: string): boolean {
  const seen = membersSeen(schema)
  if (seen !== null) return seen.includes(member)
  const described = jsonSchemaOf(schema, 'input')
  const names = 'schema' in described ? ofJSONSchema(described.schema) : null
  return names === null || names.includes(member)
}

/**
 * The members of an object that has no others, as the schema's own structure shows them, because a start asks no library
 * for a JSON Schema. Null where the structure does not show them.
 */
export function membersSeen(schema: Schema): readonly string[] | null {
  try {
    const { vendor } = (schema as { '~standard'?: { vendor?: unknown } })['~standard'] ?? {}
    if (vendor === undefined) return ofJSONSchema(schema as object)
    if (vendor === 'zod') return ofZod(schema as unknown as ZodLike)
    if (vendor === 'valibot') return ofValibot(schema as unknown as ValibotLike)
    if (vendor === 'arktype') return ofArkType((schema as unknown as { json?: unknown }).json)
  } catch {
    // This version of the library keeps them elsewhere.
  }
  return null
}

/** Keywords of JSON Schema that may name further members. */
const open = [
  '$ref',
  '$dynamicRef',
  'allOf',
  'anyOf',
  'oneOf',
  'if',
  'dependentSchemas',
  'patternProperties',
  'unevaluatedProperties',
]

function ofJSONSchema(schema: object): readonly string[] | null {
  const { properties, required, additionalProperties = false } = schema as Record<string, unknown>
  if (typeof properties !== 'object' || properties === null || additionalProperties !== false) return null
  if (open.some((keyword) => Object.hasOwn(schema, keyword))) return null
  return [...Object.keys(properties), ...(Array.isArray(required) ? (required as string[]) : [])]
}

interface ZodLike {
  readonly _zod: {
    readonly def: {
      readonly type: string
      readonly shape?: object
      readonly catchall?: ZodLike
      readonly innerType?: ZodLike
      readonly in?: ZodLike
    }
  }
}

/** Schemas of Zod 4 that take the same members as the object they wrap. */
const aroundZod = new Set(['optional', 'default', 'prefault', 'nonoptional', 'readonly'])

function ofZod({ _zod: { def } }: ZodLike): readonly string[] | null {
  const { type, shape, catchall, innerType } = def
  if (type === 'pipe' && def.in !== undefined) return ofZod(def.in)
  if (aroundZod.has(type) && innerType !== undefined) return ofZod(innerType)
  if (type !== 'object' || shape === undefined) return null
  return catchall === undefined || catchall._zod.def.type === 'never' ? Object.keys(shape) : null
}

interface ValibotLike {
  readonly type: string
  readonly entries?: object
  readonly wrapped?: ValibotLike
}

function ofValibot({ type, entries, wrapped }: ValibotLike): readonly string[] | null {
  if (type === 'optional' && wrapped !== undefined) return ofValibot(wrapped)
  return (type === 'object' || type === 'strict_object') && entries !== undefined
    ? Object.keys(entries)
    : null
}

function ofArkType(json: unknown): readonly string[] | null {
  if (typeof json !== 'object' || json === null) return null
  const node = json as Record<string, unknown>
  if ('in' in node) return ofArkType(node['in'])
  if (node['domain'] !== 'object' || 'index' in node) return null
  const members = [node['required'], node['optional']].flatMap((each) => each ?? []) as { key: string }[]
  // `object` takes any members.
  return members.length === 0 ? null : members.map(({ key }) => key)
}
