/** The names that counts have in a store. */
import type { Plan } from './options.ts'
import type { Take } from './store.ts'

/** Says what a request takes from each policy. A request that takes more than a key may ever have takes all of that. */
export function takesOf(plan: Plan, keys: readonly string[], cost: number): Take[] {
  return plan.policies.map((policy, at) => {
    const { algorithm, max, window, burst } = policy
    const most = algorithm === 'gcra' ? burst : max
    const key = storedKey(plan, policy.name, keys[at] as string)
    return { key, algorithm, max, window, burst, cost: Math.min(cost, most) }
  })
}

/** Gives the names of a key by all policies. */
export function storedKeysOf(plan: Plan, key: string): string[] {
  return plan.policies.map(({ name }) => storedKey(plan, name, key))
}

/**
 * A script may touch the keys of one slot of a cluster, which the text in braces decides: where all policies count by
 * the same key, that is in it, so that the keys are spread over the cluster.
 */
function storedKey({ nameSpace, group, hasOneKey }: Plan, policy: string, key: string): string {
  return hasOneKey ? `${nameSpace}:{${group}:${key}}:${policy}` : `${nameSpace}:{${group}}:${policy}:${key}`
}
