/** What a reference in a JSON Schema leads to. Libraries write pointers with and without their escapes. */
import type { JSONSchemaObject } from './types.ts'
import { isObject, mapSubschemas } from './subschemas.ts'

export interface Target {
  /** `true` and `false` are schemas, too. */
  readonly schema: JSONSchemaObject | boolean
  /** What it is called where it stands. */
  readonly key: string
  /** It stands among definitions, where that is its name. */
  readonly isDefinition: boolean
}

/** Null for what is not in the schema. */
export type Resolve = (ref: string) => Target | null

/** Of the references in `root`. */
export function resolverOf(root: JSONSchemaObject): Resolve {
  const known = new Map<string, Target | null>()
  let named: Map<string, Target> | null = null
  return (ref) => {
    let target = known.get(ref)
    if (target === undefined) {
      target = ref === '#' || ref.startsWith('#/') ? pointedAt(root, ref) : null
      target ??= (named ??= namedIn(root)).get(ref) ?? null
      known.set(ref, target)
    }
    return target
  }
}

/** RFC 6901 §6; then as it stands; then with whatever follows `$defs/` as one key. */
function pointedAt(root: JSONSchemaObject, ref: string): Target | null {
  const [, ...keys] = ref.split('/')
  const [first = '', ...rest] = keys
  const whole = rest.join('/')
  return (
    walked(root, keys.map(decoded).map(unescaped)) ??
    walked(root, keys.map(unescaped)) ??
    walked(root, [decoded(first), decoded(whole)]) ??
    walked(root, [decoded(first), whole])
  )
}

function walked(root: JSONSchemaObject, keys: readonly string[]): Target | null {
  let at: unknown = root
  for (const key of keys) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return null
    at = (at as JSONSchemaObject)[key]
  }
  if (typeof at !== 'boolean' && !isObject(at)) return null
  return { schema: at, key: keys.at(-1) ?? '', isDefinition: definitionKeywords.includes(keys.at(-2) ?? '') }
}

/** By `$id`, by anchor, and by the bare key that some libraries refer to. */
function namedIn(root: JSONSchemaObject): Map<string, Target> {
  const named = new Map<string, Target>()
  const put = (name: unknown, target: Target): void => {
    if (typeof name === 'string' && !named.has(name)) named.set(name, target)
  }
  const visit = (schema: JSONSchemaObject, key: string, isDefinition: boolean): JSONSchemaObject => {
    const target = { schema, key, isDefinition }
    put(schema['$id'], target)
    for (const anchor of [schema['$anchor'], schema['$dynamicAnchor']])
      if (typeof anchor === 'string') put(`#${anchor}`, { ...target, key: key === '' ? anchor : key })
    for (const keyword of definitionKeywords) {
      const definitions = schema[keyword]
      if (!isObject(definitions)) continue
      for (const [name, each] of Object.entries(definitions)) {
        if (!isObject(each)) continue
        put(name, { schema: each, key: name, isDefinition: true })
        visit(each, name, true)
      }
    }
    const { $defs: _, definitions: __, ...rest } = schema
    mapSubschemas(rest, (each) => visit(each, '', false))
    return schema
  }
  visit(root, '', false)
  return named
}

const definitionKeywords: readonly string[] = ['$defs', 'definitions']

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function unescaped(key: string): string {
  return key.replaceAll('~1', '/').replaceAll('~0', '~')
}
