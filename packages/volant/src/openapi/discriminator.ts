/** Which property tells the choices of a union apart (OpenAPI 3.1 §4.8.25): generators make better types of it. */
import type { JSONSchemaObject } from './types.ts'
import { isObject } from '../schema/document.ts'

/**
 * Adds a discriminator to `schema` where every choice is a component, and one property of all of them is a required
 * constant text, another one in each. `resolve` gives what a reference leads to.
 */
export function discriminate(
  schema: JSONSchemaObject,
  resolve: (ref: string) => JSONSchemaObject | undefined,
): void {
  const choices = schema['oneOf'] ?? schema['anyOf']
  if (!Array.isArray(choices) || choices.length < 2) return
  const refs = choices.map((choice) => (isObject(choice) ? choice['$ref'] : undefined))
  const branches = refs.map((ref) => (typeof ref === 'string' ? resolve(ref) : undefined))
  const first = branches[0]?.['properties']
  if (!isObject(first)) return
  for (const propertyName of Object.keys(first)) {
    const values = branches.map((branch) => constantOf(branch, propertyName))
    if (values.includes(undefined) || new Set(values).size < values.length) continue
    const mapping = Object.fromEntries(values.map((value, at) => [value, refs[at]]))
    schema['discriminator'] = { propertyName, mapping }
    return
  }
}

function constantOf(schema: JSONSchemaObject | undefined, name: string): string | undefined {
  const { properties, required } = schema ?? {}
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!Array.isArray(required) || !required.includes(name) || !isObject(property)) return undefined
  return typeof property['const'] === 'string' ? property['const'] : undefined
}
