/** Decides when undeclared properties are stripped: before the schema validates a reply, after it, or by the schema. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Schema } from '../../types/parts.ts'
import type { JSONSchemaObject } from '../document.ts'
import { type ConvertedSchema, jsonSchemaOf } from '../json-schema.ts'
import { strip } from './strip.ts'
import { vendorNamed } from '../vendors/vendor-of.ts'
import { hasToJSON, Unwritable, jsonForm } from './to-json.ts'

/** The way in which the values of one schema are checked. */
export interface StripPlan {
  /** Makes the value that the schema validates; null if that is the value itself. */
  readonly prepare: ((value: unknown) => unknown) | null
  /** True if the output of the schema has no undeclared property. */
  readonly alreadyStripped: boolean
}

/**
 * Plain JSON Schema validates the JSON form of a value. Other libraries validate the value itself, a Date as a Date.
 * Properties that the schema does not declare are stripped first: a transform could copy them into its output, and a
 * strict schema would reject them in production, where they have to be left out.
 */
export function stripPlanOf(schema: Schema, { vendor }: StandardSchemaV1.Props): StripPlan {
  const input = partOf(jsonSchemaOf(schema, 'input'))
  if (!('~standard' in schema)) {
    if (input === null) return { prepare: jsonForm, alreadyStripped: false }
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
  // A schema that passes the value on can be stripped after it, which generated code does faster.
  return {
    prepare: isPassed ? (value) => (hasToJSON(value) ? prepare(value) : value) : prepare,
    alreadyStripped: isCopy,
  }
}

/** Gives the JSON form of a value. If JSON cannot express the value, its undeclared properties may be the reason. */
function sendable(value: unknown, schema: JSONSchemaObject): unknown {
  try {
    return jsonForm(value)
  } catch (error) {
    if (!(error instanceof Unwritable || error instanceof RangeError)) throw error
    return jsonForm(strip(value, schema))
  }
}

function partOf(described: ConvertedSchema): JSONSchemaObject | null {
  return 'schema' in described ? described.schema : null
}

type Keywords = Readonly<Record<string, unknown>>

const isStrict = (schema: Keywords): boolean =>
  schema.additionalProperties === false || schema.unevaluatedProperties === false

/** Each side of an intersection makes its own copy, and a side that makes none lets every property through. */
const isIntersection = (schema: Keywords): boolean => Array.isArray(schema.allOf)

/** True if it holds for the schema or for any part of it. */
function some(schema: unknown, holds: (schema: Keywords) => boolean): boolean {
  if (typeof schema !== 'object' || schema === null) return false
  return holds(schema as Keywords) || Object.values(schema).some((each) => some(each, holds))
}
