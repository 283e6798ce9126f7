/** The property that tells the branches of a union apart by its value, where there is one. */
import { isObject, type JSONSchemaObject } from './document.ts'
import { type Reading, record } from './alternatives.ts'

/** A property's name, and its value in each branch. */
export interface Tag {
  readonly name: string
  readonly values: readonly (string | number | boolean)[]
}

/** Each branch must require the property and give it one value that no other branch has. */
export function tagOf(branches: readonly Reading[]): Tag | null {
  const [head] = branches
  if (head === undefined) return null
  for (const name of head.parts.flatMap((part) => Object.keys(record(part.properties)))) {
    if (name === '__proto__') continue
    const values = branches.flatMap(({ parts }) => valueIn(parts, name))
    if (values.length === branches.length && new Set(values).size === values.length) return { name, values }
  }
  return null
}

/** In a list; an empty one if the property can have another value, or none. */
function valueIn(parts: readonly JSONSchemaObject[], name: string): (string | number | boolean)[] {
  if (!parts.some((part) => Array.isArray(part.required) && part.required.includes(name))) return []
  const values = parts.flatMap((part) => {
    const properties = record(part.properties)
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (!isObject(schema)) return []
    return Array.isArray(schema.enum) && schema.enum.length === 1
      ? (schema.enum as unknown[])
      : [schema.const]
  })
  return values.filter(isTagValue).slice(0, 1)
}

function isTagValue(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
}
