/** Tells whether a value may match a schema, as far as is needed to tell the branches of a union apart. */
import { isObject, isSchema, type AnySchema, type JSONSchemaObject } from '../document.ts'
import { type SchemaDocument, itemsOf, record, schemasIn } from './alternatives.ts'

/** The levels of a value that are looked at: nested unions must cost a bounded amount. */
const deepest = 4
/** The items of an array that are looked at. */
const mostItems = 4

/**
 * Gives false only if the schema refuses the value. Formats, lengths and undeclared properties are not looked at, nor
 * are values with a `toJSON`, whose result is not known yet.
 */
export function mayMatch(value: unknown, schema: AnySchema, document: SchemaDocument): boolean {
  return mayMatchAt(value, schema, document, 0, 0)
}

/** `jumps` counts references and branches followed for this one value: they may lead in a circle. */
function mayMatchAt(
  value: unknown,
  schema: AnySchema,
  document: SchemaDocument,
  depth: number,
  jumps: number,
): boolean {
  if (!isObject(schema)) return schema !== false
  if (depth > deepest || jumps > mostJumps) return true
  if (typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === 'function') return true
  if (!mayHaveType(value, schema)) return false
  const here = (other: AnySchema) => mayMatchAt(value, other, document, depth, jumps + 1)
  if (schema.$ref !== undefined && !here(document.target(schema.$ref))) return false
  if (!schemasIn(schema.allOf).every(here)) return false
  for (const branches of [schemasIn(schema.anyOf), schemasIn(schema.oneOf)]) {
    if (branches.length > 0 && !branches.some(here)) return false
  }
  if (typeof value !== 'object' || value === null) return true
  const inside = (member: unknown, of: AnySchema) => mayMatchAt(member, of, document, depth + 1, 0)
  return Array.isArray(value)
    ? mayMatchItems(value, schema, inside)
    : mayMatchProperties(value, schema, inside)
}

/** The most references in a row, and branches within branches. */
const mostJumps = 16

type Inside = (member: unknown, schema: AnySchema) => boolean

function mayMatchItems(value: readonly unknown[], schema: JSONSchemaObject, inside: Inside): boolean {
  const { first, rest } = itemsOf(schema)
  return value.slice(0, mostItems).every((item, at) => inside(item, first[at] ?? rest ?? true))
}

function mayMatchProperties(value: object, schema: JSONSchemaObject, inside: Inside): boolean {
  const members = value as Record<string, unknown>
  for (const name of Array.isArray(schema.required) ? (schema.required as unknown[]) : []) {
    if (typeof name === 'string' && members[name] === undefined) return false
  }
  for (const [name, of] of Object.entries(record(schema.properties))) {
    const member = name === '__proto__' ? undefined : members[name]
    if (member !== undefined && isSchema(of) && !inside(member, of)) return false
  }
  return true
}

function mayHaveType(value: unknown, schema: JSONSchemaObject): boolean {
  if (value === undefined || typeof value === 'bigint') return true
  if (Object.hasOwn(schema, 'const') && differs(value, schema.const)) return false
  if (Array.isArray(schema.enum) && schema.enum.every((each) => differs(value, each))) return false
  const { type } = schema
  if (typeof type === 'string') return isOf(value, type)
  return Array.isArray(type) ? type.some((each) => isOf(value, each)) : true
}

/** Two objects never differ, since their members are not compared. */
function differs(value: unknown, other: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value !== other
  return typeof other !== 'object' || other === null
}

function isOf(value: unknown, type: unknown): boolean {
  switch (type) {
    case 'object':
      return typeof value === 'object' && value !== null && !Array.isArray(value)
    case 'array':
      return Array.isArray(value)
    case 'null':
      return value === null
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
