import type { Target } from './carrier.ts'
import type { Case } from './case.ts'
import { type Cut, type Known, type Played, octets, play } from './client.ts'
import { differences, summary } from './verdict.ts'

/** Connections at once. */
const parallel = 64

/** Past this many octets only boundaries near line ends, and a sample of the rest, are tried. */
const everyBoundary = 2048
const sampled = 24

export interface Outcome {
  readonly one: Case
  readonly target: Target
  readonly cut: Cut
  readonly played: Played
  readonly differences: readonly string[]
}

/** Runs `work` on each item, at most `parallel` at once; results in the order of the items. */
export async function inParallel<T, R>(
  items: readonly T[],
  work: (item: T) => Promise<R>,
  width = parallel,
): Promise<R[]> {
  const results: R[] = []
  let next = 0
  const lane = async () => {
    for (let index = next++; index < items.length; index = next++)
      results[index] = await work(items[index] as T)
  }
  await Promise.all(Array.from({ length: Math.min(width, items.length) }, lane))
  return results
}

/** Connections at once where most of the time is waiting. */
export const otherParallel = 256

/** Plays one case and judges it. */
export async function judge(target: Target, one: Case, cut: Cut, known?: Known): Promise<Outcome> {
  const played = await play(target, one, cut, known)
  return { one, target, cut, played, differences: differences(one, played) }
}

/**
 * Gives the transports with which to play a case against a server: over TLS a half-close is played with and without
 * FIN.
 */
export function targets(server: Target, one: Case): Target[] {
  const { port, carrier } = server
  const target = { port, carrier }
  const isHalfClosed = one.steps.some((step) => 'fin' in step)
  return carrier === 'tls' && isHalfClosed ? [target, { port, carrier: 'tls, no FIN' }] : [target]
}

/**
 * Every way a case is cut: at each boundary into two writes, and octet by octet; one longer than `everyBoundary` near
 * its line ends and at `sampled` more places, and in pieces.
 */
export function cuts(one: Case): Cut[] {
  if (!one.cut) return []
  const total = octets(one.steps)
  const limit = Math.min(total - 1, one.cutLimit)
  const list: Cut[] = boundaries(one, total, limit).map((octet) => ({ kind: 'at', octet }))
  list.push(total <= everyBoundary ? { kind: 'octets' } : { kind: 'pieces', size: Math.ceil(total / 512) })
  return list
}

function boundaries(one: Case, total: number, limit: number): number[] {
  if (total <= everyBoundary) return Array.from({ length: limit }, (_, index) => index + 1)
  const text = one.steps.map((step) => ('bytes' in step ? step.bytes : '')).join('')
  const chosen = new Set<number>()
  const ends: number[] = []
  for (let at = text.indexOf('\r\n'); at >= 0; at = text.indexOf('\r\n', at + 2)) ends.push(at)
  const every = Math.max(1, Math.ceil(ends.length / sampled))
  for (let index = 0; index < ends.length; index += every) {
    for (let near = -1; near <= 3; near++) chosen.add((ends[index] as number) + near)
  }
  for (let near = -1; near <= 3; near++) chosen.add((ends.at(-1) ?? 0) + near)
  for (let n = 1; n <= sampled; n++) chosen.add(Math.floor((total * n) / (sampled + 1)))
  return [...chosen].filter((octet) => octet > 0 && octet <= limit)
}

/** One failed outcome in words. */
export function explain(outcome: Outcome): string {
  const { one, target, cut, played } = outcome
  const over = target.carrier === 'tcp' ? '' : ` over ${target.carrier}`
  const where = cut.kind === 'at' ? ` cut at ${cut.octet}` : cut.kind === 'whole' ? '' : ` in ${cut.kind}`
  return `${one.id}${over}${where} (${one.ref}): ${outcome.differences.join('; ')} [${summary(played)}]`
}
