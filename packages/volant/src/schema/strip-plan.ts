/** What is done to a value before its schema sees it, and what is left to do after. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Schema } from '../types/parts.ts'
import type { JSONSchemaObject } from './document.ts'
import { type Described, jsonSchemaOf } from './json-schema.ts'
import { strip } from './strip.ts'
import { vendorNamed } from './vendors/vendor-of.ts'
import { isRewritten, Unwritable, written } from './to-json.ts'

/** How values of one schema are prepared. */
export interface Preparation {
  /** What the schema is asked about; null where that is the value as it is. */
  readonly prepare: ((value: unknown) => unknown) | null
  /** True if nothing undeclared is in what the schema makes of it. */
  readonly alreadyStripped: boolean
}

/**
 * Plain JSON Schema validates the JSON form of a value. Other libraries validate the value itself, a Date as a Date.
 * Properties that the schema does not declare are stripped first: a transform could copy them into its output, and a
 * strict schema would reject them in production, where they have to be left out.
 */
export function preparationOf(schema: Schema, { vendor }: StandardSchemaV1.Props): Preparation {
  const input = partOf(jsonSchemaOf(schema, 'input'))
  if (!('~standard' in schema)) {
    if (input === null) return { prepare: written, alreadyStripped: false }
    if (!some(input, isStrict)) return { prepare: (value) => sendable(value, input), alreadyStripped: false }
    return { prepare: (value) => strip(sendable(value, input), input), alreadyStripped: true }
  }
  const output = partOf(jsonSchemaOf(schema, 'output'))
  const isCopy =
    vendorNamed(vendor).copies === true &&
    ![input, output].some((each) => each !== null && some(each, isIntersection))
  if (input === null || (isCopy && !some(input, isStrict))) return { prepare: null, alreadyStripped: isCopy }
  const prepare = (value: unknown): unknown => strip(value, input)
  const isPassed = !isCopy && !some(input, isStrict) && JSON.stringify(input) === JSON.stringify(output)
  // Without a transform, what is undeclared can go afterwards, which generated code does.
  return {
    prepare: isPassed ? (value) => (isRewritten(value) ? prepare(value) : value) : prepare,
    alreadyStripped: isCopy,
  }
}

/** As JSON says it. What JSON cannot say is looked at again without what is not declared, which nobody is sent. */
function sendable(value: unknown, schema: JSONSchemaObject): unknown {
  try {
    return written(value)
  } catch (error) {
    if (!(error instanceof Unwritable || error instanceof RangeError)) throw error
    return written(strip(value, schema))
  }
}

function partOf(described: Described): JSONSchemaObject | null {
  return 'schema' in described ? described.schema : null
}

type Members = Readonly<Record<string, unknown>>

const isStrict = (schema: Members): boolean =>
  schema.additionalProperties === false || schema.unevaluatedProperties === false

/** Each side of it makes its own copy, and one that makes none lets everything through. */
const isIntersection = (schema: Members): boolean => Array.isArray(schema.allOf)

/** Whether it holds of this schema or of anything in it. */
function some(schema: unknown, holds: (schema: Members) => boolean): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return holds(schema as Members) || Object.values(schema).some((each) => some(each, holds))
}
