/** What limits of one `groupId` share in an app. */
import { VolantError } from '../errors/errors.ts'
import type { RequestApp } from '../types/request.ts'
import type { Plan } from './options.ts'

export class Groups<T> {
  readonly #byApp = new WeakMap<RequestApp, Map<string, { numbers: string; shared: T }>>()

  /** Gives what the group of a limit has, made by the first of its limits. Throws if that one has other numbers. */
  of(app: RequestApp, { policies, cache, group = '', nameSpace }: Plan, make: () => T): T {
    let groups = this.#byApp.get(app)
    if (groups === undefined) this.#byApp.set(app, (groups = new Map()))
    const numbers = JSON.stringify([policies, cache])
    const name = `${nameSpace}:${group}`
    let found = groups.get(name)
    if (found === undefined) groups.set(name, (found = { numbers, shared: make() }))
    if (found.numbers === numbers) return found.shared
    throw new VolantError(
      'E_BAD_OPTION',
      `rateLimit: two limits have the groupId ${JSON.stringify(group)} and other numbers, so they cannot count together: give one of them another groupId`,
    )
  }
}
