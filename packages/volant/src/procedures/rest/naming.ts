/** Which method and path a procedure has over REST: by its name and its place, unless it says so itself. */
import type { Method } from '@volant/engine'
import { VolantError } from '../../errors/errors.ts'
import { parsePattern } from '../../routing/router.ts'
import type { Placed } from '../router.ts'
import type { ProcedureKind } from '../types.ts'
import { mayHave, membersSeen } from './members.ts'
import { parameterOf } from './singular.ts'

/** Where a procedure is reached. */
export interface RestPlace {
  readonly method: Method
  /** Without the prefix. */
  readonly path: string
  /** Of a reply with a value; 0 where nothing is said. */
  readonly status: number
}

interface Convention {
  readonly kind: ProcedureKind
  readonly method: Method
  /** It is about one thing, whose `id` is in the path, rather than about all of them. */
  readonly item: boolean
  readonly status: number
}

const get: Convention = { kind: 'query', method: 'GET', item: true, status: 0 }
const list: Convention = { kind: 'query', method: 'GET', item: false, status: 0 }
const create: Convention = { kind: 'mutation', method: 'POST', item: false, status: 201 }
const update: Convention = { kind: 'mutation', method: 'PUT', item: true, status: 0 }
const patch: Convention = { kind: 'mutation', method: 'PATCH', item: true, status: 0 }
const remove: Convention = { kind: 'mutation', method: 'DELETE', item: true, status: 0 }

/** By the verb in front of a name. */
export const conventions: ReadonlyMap<string, Convention> = new Map([
  ['get', get],
  ['list', list],
  ['find', list],
  ['create', create],
  ['add', create],
  ['update', update],
  ['edit', update],
  ['patch', patch],
  ['delete', remove],
  ['remove', remove],
])

/**
 * The procedures that are reached over REST, in their order. Throws `E_ROUTE_CONFLICT`, naming both procedures, and
 * `E_BAD_OPTION` for an input without a parameter of its path.
 */
export function restPlaces(procedures: readonly Placed[]): [Placed, RestPlace][] {
  const resources = new Set(procedures.filter(isItem).map(({ names }) => names.slice(0, -1).join('.')))
  const taken = new Map<string, string>()
  return procedures.flatMap((placed): [Placed, RestPlace][] => {
    const place = placeOf(placed, resources)
    if (place === null) return []
    checkParameters(placed, place)
    const key = `${place.method} ${place.path.replaceAll(/:\w+/g, ':')}`
    const other = taken.get(key)
    if (other !== undefined) {
      throw new VolantError(
        'E_ROUTE_CONFLICT',
        `the procedures ${other} and ${placed.path} both are ${place.method} ${place.path}: give one of them .rest({ path }), or .rest(false)`,
      )
    }
    taken.set(key, placed.path)
    return [[placed, place]]
  })
}

function placeOf(placed: Placed, resources: ReadonlySet<string>): RestPlace | null {
  const { kind, rest } = placed.procedure
  if (kind === 'subscription' || rest === false) return null
  const convention = conventionOf(placed)
  const path = rest?.path ?? (convention === null ? null : pathOf(placed, convention, resources))
  if (path === null) return null
  return {
    method: rest?.method ?? convention?.method ?? (kind === 'query' ? 'GET' : 'POST'),
    path,
    status: rest?.status ?? convention?.status ?? 0,
  }
}

/** Else a procedure would not know what it is asked about, and answer all the same. */
function checkParameters({ path, procedure: { input, rest } }: Placed, place: RestPlace): void {
  const members = input === null ? null : membersSeen(input)
  if (members === null) return
  const missing = parsePattern(place.path).names.find((name) => /^\w+$/.test(name) && !members.includes(name))
  if (missing === undefined) return
  const own = place.path.replace(/:id$/, `:${members[0] ?? 'name'}`)
  const mends = rest ? 'mend its .rest({ path })' : `say its path with .rest({ path: '${own}' })`
  throw new VolantError(
    'E_BAD_OPTION',
    `the procedure ${path} is ${place.method} ${place.path}, and its input has no ${missing}: add it to the input, or ${mends}`,
  )
}

/** Null for other names, for a name that promises what its procedure does not do, and outside of any router. */
function conventionOf({ names, procedure }: Placed): Convention | null {
  const convention = conventions.get(verbOf(names))
  return names.length > 1 && convention?.kind === procedure.kind ? convention : null
}

/** `get` of `getUser`, none of `getaway`: its first word, in lower case. */
export function verbOf(names: readonly string[]): string {
  return /^([a-z]+)(?![a-z])/.exec(names.at(-1) as string)?.[0] ?? ''
}

function isItem(placed: Placed): boolean {
  return placed.procedure.input !== null && conventionOf(placed)?.item === true
}

/** `/posts/:postId/comments/:id`: a router around counts as a resource if one of its own procedures is about one thing. */
function pathOf(placed: Placed, { item }: Convention, resources: ReadonlySet<string>): string {
  const routers = placed.names.slice(0, -1)
  const segments = routers.map((name, at) => {
    const isParent = at < routers.length - 1 && resources.has(routers.slice(0, at + 1).join('.'))
    return isParent ? `/${name}/:${parentOf(placed, name)}` : `/${name}`
  })
  return segments.join('') + (item && placed.procedure.input !== null ? '/:id' : '')
}

/** The procedure would not know which of the things it is asked about. */
function parentOf({ path, procedure: { input } }: Placed, name: string): string {
  const parameter = parameterOf(name)
  if (input === null || mayHave(input, parameter)) return parameter
  throw new VolantError(
    'E_BAD_OPTION',
    `the procedure ${path} is inside one of ${name}, by :${parameter} in its path, and its input has no ${parameter}: add it to the input, or say the path with .rest({ path })`,
  )
}
