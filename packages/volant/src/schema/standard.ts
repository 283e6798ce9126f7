/** Gives every schema, of a library or plain, the `validate` of Standard Schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { VolantError } from '../errors/errors.ts'
import { type Validator, validatorOf, withFiles } from './check/ajv.ts'
import { isObject } from './document.ts'
import { isPlainSchema } from './normalize.ts'
import { keywords } from './keywords.ts'
import { vendorNamed, withFirstFaults } from './vendors/vendor-of.ts'
import { setOwn } from './strip/to-json.ts'
import { wrapSingleItems } from './check/wrap-single-items.ts'
import { textCoercer, type TextCoercer } from './check/coerce-text.ts'

/** The kind of value that is validated: text of the request's head, its body, a form, or what a handler gave. */
export type SchemaUse = 'text' | 'body' | 'form' | 'response'

/**
 * Gives the validation of a schema: a library's own, or Ajv for plain JSON Schema, compiled by the first value. Plain
 * JSON Schema converts text to its types (`text`, `form`) and fills in defaults (all but `response`). A library's schema gets a
 * list of one where it declares a list and refuses single text. Throws `E_BAD_SCHEMA`; `where` names the position.
 */
export function standardOf(schema: unknown, where: string, use: SchemaUse = 'body'): StandardSchemaV1.Props {
  const props = (schema as Partial<StandardSchemaV1> | null | undefined)?.['~standard']
  if (typeof props?.validate === 'function') {
    if (use === 'response') return props
    return use === 'text' || use === 'form'
      ? wrapSingleItems(schema as StandardSchemaV1, where)
      : withFirstFaults(schema as StandardSchemaV1)
  }
  if (props === undefined && isPlainSchema(schema)) return plain(validatorOf(schema, where), where, use)
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where} takes a schema with '~standard' (Zod 4, Valibot, ArkType, …) or JSON Schema (TypeBox, …), not ${nameOf(schema)}${remedyOf(schema)}`,
  )
}

/**
 * Throws `E_BAD_SCHEMA` as `standardOf` does, but does not read a `~standard` that a class defines: Zod 4 makes it when it
 * is first read.
 */
export function checkSchema(schema: unknown, where: string): void {
  const mayHaveMembers = (typeof schema === 'object' && schema !== null) || typeof schema === 'function'
  if (mayHaveMembers && '~standard' in schema && !Object.hasOwn(schema, '~standard')) return
  standardOf(schema, where)
}

function plain(validator: Validator, where: string, use: SchemaUse): StandardSchemaV1.Props {
  const props = { version: 1, vendor: 'ajv' } as const
  if (use === 'response') return { ...props, validate: (value) => validator.check(value, false, where) }
  if (use === 'body') {
    const { hasDefaults } = validator.normal
    return {
      ...props,
      validate: (value) => validator.check(hasDefaults ? copyOf(value) : value, true, where),
    }
  }
  let read: TextCoercer | null = null
  const checker = use === 'form' ? withFiles(validator) : validator
  return {
    ...props,
    validate: (value) => {
      read ??= textCoercer(validator.normal.schema)
      return checker.check(read(value), true, where)
    },
  }
}

/** Defaults are written into a copy, since others may hold the value. */
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null && Object.getPrototypeOf(prototype) !== null)
    return value
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const member = copyOf((value as Record<string, unknown>)[name])
    setOwn(copy, name, member)
  }
  return copy
}

/** Says what to write instead of the shape of another framework, or of a schema that accepts every value. */
function remedyOf(value: unknown): string {
  if (value === true) return everything
  if (!isObject(value)) return ''
  const { content, schema } = value
  if (isObject(content)) {
    const [type = 'application/json'] = Object.keys(content)
    return `: write the schema in its content[${JSON.stringify(type)}], alone`
  }
  const members = Object.entries(value)
  const schemas = members.filter(([, each]) => vendorOf(each) !== undefined)
  if (schemas.length === 1 && schema !== undefined && schemas[0]?.[1] === schema)
    return ': write the schema in it, alone'
  if (members.every(([name]) => keywords.has(name))) return everything
  const [name, member] = members[0] as [string, unknown]
  const vendor = vendorOf(member)
  if (vendor === undefined) return ''
  const wrapped = `{ ${name}: … }`
  if (vendor === null) return `: write { type: 'object', properties: ${wrapped} }`
  const wrap = vendorNamed(vendor).wrapper
  return wrap === undefined ? `: make one schema of ${wrapped}` : `: write ${wrap}(${wrapped})`
}

const everything =
  ", which every value passes. Where that is meant, z.unknown(), Type.Unknown() or { type: ['object', 'array', 'string', 'number', 'boolean', 'null'] } says so"

/** Gives the library of a schema, null for plain JSON Schema, undefined if it is no schema. */
function vendorOf(value: unknown): string | null | undefined {
  const vendor = (value as Partial<StandardSchemaV1> | null | undefined)?.['~standard']?.vendor
  return vendor ?? (isPlainSchema(value) ? null : undefined)
}

function nameOf(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'object'
    ? `an object with ${Object.keys(value).slice(0, 3).join(', ') || 'no keys'}`
    : typeof value
}
