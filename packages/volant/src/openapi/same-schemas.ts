/** Decides which schemas with a name are one component: those that allow the same, whatever is said about them. */
import type { Direction } from './components.ts'
import type { OpenAPISchema } from './types.ts'
import { isObject } from '../schema/document.ts'
import { madeOnce } from '../schema/made-once.ts'

/** A schema with a name, in one of the JSON Schemas that contain it. */
export interface NamedSchema {
  readonly base: string
  /** The base is its own name; otherwise it is made of the operation that uses it. */
  readonly isNamed: boolean
  readonly direction: Direction
  body: OpenAPISchema
  /** The objects that refer to it. */
  readonly references: OpenAPISchema[]
}

/** Several equal schemas: the body of the first holds for all of them. */
export type SameSchemas = [NamedSchema, ...NamedSchema[]]

type Targets = ReadonlyMap<OpenAPISchema, NamedSchema>

/**
 * Divides the schemas into groups of equal ones: first by what they say themselves, then by the groups of the schemas
 * they refer to, until nothing changes. Schemas that refer to themselves need these rounds. Runs in steps of one schema.
 */
export function* sameSchemas(all: readonly NamedSchema[], targets: Targets): Generator<void, SameSchemas[]> {
  const outlines = new Map<NamedSchema, Outline>()
  for (const each of all) {
    outlines.set(each, outlineOf(each.body, targets))
    yield
  }
  // Schemas of requests come first: the form of one may hold for replies, too.
  const inOrder = all.toSorted((a, b) => Number(a.direction === 'output') - Number(b.direction === 'output'))
  const groupOf = new Map<NamedSchema, number>()
  for (let groups: SameSchemas[] = []; ;) {
    const count = groups.length
    const byKey = new Map<string, SameSchemas[]>()
    groups = []
    for (const each of inOrder) {
      const { text, refersTo } = outlines.get(each) as Outline
      const base = each.isNamed ? each.base : ''
      const key = count === 0 ? `${base}\n${text}` : [each, ...refersTo].map((one) => groupOf.get(one)).join()
      const alike = madeOnce(byKey, key, (): SameSchemas[] => [])
      const group = alike.find(([first]) => holdsFor(first, each, outlines))
      if (group === undefined) {
        const made: SameSchemas = [each]
        alike.push(made)
        groups.push(made)
      } else group.push(each)
      yield
    }
    if (groups.length === count) return groups
    for (const [at, group] of groups.entries()) for (const each of group) groupOf.set(each, at)
  }
}

/** These keywords are words about a schema and refuse no value. */
const annotations = ['default', 'deprecated', 'description', 'examples', 'readOnly', 'writeOnly'] as const

/**
 * Gives the component of a group. An annotation that only some of its schemas have stands beside their references: Zod
 * keeps the title of a schema in `Address.describe('Where to send the bill')`.
 */
export function componentOf(group: SameSchemas, reference: string): OpenAPISchema {
  const [{ body }] = group
  for (const keyword of annotations) {
    const [value, ...others] = group.map((each) => JSON.stringify(each.body[keyword]))
    const isShared = others.every((other) => other === value)
    for (const { body: own, references } of isShared ? [] : group)
      if (own[keyword] !== undefined) for (const each of references) each[keyword] ??= own[keyword]
    if (!isShared) delete body[keyword]
  }
  for (const { references } of group) for (const each of references) each['$ref'] = reference
  return body
}

/** The content of a schema, but for its annotations and for which of its objects are closed. */
interface Outline {
  readonly text: string
  readonly refersTo: readonly NamedSchema[]
  /** The text has `1` for each object with `additionalProperties: false`, `0` for every other object. */
  readonly closed: string
}

function outlineOf(body: OpenAPISchema, targets: Targets): Outline {
  const refersTo: NamedSchema[] = []
  let closed = ''
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (!isObject(value)) return value
    const { additionalProperties: others, ...said } = value
    closed += others === false ? '1' : '0'
    if (others !== undefined && others !== false) said['additionalProperties'] = others
    if (value === body) for (const keyword of annotations) delete said[keyword]
    const target = targets.get(value)
    if (target !== undefined) {
      refersTo.push(target)
      said['$ref'] = annotations.map((keyword) => target.body[keyword])
    }
    return said
  })
  return { text, refersTo, closed }
}

/** Both are closed alike, or requests may have more than replies, which are closed: `z.object()` drops the rest. */
function holdsFor(
  first: NamedSchema,
  other: NamedSchema,
  outlines: ReadonlyMap<NamedSchema, Outline>,
): boolean {
  const [a, b] = [first, other].map((each) => (outlines.get(each) as Outline).closed) as [string, string]
  const mayOpen = first.direction === 'input' && other.direction === 'output'
  return a === b || (mayOpen && [...a].every((closed, at) => closed === '0' || b[at] === '1'))
}
