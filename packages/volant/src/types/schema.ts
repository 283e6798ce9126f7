/**
 * The input and output of a schema, as types: from what a Standard Schema declares, or from a JSON Schema whose type is
 * exact (TypeBox, or an object literal). A type that cannot be derived is `unknown`, never a guess.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'

/** A schema: of any library that implements Standard Schema (Zod 4, Valibot, ArkType, …), or plain JSON Schema. */
export type Schema = StandardSchemaV1 | JSONSchema

/**
 * JSON Schema as an object: draft 2020-12, or the draft-06, draft-07 or 2019-09 that its `$schema` names; TypeBox makes
 * such objects. Not all keywords are listed here: each keyword of the draft has its meaning, and others are ignored.
 */
export interface JSONSchema {
  /** The draft. Default: 2020-12. */
  readonly $schema?: string | undefined
  /** The name of the schema, for `$ref`. */
  readonly $id?: string | undefined
  /** Refers to another schema in this one: `#/$defs/Name`. */
  readonly $ref?: string | undefined
  /** The schemas to refer to, by name. */
  readonly $defs?: object | undefined
  /** The name of `$defs` in older drafts. */
  readonly definitions?: object | undefined
  /** The type, `object`, `array`, `string`, `number`, `integer`, `boolean` or `null`; or several. */
  readonly type?: string | readonly string[] | undefined
  /** The one value allowed. */
  readonly const?: unknown
  /** The values allowed. */
  readonly enum?: readonly unknown[] | undefined
  /** The value that is used where a request leaves the property out. */
  readonly default?: unknown
  /** The schemas by property. */
  readonly properties?: object | undefined
  /** The names of the required properties. */
  readonly required?: readonly string[] | undefined
  /** The schema of other properties; false refuses them. */
  readonly additionalProperties?: boolean | object | undefined
  /** The schemas by a pattern of the property's name. */
  readonly patternProperties?: object | undefined
  /** The schema of the properties' names. */
  readonly propertyNames?: object | boolean | undefined
  /** The schema of properties that no other keyword, combined schemas included, has checked. */
  readonly unevaluatedProperties?: boolean | object | undefined
  /** The schema of all items, or of those after `prefixItems`. */
  readonly items?: boolean | object | undefined
  /** The schemas of the first items, in their order. */
  readonly prefixItems?: readonly unknown[] | undefined
  /** At least one of these schemas has to accept the value. */
  readonly anyOf?: readonly unknown[] | undefined
  /** Exactly one of these schemas has to accept the value. */
  readonly oneOf?: readonly unknown[] | undefined
  /** The value has to pass each of these schemas. */
  readonly allOf?: readonly unknown[] | undefined
  /** This schema has to reject the value. */
  readonly not?: unknown
  /** The condition that decides between `then` and `else`. */
  readonly if?: unknown
  /** A regular expression that a string has to match. */
  readonly pattern?: string | undefined
  /** The format of a string, for example `date-time`. */
  readonly format?: string | undefined
  /** The type that `Type.Unsafe` of TypeBox carries. */
  readonly '~unsafe'?: unknown
  /** The kind of type that TypeBox made. */
  readonly '~kind'?: string | undefined
}

/** The type that a value needs to pass the schema. */
export type SchemaInput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferInput<S> : Json<S, 'input'>

/** The type of the schema's output. */
export type SchemaOutput<S> = S extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<S> : Json<S, 'output'>

/** A property with a default is optional in the input and always there in the output. */
type Side = 'input' | 'output'

/**
 * The keywords are tried from the most exact to the least. Keywords beside the first match could only narrow its type.
 */
type Json<S, I extends Side> = S extends { static: infer T; params: readonly unknown[] }
  ? T // TypeBox 0.34 carries its type.
  : S extends { '~unsafe': infer T }
    ? T
    : S extends { const: infer T }
      ? T
      : S extends { enum: readonly (infer T)[] }
        ? T
        : S extends { type: 'string'; format: 'binary' }
          ? File // Only forms have files.
          : S extends { type: infer T }
            ?
                | Typed<T extends readonly (infer U)[] ? U : T, S, I>
                | (S extends { nullable: true } ? null : never)
            : S extends { anyOf: readonly (infer T)[] } | { oneOf: readonly (infer T)[] }
              ? Json<T, I>
              : S extends { allOf: readonly (infer T)[] }
                ? All<T, I>
                : unknown

/** The intersection of a union of schemas. */
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

/**
 * TypeBox marks optional properties. In other schemas `required` counts, and a property with a default is always in the
 * output.
 */
type RequiredOf<S, P, I extends Side> = S extends { '~kind': string }
  ? { [K in keyof P]: P[K] extends { '~optional': true } ? never : K }[keyof P]
  :
      | (S extends { required: readonly (infer R)[] } ? R : never)
      | (I extends 'output'
          ? { [K in keyof P]: P[K] extends { default: unknown } ? K : never }[keyof P]
          : never)
