/** A run: a plan is rehearsed, measured round by round, and told. */
import { writeFileSync } from 'node:fs'
import { type Results, judge } from './bars.ts'
import { stepAside } from './cores.ts'
import { installRivals, installedVersion } from './install.ts'
import { type Machine, describeMachine } from './machine.ts'
import { type Group, type Method, measureRound, rehearse } from './pair.ts'
import { reportLines } from './report.ts'
import type { Entry } from './roster.ts'
import { json } from './scenarios/json.ts'
import { startRound } from './startup.ts'
import { styleFor } from './style.ts'

export interface Plan {
  readonly method: Method
  /** Measured under load in each of the method's rounds. */
  readonly groups: readonly Group[]
  /** Started afresh in each of `startRounds`; the first is the base. */
  readonly starts: readonly Entry[]
  readonly startRounds: number
  /** Where every measurement is written, if anywhere. */
  readonly file: string | undefined
}

/** Seconds beside load: a process is started, checked and stopped. */
const perLoad = 0.3
/** Seconds of a fresh process, most of them idle. */
const perStart = 1.5

/** How long a plan takes, in seconds. */
export function secondsOf({ method, groups, starts, startRounds }: Plan): number {
  const sides = groups.flatMap((group) => group.sides)
  const round = sides.reduce(
    (sum, { scenario }) => sum + (method.warmup ?? scenario.warmup) + method.window + perLoad,
    0,
  )
  return method.rounds * round + startRounds * starts.length * perStart
}

/** Runs the plan, prints its report, writes its file; false when a promise was missed. */
export async function run(plan: Plan): Promise<boolean> {
  const { method, groups, starts, startRounds } = plan
  await installRivals([
    ...groups.flatMap(({ sides }) => sides),
    ...starts.map((entry) => ({ entry, scenario: json })),
  ])
  // Before the lab is pinned: the number of cores is what it may use.
  const machine = describeMachine()
  stepAside(method.cores)
  await rehearse(groups, method)
  console.error(`lab: this takes about ${duration(secondsOf(plan))}`)
  const startedAt = new Date()
  const results = await measure(plan)
  if (process.stderr.isTTY) process.stderr.write('\r\u001b[K')

  const style = styleFor(process.stdout.isTTY && !process.env['NO_COLOR'])
  console.log(reportLines(groups, results, method, machine, style).join('\n'))
  const verdicts = judge(results)
  if (plan.file !== undefined) {
    const versions = versionsOf(plan, machine)
    const { samples } = results
    const record = {
      format: 2,
      startedAt,
      machine,
      versions,
      method: { ...method, startRounds },
      samples,
      starts: results.starts,
      bars: verdicts,
    }
    writeFileSync(plan.file, `${JSON.stringify(record, null, 2)}\n`)
  }
  return !verdicts.some(({ bar, met }) => bar.kind === 'must' && !met)
}

async function measure({ method, groups, starts, startRounds }: Plan): Promise<Results> {
  const samples = []
  const startSamples = []
  const loadRounds = groups.length > 0 ? method.rounds : 0
  const rounds = Math.max(loadRounds, starts.length > 0 ? startRounds : 0)
  const show = progressOf(rounds)
  for (let round = 0; round < rounds; round += 1) {
    if (round < loadRounds) {
      const progress: Parameters<typeof measureRound>[3] = ({ label, scenario }, lane) =>
        show(round, `${label}, ${scenario.name}, ${lane}`)
      samples.push(...(await measureRound(round, groups, method, progress)))
    }
    if (round < startRounds && starts.length > 0) {
      const progress = ({ name }: Entry): void => show(round, `${name}, start`)
      startSamples.push(...(await startRound(round, starts, method.cores, progress)))
    }
  }
  return { samples, starts: startSamples }
}

/** On a terminal one line that is written over; elsewhere one line a round. */
function progressOf(rounds: number): (round: number, what: string) => void {
  let last = -1
  return (round, what) => {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[Kround ${round + 1} of ${rounds}: ${what}`)
    else if (round !== last) console.error(`round ${round + 1} of ${rounds}`)
    last = round
  }
}

function versionsOf({ groups, starts }: Plan, machine: Machine): Record<string, string | null> {
  const measured = [...groups.flatMap(({ sides }) => sides.map(({ entry }) => entry)), ...starts]
  return Object.fromEntries(
    measured.map((entry) => [
      entry.name,
      installedVersion(entry) ?? (entry.name === 'node' ? process.version : machine.commit),
    ]),
  )
}

function duration(seconds: number): string {
  return seconds < 90 ? `${Math.ceil(seconds)} s` : `${Math.ceil(seconds / 60)} minutes`
}
