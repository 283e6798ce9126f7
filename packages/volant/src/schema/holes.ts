/** What a library cannot say in JSON Schema, part by part: marked while it converts, found and unmarked afterwards. */

/** A part of a schema of which its JSON Schema says nothing. */
export interface Hole {
  /** Where its values are: a JSON Pointer as URI fragment, with `*` for each item, or each property of any name. */
  readonly pointer: string
  /** As its library calls it: `transform`, `bigint`. */
  readonly kind: string
  /** No JSON fits it: a request never passes, a reply cannot be written. */
  readonly isImpossible: boolean
}

/** Keyword of the mark; what it holds is the kind, after `!` where no JSON fits. */
const mark = 'x-volant-hole'

/** Kinds that are no JSON, sent or received; and those that a library makes of JSON if it is told to. */
const never: ReadonlySet<string> = new Set(['bigint', 'map', 'set', 'symbol', 'function'])

export function marked<T extends object>(schema: T, kind: string, io: 'input' | 'output'): T {
  const isImpossible = never.has(kind) || (io === 'input' && kind === 'date')
  return Object.assign(schema, { [mark]: `${isImpossible ? '!' : ''}${kind}` })
}

export function unmarked(schema: object): void {
  delete (schema as Record<string, unknown>)[mark]
}

/** Nothing is known of what is in there, and nothing need be: a function sees it first. */
export function closed(schema: object): void {
  Object.assign(schema, { [mark]: '' })
}

/** Whether it says more than a description does. */
export function saysType(schema: object): boolean {
  return ['$ref', 'allOf', 'anyOf', 'const', 'enum', 'oneOf', 'properties', 'type'].some(
    (each) => each in schema,
  )
}

type Members = Record<string, unknown>

/** The parts that were marked, and the JSON Schema without the marks. */
export function withoutMarks(text: string): { schema: unknown; holes: readonly Hole[] } {
  if (!text.includes(`"${mark}"`)) return { schema: JSON.parse(text), holes: [] }
  const root: unknown = JSON.parse(text)
  const holes = new Map<string, Hole>()
  const seen = new Set<string>()
  const visit = (schema: unknown, pointer: string, isChoice = false): void => {
    if (typeof schema !== 'object' || schema === null) return
    const members = schema as Members
    const kind = members[mark]
    if (kind === '') return
    if (typeof kind === 'string') {
      const isImpossible = kind.startsWith('!')
      // What no JSON fits is of no concern where something else may be.
      if (!isImpossible || !isChoice)
        holes.set(pointer, { pointer, kind: kind.replace('!', ''), isImpossible })
    }
    const { $ref } = members
    if (typeof $ref === 'string' && !seen.has($ref)) {
      seen.add($ref)
      visit($ref.split('/').slice(1).reduce(step, root), pointer, isChoice)
    }
    for (const name of ['items', 'additionalProperties']) visit(members[name], `${pointer}/*`)
    for (const each of listOf(members['allOf'])) visit(each, pointer, isChoice)
    for (const name of ['anyOf', 'oneOf']) {
      const branches = listOf(members[name])
      const others = branches.filter((each) => (each as Members)['type'] !== 'null')
      for (const each of branches) visit(each, pointer, isChoice || others.length > 1)
    }
    for (const [at, each] of listOf(members['prefixItems']).entries()) visit(each, `${pointer}/${at}`)
    for (const [name, each] of Object.entries(members['properties'] ?? {})) {
      visit(each, `${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`)
    }
  }
  visit(root, '#')
  const schema: unknown = JSON.parse(text, (key, value: unknown) => (key === mark ? undefined : value))
  return { schema, holes: [...holes.values()] }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function step(at: unknown, key: string): unknown {
  const name = key.replaceAll('~1', '/').replaceAll('~0', '~')
  return typeof at === 'object' && at !== null && Object.hasOwn(at, name) ? (at as Members)[name] : undefined
}
