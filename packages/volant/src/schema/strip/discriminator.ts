/** The discriminator of a union: a property whose value tells the branches apart. */
import { isObject, type JSONSchemaObject } from '../document.ts'
import { type Alternative, record } from './alternatives.ts'

type Primitive = string | number | boolean

/** Gives the property, and its value in each branch; null unless each branch requires the property and allows one value that no other branch allows. */
export function discriminatorOf(
  branches: readonly Alternative[],
): { readonly name: string; readonly values: readonly Primitive[] } | null {
  for (const name of (branches[0]?.parts ?? []).flatMap((part) => Object.keys(record(part.properties)))) {
    if (name === '__proto__') continue
    const values = branches.flatMap(({ parts }) => valueIn(parts, name))
    if (values.length === branches.length && new Set(values).size === values.length) return { name, values }
  }
  return null
}

/** Gives a list of the one value; empty if the property may have another value or be missing. */
function valueIn(parts: readonly JSONSchemaObject[], name: string): Primitive[] {
  if (!parts.some((part) => Array.isArray(part.required) && part.required.includes(name))) return []
  const values = parts.flatMap((part) => {
    const properties = record(part.properties)
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isObject(schema)) return []
    return Array.isArray(schema.enum) && schema.enum.length === 1
      ? (schema.enum as unknown[])
      : [schema.const]
  })
  return values.filter(isPrimitive).slice(0, 1)
}

function isPrimitive(value: unknown): value is Primitive {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
