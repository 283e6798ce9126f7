/** Chooses how a reply becomes JSON text without undeclared properties. */
import type { JSONSchemaObject } from '../document.ts'
import { rootNodeOf } from './schema-node.ts'
import { compileStrip } from './strip-codegen.ts'
import { strip } from './strip.ts'
import type { StripPlan } from './strip-plan.ts'

/**
 * Gives or throws what JSON.stringify does for the stripped value; like JSON.stringify, it gives undefined for a value
 * that JSON leaves out.
 */
export type Serializer = (value: unknown) => string

/**
 * Gives the serializer for values of `schema`, a JSON Schema in the normal form; null if the values have none. Nothing
 * is compiled before the first call. The schema must not come from a client. docs/decisions/0009-serializers.md has the
 * measurements behind the choice.
 */
export function serializerFor(
  schema: JSONSchemaObject | null,
  { alreadyStripped }: Pick<StripPlan, 'alreadyStripped'>,
): Serializer {
  if (schema === null || alreadyStripped) return JSON.stringify
  let serialize: Serializer = (value) => {
    serialize = stripping(schema)
    return serialize(value)
  }
  return (value) => serialize(value)
}

function stripping(schema: JSONSchemaObject): Serializer {
  const node = rootNodeOf(schema)
  if (node.keepsAll) return JSON.stringify
  const walked: Serializer = (value) => JSON.stringify(strip(value, schema))
  const project = compileStrip(node)
  if (project === null) return walked
  return (value) => {
    let projected: unknown
    try {
      projected = project(value)
    } catch {
      return walked(value)
    }
    return JSON.stringify(projected)
  }
}
