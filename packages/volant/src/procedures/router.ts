/** Routers: procedures under names. They are checked and listed once, when the router is made. */
import { bag } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { hintMisuse } from '../dispatch/declare.ts'
import { definitionOf, type ProcedureDefinition } from './definition.ts'
import type { Procedure, ProcedureTree, Router } from './types.ts'

/** A procedure with its names in a router. */
export interface Placed {
  /** The names joined by dots, the outermost router first. */
  readonly path: string
  readonly names: readonly string[]
  readonly procedure: ProcedureDefinition
}

const placed = Symbol('placed')

class DefinedRouter<T extends ProcedureTree> implements Router<T> {
  readonly procedures: T
  readonly [placed]: ReadonlyMap<string, Placed>

  constructor(procedures: T) {
    this.procedures = procedures
    this[placed] = new Map(procedureList(procedures).map((each) => [each.path, each]))
  }
}

hintMisuse(DefinedRouter.prototype, 'app.register(rest(api)) or app.register(trpc(api))')

/**
 * Groups procedures and other routers under names: `router({ users: router({ getUser, listUsers }) })`. A procedure is
 * called by all of its names, `users.getUser`. Throws `E_BAD_OPTION` for a name that cannot be part of a URL and for
 * a member that is neither a procedure nor a router.
 */
export function router<const T extends ProcedureTree>(procedures: T): Router<T>
// This overload accepts nothing more than the first: the compiler explains a mistake by the last one.
export function router<const T extends object>(procedures: Finished<T>): Router
export function router(procedures: ProcedureTree): unknown {
  return new DefinedRouter(procedures)
}

/** Gives a member that is a mistake a type that explains it. */
type Finished<T> = {
  [K in keyof T]: T[K] extends Procedure | Router
    ? T[K]
    : T[K] extends { query: unknown; mutation: unknown }
      ? 'a procedure ends with .query(handler), .mutation(handler) or .subscription(handler)'
      : Procedure | Router
}

/** Gives all procedures by path, in their order. Throws `E_BAD_OPTION` for a value that is not from `router`. */
export function proceduresOf(value: Router): ReadonlyMap<string, Placed> {
  if (value instanceof DefinedRouter) return value[placed]
  throw bad('router', value, 'a router made by router({ … })')
}

/** Gives the results of `make` for each procedure, in objects that are nested as the routers are. */
export function namedTree(procedures: Iterable<Placed>, make: (placed: Placed) => unknown): object {
  const root = bag()
  for (const placed of procedures) {
    let at = root
    for (const name of placed.names.slice(0, -1)) at = (at[name] ??= bag()) as Record<string, unknown>
    at[placed.names.at(-1) as string] = make(placed)
  }
  return root
}

/** The proxies of clients have members with these names. */
const reserved = new Set(['then', 'call', 'apply', '__proto__'])

function procedureList(tree: ProcedureTree): Placed[] {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) {
    throw bad('router', tree, 'an object of procedures and routers by name')
  }
  return Object.entries(tree).flatMap(([name, member]): Placed[] => {
    if (!/^[A-Za-z_][\w-]{0,99}$/.test(name) || reserved.has(name)) {
      throw bad('the name of a procedure', name, 'letters, digits, - and _, and none of then, call and apply')
    }
    if (member instanceof DefinedRouter) {
      return [...(member[placed] as ReadonlyMap<string, Placed>).values()].map(
        ({ path, names, procedure }) => ({
          path: `${name}.${path}`,
          names: [name, ...names],
          procedure,
        }),
      )
    }
    const procedure = definitionOf(member)
    if (procedure !== undefined) return [{ path: name, names: [name], procedure }]
    throw new VolantError(
      'E_BAD_OPTION',
      `the member ${name} of a router is neither a procedure nor a router: ${hint(member)}`,
    )
  })
}

function hint(member: unknown): string {
  const unfinished = typeof (member as { query?: unknown } | null)?.query === 'function'
  return unfinished
    ? 'a builder becomes a procedure by its last step, .query(handler), .mutation(handler) or .subscription(handler)'
    : 'give it procedure().query(handler), or router({ … })'
}
