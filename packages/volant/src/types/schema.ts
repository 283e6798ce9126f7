/**
 * What a schema takes and gives, as types: from what a Standard Schema says of itself, or read off a JSON Schema whose
 * type is exact (TypeBox, or an object written in place). What cannot be read off is `unknown`, never a guess.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A schema: of any library that implements Standard Schema (Zod 4, Valibot, ArkType, …), or plain JSON Schema. */
export type Schema = StandardSchemaV1 | JSONSchema

/**
 * JSON Schema as an object: draft 2020-12, or the draft-06, draft-07 or 2019-09 its `$schema` names; TypeBox makes such
 * objects. Not all keywords are here: each of the draft counts, and others are ignored.
 */
export interface JSONSchema {
  /** The draft; default 2020-12. */
  readonly $schema?: string | undefined
  /** Name of the schema, for `$ref`. */
  readonly $id?: string | undefined
  /** Refers to another schema in this one: `#/$defs/Name`. */
  readonly $ref?: string | undefined
  /** Schemas to refer to, by name. */
  readonly $defs?: object | undefined
  /** What older drafts call `$defs`. */
  readonly definitions?: object | undefined
  /** `object`, `array`, `string`, `number`, `integer`, `boolean` or `null`; or several. */
  readonly type?: string | readonly string[] | undefined
  /** The one value allowed. */
  readonly const?: unknown
  /** The values allowed. */
  readonly enum?: readonly unknown[] | undefined
  /** Taken where a request leaves the property out. */
  readonly default?: unknown
  /** Schemas by property. */
  readonly properties?: object | undefined
  /** Properties there must be. */
  readonly required?: readonly string[] | undefined
  /** Schema of other properties; false for none. */
  readonly additionalProperties?: boolean | object | undefined
  /** Schemas by pattern of the name. */
  readonly patternProperties?: object | undefined
  /** Schema of the names. */
  readonly propertyNames?: object | boolean | undefined
  /** Like `additionalProperties`, after all that was combined. */
  readonly unevaluatedProperties?: boolean | object | undefined
  /** Schema of all items, or of those after `prefixItems`. */
  readonly items?: boolean | object | undefined
  /** Schemas of the first items, in their order. */
  readonly prefixItems?: readonly unknown[] | undefined
  /** One of them at least holds. */
  readonly anyOf?: readonly unknown[] | undefined
  /** Exactly one of them holds. */
  readonly oneOf?: readonly unknown[] | undefined
  /** All of them hold. */
  readonly allOf?: readonly unknown[] | undefined
  /** Must not hold. */
  readonly not?: unknown
  /** Decides between `then` and `else`. */
  readonly if?: unknown
  /** Regular expression of a string. */
  readonly pattern?: string | undefined
  /** Format of a string, for example `date-time`. */
  readonly format?: string | undefined
  /** The type of `Type.Unsafe` of TypeBox. */
  readonly '~unsafe'?: unknown
  /** What TypeBox made it as. */
  readonly '~kind'?: string | undefined
}

/** What a value must be to pass the schema. */
export type SchemaInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : Json<S, 'input'>

/** What the schema makes of it. */
export type SchemaOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Json<S, 'output'>

/** Defaults make a difference between what is taken and what is given. */
type Side = 'input' | 'output'

/** In the order in which one keyword says more than the next; siblings can only narrow what it allows. */
type Json<S, I extends Side> = S extends { static: infer T; params: readonly unknown[] }
  ? T // TypeBox 0.34 carries its type.
  : S extends { '~unsafe': infer T }
    ? T
    : S extends { const: infer T }
      ? T
      : S extends { enum: readonly (infer T)[] }
        ? T
        : S extends { type: infer T }
          ?
              | Typed<T extends readonly (infer U)[] ? U : T, S, I>
              | (S extends { nullable: true } ? null : never)
          : S extends { anyOf: readonly (infer T)[] } | { oneOf: readonly (infer T)[] }
            ? Json<T, I>
            : S extends { allOf: readonly (infer T)[] }
              ? All<T, I>
              : unknown

/** All of a union of schemas at once. */
type All<S, I extends Side> = (S extends unknown ? (value: Json<S, I>) => void : never) extends (
  value: infer T,
) => void
  ? T
  : never

type Typed<T, S, I extends Side> = T extends keyof Simple
  ? Simple[T]
  : T extends 'array'
    ? ArrayOf<S, I>
    : T extends 'object'
      ? ObjectOf<S, I>
      : unknown

interface Simple {
  string: string
  number: number
  integer: number
  boolean: boolean
  null: null
}

type ArrayOf<S, I extends Side> = S extends { items: infer T extends readonly unknown[]; '~kind': string }
  ? Tuple<T, I>
  : S extends { prefixItems: infer T extends readonly unknown[]; items: false; minItems: infer N }
    ? N extends T['length']
      ? Tuple<T, I>
      : unknown[]
    : S extends { prefixItems: unknown }
      ? unknown[]
      : S extends { items: infer T extends object }
        ? T extends readonly unknown[]
          ? unknown[]
          : Json<T, I>[]
        : unknown[]

type Tuple<T extends readonly unknown[], I extends Side> = { -readonly [K in keyof T]: Json<T[K], I> }

type ObjectOf<S, I extends Side> = S extends { properties: infer P extends object }
  ? Properties<P, RequiredOf<S, P, I>, I>
  : S extends { additionalProperties: infer T extends object }
    ? Record<string, Json<T, I>>
    : S extends { patternProperties: infer P extends object; '~kind': 'Record' }
      ? Record<string, Json<P[keyof P], I>>
      : S extends { additionalProperties: false }
        ? {}
        : Record<string, unknown>

type Properties<P, R, I extends Side> = { -readonly [K in keyof P & R]: Json<P[K], I> } & {
  -readonly [K in Exclude<keyof P, R>]?: Json<P[K], I>
}

/** TypeBox marks what is optional; elsewhere `required` counts, and what has a default is always given. */
type RequiredOf<S, P, I extends Side> = S extends { '~kind': string }
  ? { [K in keyof P]: P[K] extends { '~optional': true } ? never : K }[keyof P]
  :
      | (S extends { required: readonly (infer R)[] } ? R : never)
      | (I extends 'output'
          ? { [K in keyof P]: P[K] extends { default: unknown } ? K : never }[keyof P]
          : never)
