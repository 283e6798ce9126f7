/** The property that tells the choices of a union apart (OpenAPI 3.1 §4.8.25): generators make better types of it. */
import type { OpenAPISchema } from './types.ts'
import { isObject } from '../schema/document.ts'

/**
 * Adds a discriminator to `schema` if each choice is a component, and each requires one property to be a constant text,
 * which differs from choice to choice. `resolve` gives the component that a reference leads to.
 */
export function discriminate(
  schema: OpenAPISchema,
  resolve: (ref: string) => OpenAPISchema | undefined,
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

function constantOf(schema: OpenAPISchema | undefined, name: string): string | undefined {
  const { properties, required } = schema ?? {}
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined
  if (!Array.isArray(required) || !required.includes(name) || !isObject(property)) return undefined
  return typeof property['const'] === 'string' ? property['const'] : undefined
}
