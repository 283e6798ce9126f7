import type { JSONSchemaObject } from '../schema/json-schema.ts'

/** JSON Pointer (RFC 6901) of the first property that `schema` does not name; null if there is none. */
export function undeclared(value: unknown, schema: JSONSchemaObject, at = ''): string | null {
  if (typeof value !== 'object' || value === null) return null
  const { properties, additionalProperties, items } = schema
  for (const [name, inner] of Object.entries(value)) {
    const own = Array.isArray(value) ? items : (properties as JSONSchemaObject | undefined)?.[name]
    if (typeof own === 'object' && own !== null) {
      const found = undeclared(inner, own as JSONSchemaObject, `${at}/${name}`)
      if (found !== null) return found
    } else if (!Array.isArray(value) && properties !== undefined && !additionalProperties)
      return `${at}/${name}`
  }
  return null
}
