/** The input side of a plain JSON Schema: a property with a default need not be given. */
import type { NormalSchema } from './normalize.ts'
import type { JSONSchemaObject } from './document.ts'

/** The schema, whose `required` does not list properties with a default. */
export function relaxDefaults({ schema, hasDefaults }: NormalSchema): JSONSchemaObject {
  return hasDefaults ? (relaxed(schema) as JSONSchemaObject) : schema
}

/** Keywords whose schemas hold without condition: Ajv fills in no default below the others. */
const unconditional: Readonly<Record<string, 'one' | 'named' | 'list'>> = {
  properties: 'named',
  patternProperties: 'named',
  additionalProperties: 'one',
  items: 'one',
  prefixItems: 'list',
  allOf: 'list',
  $defs: 'named',
  definitions: 'named',
}

function relaxed(schema: unknown): unknown {
  if (typeof schema !== 'object' || schema === null) return schema
  const copy: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(schema)) {
    const kind = Object.hasOwn(unconditional, name) ? unconditional[name] : undefined
    if (kind === 'one') copy[name] = relaxed(value)
    else if (kind === 'list') copy[name] = (value as unknown[]).map(relaxed)
    else if (kind === 'named') {
      copy[name] = Object.fromEntries(
        Object.entries(value as object).map(([key, each]) => [key, relaxed(each)]),
      )
    } else copy[name] = value
  }
  const { required, properties } = copy as { required?: string[]; properties?: Record<string, unknown> }
  if (required === undefined || properties === undefined) return copy
  const asked = required.filter((name) => !(Object.hasOwn(properties, name) && hasDefault(properties[name])))
  if (asked.length > 0) copy.required = asked
  else delete copy.required
  return copy
}

function hasDefault(schema: unknown): boolean {
  return typeof schema === 'object' && schema !== null && Object.hasOwn(schema, 'default')
}
