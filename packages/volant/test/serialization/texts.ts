/** The text of a value, by all the ways in which it is written. */
import { serializerFor } from '../../src/schema/strip/serializer.ts'
import { strip } from '../../src/schema/strip/strip.ts'

export type Schema = Parameters<typeof strip>[1]

/** The text, or what was thrown instead. */
function outcome(serialize: (value: unknown) => string, value: unknown): string {
  try {
    return String(serialize(value))
  } catch (error) {
    return `threw ${(error as Error).name}`
  }
}

/** By all ways there are: compiled, walked, and JSON.stringify for what is stripped already. */
export function textsOf(schema: Schema, value: unknown): string[] {
  return [
    outcome(serializerFor(schema, { alreadyStripped: false }), value),
    outcome((given) => JSON.stringify(strip(given, schema)), value),
    outcome(serializerFor(schema, { alreadyStripped: true }), value),
    outcome(serializerFor(null, { alreadyStripped: false }), value),
  ]
}
