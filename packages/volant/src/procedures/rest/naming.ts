/** Finds the method and path of a procedure over REST: in its `.rest()`, or by its name and the routers around it. */
import { VolantError } from '../../errors/errors.ts'
import type { Method } from '../../types/parts.ts'
import type { Placed } from '../router.ts'
import { mayHave } from '../../schema/json-schema.ts'
import { membersSeen } from '../../schema/vendors/vendor-of.ts'
import { parameterOf } from './singular.ts'
import { parsePattern } from '../../routing/path.ts'

export interface RestRoute {
  readonly method: Method
  /** The path without the prefix. */
  readonly path: string
  /** The status of a reply with a value; 0 for the usual one. */
  readonly status: number
}

const list = { kind: 'query', method: 'GET', item: false, status: 0 } as const
const create = { kind: 'mutation', method: 'POST', item: false, status: 201 } as const
const update = { kind: 'mutation', method: 'PUT', item: true, status: 0 } as const
const remove = { kind: 'mutation', method: 'DELETE', item: true, status: 0 } as const

/**
 * The routes by the verb that a name begins with; types of clients use the table as well. A procedure with `item` is
 * about one thing, whose `id` is in the path.
 */
const conventions = {
  get: { kind: 'query', method: 'GET', item: true, status: 0 },
  list,
  find: list,
  create,
  add: create,
  update,
  edit: update,
  patch: { kind: 'mutation', method: 'PATCH', item: true, status: 0 },
  delete: remove,
  remove,
} as const

export type Conventions = typeof conventions
type Convention = Conventions[keyof Conventions]

/**
 * Gives the procedures that have a route, in their order. Throws `E_ROUTE_CONFLICT`, naming both procedures, and
 * `E_BAD_OPTION` for an input without a parameter of its path.
 */
export function restRoutes(procedures: readonly Placed[]): [Placed, RestRoute][] {
  const resources = new Set(procedures.filter(isItem).map(({ names }) => names.slice(0, -1).join('.')))
  const taken = new Map<string, string>()
  return procedures.flatMap((placed): [Placed, RestRoute][] => {
    const route = routeFor(placed, resources)
    if (route === null) return []
    checkParameters(placed, route)
    const key = `${route.method} ${route.path.replaceAll(/:\w+/g, ':')}`
    const other = taken.get(key)
    if (other !== undefined) {
      throw new VolantError(
        'E_ROUTE_CONFLICT',
        `the procedures ${other} and ${placed.path} both are ${route.method} ${route.path}: give one of them .rest({ path }), or .rest(false)`,
      )
    }
    taken.set(key, placed.path)
    return [[placed, route]]
  })
}

function routeFor(placed: Placed, resources: ReadonlySet<string>): RestRoute | null {
  const { kind, rest } = placed.procedure
  if (kind === 'subscription' || rest === false) return null
  const convention = conventionOf(placed)
  const path = rest?.path ?? (convention === null ? null : pathNamed(placed, convention, resources))
  if (path === null) return null
  return {
    method: rest?.method ?? convention?.method ?? (kind === 'query' ? 'GET' : 'POST'),
    path,
    status: rest?.status ?? convention?.status ?? 0,
  }
}

/** Without the parameter a procedure would not know which thing it is asked about, and would answer all the same. */
function checkParameters({ path, procedure: { input, rest } }: Placed, route: RestRoute): void {
  const members = input === null ? null : membersSeen(input)
  if (members === null) return
  const missing = parsePattern(route.path).names.find((name) => /^\w+$/.test(name) && !members.includes(name))
  if (missing === undefined) return
  const own = route.path.replace(/:id$/, `:${members[0] ?? 'name'}`)
  const remedy = rest ? 'correct its .rest({ path })' : `give its path with .rest({ path: '${own}' })`
  throw new VolantError(
    'E_BAD_OPTION',
    `the procedure ${path} is ${route.method} ${route.path}, and its input has no ${missing}: add it to the input, or ${remedy}`,
  )
}

/** Gives null for other names, for a verb of another kind of procedure, and outside of any router. */
function conventionOf(placed: Placed): Convention | null {
  const convention = placed.names.length > 1 ? conventionNamed(verbOf(placed)) : undefined
  return convention?.kind === placed.procedure.kind ? convention : null
}

function conventionNamed(verb: string): Convention | undefined {
  return Object.hasOwn(conventions, verb) ? conventions[verb as keyof Conventions] : undefined
}

/** Gives the first word of a name where it is in lower case: `get` of `getUser`, but `getaway` of `getaway`. */
function verbOf({ names }: Placed): string {
  return /^([a-z]+)(?![a-z])/.exec(names.at(-1) as string)?.[0] ?? ''
}

/** Says why a procedure has no route although its name or its `.rest()` reads as if it had one; null otherwise. */
export function suspicionOf(placed: Placed): string | null {
  const { kind, rest } = placed.procedure
  if (kind === 'subscription' || rest === false) return null
  if (rest !== null) return 'its .rest() has no path'
  const verb = verbOf(placed)
  const known = placed.names.length > 1 ? conventionNamed(verb) : undefined
  // `patchNotes` may well be a query, and `getOrCreate` is neither.
  if (
    known === undefined ||
    verb === 'patch' ||
    /^[a-z]+(?:Or|And)(?![a-z])/.test(placed.names.at(-1) as string)
  )
    return null
  return `a ${kind}, and ${verb} is for a ${known.kind}`
}

function isItem(placed: Placed): boolean {
  return placed.procedure.input !== null && conventionOf(placed)?.item === true
}

/** `/posts/:postId/comments/:id`: an outer router is a resource if one of its own procedures is about one thing. */
function pathNamed(placed: Placed, { item }: Convention, resources: ReadonlySet<string>): string {
  const routers = placed.names.slice(0, -1)
  const segments = routers.map((name, at) => {
    const isParent = at < routers.length - 1 && resources.has(routers.slice(0, at + 1).join('.'))
    return isParent ? `/${name}/:${parentOf(placed, name)}` : `/${name}`
  })
  return segments.join('') + (item && placed.procedure.input !== null ? '/:id' : '')
}

/** Gives the parameter of an outer router. Throws where the input's JSON Schema shows that it has no such member. */
function parentOf({ path, procedure: { input } }: Placed, name: string): string {
  const parameter = parameterOf(name)
  if (input === null || mayHave(input, parameter)) return parameter
  throw new VolantError(
    'E_BAD_OPTION',
    `the procedure ${path} is below one of ${name}, by :${parameter} in its path, and its input has no ${parameter}: add it to the input, or give the path with .rest({ path })`,
  )
}
