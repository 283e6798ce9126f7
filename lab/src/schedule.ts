/** The order of a run: rounds, in each of them every scenario, in each scenario every entry in an order of its own. */
import type { Entry } from './entry.ts'
import { mulberry32 } from './random.ts'
import type { Scenario, Variant } from './scenario.ts'

/** One cell that is to be measured. */
export interface Task {
  readonly round: number
  readonly scenario: Scenario
  readonly variant: Variant
  readonly entry: Entry
  /** That of the entry; `#2` behind it for its second measurement, whose difference from the first is noise. */
  readonly label: string
}

export interface Chosen {
  readonly scenario: Scenario
  readonly variants: readonly Variant[]
  readonly entries: readonly Entry[]
  /** Measured twice in each round. */
  readonly twice: Entry | null
  /** The least number of rounds, whatever the others have. */
  readonly rounds?: number
}

/**
 * Two entries go A B, B A, A B …, so that a drift of the machine favours neither. More are shuffled in every round and
 * scenario by a generator of random numbers with a seed, which is in the result.
 */
export function schedule(chosen: readonly Chosen[], rounds: number, seed: number): Task[] {
  const random = mulberry32(seed)
  const tasks: Task[] = []
  const most = Math.max(rounds, ...chosen.map((one) => one.rounds ?? 0))
  for (let round = 0; round < most; round += 1) {
    // The order is reversed every second round, because variants of one choice and of two are compared, too.
    const inTurn = round % 2 ? chosen.toReversed() : chosen
    for (const { scenario, variants, entries, twice, rounds: least = 0 } of inTurn) {
      if (round >= rounds && round >= least) continue
      for (const variant of round % 2 ? variants.toReversed() : variants) {
        const labelled = [
          ...entries.map((entry) => ({ entry, label: entry.name })),
          ...(twice === null ? [] : [{ entry: twice, label: `${twice.name}#2` }]),
        ]
        for (const { entry, label } of order(labelled, round, random)) {
          tasks.push({ round, scenario, variant, entry, label })
        }
      }
    }
  }
  return tasks
}

function order<T>(items: readonly T[], round: number, random: () => number): T[] {
  if (items.length <= 2) return round % 2 ? items.toReversed() : [...items]
  const shuffled = [...items]
  for (let index = shuffled.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1))
    ;[shuffled[index], shuffled[other]] = [shuffled[other] as T, shuffled[index] as T]
  }
  return shuffled
}
