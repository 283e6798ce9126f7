/** What servers are asked under load, and what a right reply is. One file a scenario, in `scenarios/`. */
import { Failure } from './failure.ts'
import { json } from './scenarios/json.ts'
import { noMiddleware, threeMiddlewares } from './scenarios/middleware.ts'
import { parameterRoute, staticRoute } from './scenarios/param.ts'
import { users } from './scenarios/users.ts'

/** The files an entry may have, `entries/<folder>/<program>.mjs`: each serves one scenario or two that are compared. */
export type Program = 'json' | 'param' | 'middleware' | 'users'

export interface Scenario {
  /** The name on the command line. */
  readonly name: string
  /** One line for the list. */
  readonly about: string
  readonly program: Program
  /** Sent over and over under load, and checked first. */
  readonly exchange: Exchange & { readonly body: string }
  /** Its programs import from `entries/node_modules`, whatever the entry. */
  readonly packages?: boolean
  /** Other requests whose replies prove that the work is done. An unknown path is always tried. */
  readonly proofs: readonly Exchange[]
  /** Seconds of load before each window, unless the command line says otherwise. */
  readonly warmup: number
}

export interface Exchange {
  /** Path and query of a GET. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly status: number
  /** The body, byte by byte, sent as application/json; without it only the status is checked. */
  readonly body?: string
  /** Header fields of the reply, by lower-case name. */
  readonly fields?: Readonly<Record<string, RegExp>>
  /** A header field whose value is another one in every reply. */
  readonly unique?: string
}

export const scenarios: readonly Scenario[] = [
  json,
  staticRoute,
  parameterRoute,
  noMiddleware,
  threeMiddlewares,
  users,
]

/** Throws a `Failure` for a name that is not in the list. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name)
  if (scenario) return scenario
  throw new Failure(`unknown scenario ${name}; known: ${scenarios.map(({ name }) => name).join(' ')}`, 2)
}
