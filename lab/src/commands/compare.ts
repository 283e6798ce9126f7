import { readFileSync, writeFileSync } from 'node:fs'
import { type Arguments, readArguments, text } from '../arguments.ts'
import { type Baseline, type Change, baselineOf, changes, missing, parseBaseline } from '../comparison.ts'
import { Failure } from '../failure.ts'
import { metrics, written } from '../metrics.ts'
import { readResults } from '../store.ts'
import { type Style, styleFor } from '../style.ts'
import { type Column, renderTable } from '../table.ts'
import type { Command } from './command.ts'

/** As a share. */
const standardThreshold = 0.1

export const compare: Command = {
  name: 'compare',
  about: 'two runs: what got better, worse, or cannot be told',
  help: `usage: npm run lab -- compare A B [--threshold 0.1]

A and B are runs of lab/results, or folders. A change counts when it is beyond the threshold or the noise floor
of either run, whichever is larger, in the direction that is declared for its metric.

example
  npm run lab -- compare core mine`,
  async run(argv) {
    const args = readArguments('compare', argv, { threshold: { type: 'string' } })
    const [before, after, ...more] = args.positionals
    if (before === undefined || after === undefined || more.length > 0)
      throw new Failure('compare takes two runs: npm run lab -- compare A B', 2)
    const all = changes(baselineOf(readResults(before)), baselineOf(readResults(after)), thresholdOf(args))
    if (all.length === 0) throw new Failure(`${before} and ${after} have no cell in common`, 2)
    print(all, styleFor(process.stdout.isTTY === true))
    return 0
  },
}

export const baseline: Command = {
  name: 'baseline',
  about: 'writes what a run says to a file that check compares with',
  help: `usage: npm run lab -- baseline RUN [--out FILE]

example
  npm run lab -- baseline core --out baseline.json`,
  async run(argv) {
    const args = readArguments('baseline', argv, { out: { type: 'string' } })
    const [name, ...more] = args.positionals
    if (name === undefined || more.length > 0)
      throw new Failure('baseline takes one run: npm run lab -- baseline core --out baseline.json', 2)
    const content = `${JSON.stringify(baselineOf(readResults(name)), null, 1)}\n`
    const file = text(args, 'out')
    if (file === undefined) process.stdout.write(content)
    else writeFileSync(file, content)
    return 0
  },
}

export const check: Command = {
  name: 'check',
  about: 'exit code 1 when a run is worse than a baseline',
  help: `usage: npm run lab -- check RUN --baseline FILE [--threshold 0.1]

Exit code 1 when a figure is worse than the baseline's by more than the threshold or the noise floor, whichever is
larger, or is no longer there; 2 when the two cannot be compared.

example
  npm run lab -- check mine --baseline baseline.json`,
  async run(argv) {
    const args = readArguments('check', argv, { baseline: { type: 'string' }, threshold: { type: 'string' } })
    const [name, ...more] = args.positionals
    const file = text(args, 'baseline')
    if (name === undefined || more.length > 0 || file === undefined)
      throw new Failure(
        'check takes a run and a baseline: npm run lab -- check mine --baseline baseline.json',
        2,
      )
    const before = readBaseline(file)
    const { run, cells } = readResults(name)
    const after = baselineOf({ run, cells })
    const all = changes(before, after, thresholdOf(args))
    const meant = run.scenarios.flatMap((one) => one.variants.map((variant) => `${one.name} ${variant.name}`))
    const measured = new Set(meant)
    const entries = new Set(run.entries.map((entry) => entry.name))
    // What the run did not mean to measure is not missed.
    const lost = missing(before, after).filter(
      ({ scenario, variant, entry }) => measured.has(`${scenario} ${variant}`) && entries.has(entry),
    )
    if (all.length + lost.length === 0) throw new Failure(`${file} and ${name} have no cell in common`, 2)
    if (before.machine !== after.machine)
      console.error(
        `lab: the baseline is of another machine (${before.machine}): absolute figures are not comparable`,
      )
    print(all, styleFor(process.stdout.isTTY === true))
    for (const { scenario, variant, entry, metric } of lost)
      console.log(`lost: ${metric} of ${entry} in ${scenario} ${variant}`)
    const worse = all.filter(({ verdict }) => verdict === 'worse')
    console.log(
      `${worse.length} worse, ${all.filter(({ verdict }) => verdict === 'better').length} better, ${all.filter(({ verdict }) => verdict === 'same').length} the same, ${lost.length} lost`,
    )
    return worse.length + lost.length > 0 ? 1 : 0
  },
}

function readBaseline(file: string): Baseline {
  let content: string
  try {
    content = readFileSync(file, 'utf8')
  } catch {
    throw new Failure(
      `there is no baseline ${file}: write it with npm run lab -- baseline RUN --out ${file}`,
      2,
    )
  }
  return parseBaseline(content, file)
}

function thresholdOf(args: Arguments): number {
  const given = text(args, 'threshold')
  if (given === undefined) return standardThreshold
  const value = Number(given)
  if (value >= 0 && value <= 10) return value
  throw new Failure(`--threshold takes a share such as 0.1, not ${given}`, 2)
}

const columns: readonly Column[] = [
  { title: '', align: 'left' },
  { title: 'scenario', align: 'left' },
  { title: 'entry', align: 'left' },
  { title: 'metric', align: 'left' },
  { title: 'before', align: 'right' },
  { title: 'now', align: 'right' },
  { title: 'change', align: 'right' },
  { title: 'counts beyond', align: 'right' },
]

function print(all: readonly Change[], style: Style): void {
  const [title, ...lines] = renderTable(
    columns,
    all.map(({ row, now, allowed, verdict }) => [
      verdict,
      row.variant === 'default' ? row.scenario : `${row.scenario} ${row.variant}`,
      row.entry,
      metrics[row.metric].title,
      written(row.metric, row.estimate.median),
      written(row.metric, now.median),
      percent(now.median / row.estimate.median - 1),
      `±${(allowed * 100).toFixed(1)} %`,
    ]),
  )
  console.log(style.bold(title as string))
  for (const [index, line] of lines.entries()) {
    const verdict = all[index]?.verdict
    console.log(verdict === 'worse' ? style.bad(line) : verdict === 'better' ? style.good(line) : line)
  }
}

function percent(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`
}
