/** Converts the schemas of all libraries to JSON Schema in the normal form. */
import { madeOnce } from './made-once.ts'
import { createRequire } from 'node:module'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { type Unrepresentable, withoutMarks } from './unrepresentable.ts'
import type { Schema } from '../types/schema.ts'
import { frozen, isPlainSchema, normalizeMade } from './normalize.ts'
import { validatorOf } from './check/ajv.ts'
import { membersOf } from './vendors/plain.ts'
import { membersSeen, vendorNamed } from './vendors/vendor-of.ts'
import { isThenable } from '../types/thenable.ts'
import { isObject, type JSONSchemaObject, mapSubschemas } from './document.ts'

/**
 * The JSON Schema, the parts that it says nothing about (`holes`), and pointers to the parts that accept text as well; or
 * the reason why there is none.
 */
export type ConvertedSchema =
  | {
      readonly schema: JSONSchemaObject
      readonly holes?: readonly Unrepresentable[]
      readonly texts?: ReadonlySet<string>
    }
  | { readonly opaque: string }

/** The value before the schema, or the one that the schema makes of it. */
export type Side = 'input' | 'output'

const known: Record<Side, WeakMap<object, ConvertedSchema>> = { input: new WeakMap(), output: new WeakMap() }

/**
 * Gives the JSON Schema of one side, made by the first call. Parts that JSON Schema cannot express (a transform, a
 * bigint) allow anything; a schema is opaque if its library has no JSON Schema at all.
 */
export function jsonSchemaOf(schema: Schema, io: Side): ConvertedSchema {
  return madeOnce(known[io], schema, () => describe(schema, io))
}

function describe(schema: Schema, io: Side): ConvertedSchema {
  const standard = (schema as Partial<StandardSchemaV1>)['~standard']
  try {
    if (standard === undefined && isPlainSchema(schema)) {
      const { normal } = validatorOf(schema, 'the schema')
      return {
        schema: io === 'input' && normal.hasDefaults ? frozen(relaxed(normal.schema)) : normal.schema,
      }
    }
    const { vendor, jsonSchema } = standard as StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>
    const libraryOptions = vendorNamed(vendor).conversion?.(io)
    if (typeof jsonSchema?.[io] === 'function') {
      const target = 'draft-2020-12'
      return normalForm(
        jsonSchema[io](libraryOptions === undefined ? { target } : { target, libraryOptions }),
      )
    }
    return vendor === 'valibot' ? byValibot(schema, io, libraryOptions) : opaque(vendor)
  } catch (error) {
    return { opaque: error instanceof Error ? error.message : String(error) }
  }
}

/** These keywords have schemas that hold without condition: Ajv fills in no default below the others. */
const unconditional: ReadonlySet<string> = new Set(
  '$defs additionalProperties allOf definitions items patternProperties prefixItems properties'.split(' '),
)

/** Gives the input side of a plain JSON Schema: `required` does not list properties with a default. */
function relaxed(schema: JSONSchemaObject): JSONSchemaObject {
  const inner = Object.entries(schema).filter(([keyword]) => unconditional.has(keyword))
  const { required, ...copy } = { ...schema, ...mapSubschemas(Object.fromEntries(inner), relaxed) }
  const { properties } = schema
  if (!Array.isArray(required) || !isObject(properties)) return { ...schema, ...copy }
  const asked = (required as string[]).filter(
    (name) => !(Object.hasOwn(properties, name) && hasDefault(properties[name])),
  )
  return asked.length > 0 ? { ...copy, required: asked } : copy
}

function hasDefault(schema: unknown): boolean {
  return isObject(schema) && Object.hasOwn(schema, 'default')
}

/** True where an object may have a member: false only where the JSON Schema lists the members without it. */
export function mayHave(schema: Schema, member: string): boolean {
  const seen = membersSeen(schema)
  if (seen !== null) return seen.includes(member)
  const described = jsonSchemaOf(schema, 'input')
  const names = 'schema' in described ? membersOf(described.schema) : null
  return names === null || names.includes(member)
}

function opaque(vendor: unknown): ConvertedSchema {
  return {
    opaque: `its library${typeof vendor === 'string' ? `, ${vendor},` : ''} has no JSON Schema for it`,
  }
}

/** Gives the normal form of what a library made. */
function normalForm(made: unknown): ConvertedSchema {
  if (isThenable(made)) {
    made.then(undefined, () => {})
    return { opaque: 'its library promises a JSON Schema, and nobody waits for it' }
  }
  const json = JSON.stringify(made) as string | undefined
  const { schema, holes, texts } = withoutMarks(json ?? 'null')
  return {
    schema: normalizeMade(schema),
    ...(holes.length > 0 && { holes }),
    ...(texts.size > 0 && { texts }),
  }
}

/** True where its library can make JSON Schema at all. Nothing is made to find out. */
export function hasConverter(schema: Schema): boolean {
  const standard = (schema as Partial<StandardSchemaV1>)['~standard'] as
    | (StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>)
    | undefined
  if (standard === undefined || typeof standard.jsonSchema === 'object') return true
  return standard.vendor === 'valibot' && (isInstalled ??= canLoad(valibotPackage))
}

/** Valibot keeps its JSON Schema in a package of its own, which need not be installed. */
const valibotPackage = '@valibot/to-json-schema'
const load = createRequire(import.meta.url)
let isInstalled: boolean | undefined

function byValibot(schema: Schema, io: Side, options: object | undefined): ConvertedSchema {
  if (!(isInstalled ??= canLoad(valibotPackage)))
    return { opaque: `Valibot has no JSON Schema for it unless ${valibotPackage} is installed` }
  const { toJsonSchema } = load(valibotPackage) as { toJsonSchema: (of: unknown, options: object) => unknown }
  return normalForm(toJsonSchema(schema, { ...options, typeMode: io, target: 'draft-2020-12' }))
}

function canLoad(name: string): boolean {
  try {
    load.resolve(name)
    return true
  } catch {
    return false
  }
}
