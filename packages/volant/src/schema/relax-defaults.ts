/** The input side of a plain JSON Schema: a property with a default need not be given. */
import { isObject, type JSONSchemaObject, mapSubschemas } from './document.ts'
import type { NormalSchema } from './normalize.ts'

/** The schema, whose `required` does not list properties with a default. */
export function relaxDefaults({ schema, hasDefaults }: NormalSchema): JSONSchemaObject {
  return hasDefaults ? relaxed(schema) : schema
}

/** Keywords whose schemas hold without condition: Ajv fills in no default below the others. */
const unconditional: ReadonlySet<string> = new Set(
  '$defs additionalProperties allOf definitions items patternProperties prefixItems properties'.split(' '),
)

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
