/** Whether what a library gives for JSON Schema is one, as far as anybody who walks it has to rely on. */
import { type KeywordKind, keywords, misfit } from './keywords.ts'

/** The pointer to the first part that is no schema, or holds none where it should; null if there is no such part. */
export function unsoundness(schema: unknown, at = '#'): string | null {
  if (typeof schema === 'boolean') return at === '#' ? at : null
  if (!isRecord(schema)) return at
  return first(schema, at, (value, pointer, name) => {
    const kind = keywords.get(name)
    if (kind === 'schema')
      return name === 'items' && Array.isArray(value) ? all(value, pointer) : unsoundness(value, pointer)
    if (kind === 'schemas') return Array.isArray(value) ? all(value, pointer) : pointer
    if (kind === 'named') return isRecord(value) ? all(value, pointer) : pointer
    return kind !== undefined && structural.has(kind) && misfit(kind, value) !== null ? pointer : null
  })
}

/** Kinds of values that decide what a schema means to those who walk it. */
const structural: ReadonlySet<KeywordKind> = new Set(['type', 'names', 'lists'])

type Find = (value: unknown, pointer: string, name: string) => string | null

function all(schemas: object, at: string): string | null {
  // The older `dependencies` has lists of names, too.
  return first(schemas, at, (each, pointer) =>
    at.endsWith('/dependencies') && misfit('names', each) === null ? null : unsoundness(each, pointer),
  )
}

function first(members: object, at: string, find: Find): string | null {
  for (const [name, value] of Object.entries(members)) {
    const found = find(value, `${at}/${name}`, name)
    if (found !== null) return found
  }
  return null
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
