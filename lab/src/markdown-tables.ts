/** Tables of a run as Markdown, and the documents that hold some of them. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Results, type Row, type Table, tables } from './analysis.ts'
import { commitsOf } from './commits.ts'
import { Failure } from './failure.ts'
import { rootFolder } from './folders.ts'
import { type MetricName, figure, heading } from './metrics.ts'
import { readResults } from './store.ts'
import { standingLines } from './standing-table.ts'
import { titleOf } from './terminal-tables.ts'

/** The run that is in the repository. */
export const committedRun = 'core'

/** Where tables are written: between `<!-- lab: NAME -->` and `<!-- lab: end -->`. */
const documentFiles = ['README.md', 'lab/README.md', 'lab/documents']

const columns: readonly MetricName[] = [
  'cpu',
  'start',
  'rate',
  'p50',
  'p95',
  'p99',
  'p999',
  'slope',
  'idleRss',
  'loadedRss',
  'afterRss',
  'capacity',
  'highest',
  'goodputShare',
  'transfer',
  'rss',
  'mostRss',
]

export function markdownLines(results: Results, only?: readonly string[]): string[] {
  return tables(results)
    .filter(({ scenario }) => only === undefined || only.includes(scenario.name))
    .flatMap((table) => [`**${titleOf(table)}**`, '', ...tableLines(table), ''])
}

/** Every marked block anew. With `check` nothing is written, and 1 is returned when a block differs. */
export function rewriteDocuments(check: boolean): number {
  const results = readResults(committedRun)
  let stale = 0
  for (const file of documentFiles.flatMap(filesOf)) {
    const path = join(rootFolder, file)
    const before = readFileSync(path, 'utf8')
    const after = rewritten(before, results, file)
    if (after === before) continue
    if (!check) writeFileSync(path, after)
    else
      console.error(`${file}: a table is not that of the run ${committedRun}: npm run lab -- table --write`)
    stale += 1
  }
  return check && stale > 0 ? 1 : 0
}

/** Throws a `Failure` for a block that names nothing. */
export function rewritten(text: string, results: Results, file: string): string {
  const [begun, ended] = [/<!-- lab: (?!end )[^>]* -->\n/g, /<!-- lab: end -->/g].map(
    (mark) => text.match(mark)?.length ?? 0,
  )
  if (begun !== ended)
    throw new Failure(`${file}: ${begun} blocks begin with <!-- lab: … --> and ${ended} end`, 2)
  return text.replace(
    /(<!-- lab: (?!end)([^>]*?) -->\n)[\s\S]*?(<!-- lab: end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const lines = blockOf(name, results)
      if (lines === null) throw new Failure(`${file}: the run has nothing for <!-- lab: ${name} -->`, 2)
      return `${begin}\n${lines.join('\n')}\n\n${end}`
    },
  )
}

/** `standing`, `machine`, a scenario, or a scenario and `:` and a variant. */
function blockOf(name: string, results: Results): string[] | null {
  if (name === 'standing') return standingLines(results)
  if (name === 'machine') return machineLines(results)
  const [scenario, variant] = name.split(':')
  const found = tables(results).filter(
    (table) => table.scenario.name === scenario && (variant === undefined || table.variant === variant),
  )
  if (found.length === 0) return null
  return found.flatMap((table, index) => [
    ...(index > 0 ? [''] : []),
    ...(found.length > 1 ? [`**${titleOf(table)}**`, ''] : []),
    ...tableLines(table),
  ])
}

function machineLines({ run }: Results): string[] {
  const { machine, settings, startedAt } = run
  return [
    `Measured on ${startedAt.slice(0, 10)}: ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, Node.js ${machine.node}, commit ${commitsOf(run)}; ${settings.cores}; ${settings.rounds} interleaved rounds of ${settings.window} s, medians with 95 % intervals.`,
  ]
}

function tableLines({ rows, scenario, base, noise }: Table): string[] {
  const { headline } = scenario
  const present = (name: MetricName): boolean => rows.some((row) => row.estimates[name] !== undefined)
  const beside = columns.filter((name) => name !== headline && present(name))
  const head = [
    '',
    `${heading(headline)} (95 %)`,
    ...(base === '' ? [] : [`÷ ${base}`]),
    ...beside.map(heading),
  ]
  const notes = [
    ...(noise === null ? [] : [`noise floor ±${(noise * 100).toFixed(1)} %`]),
    ...(rows.some(({ tie }) => tie) ? ['= is a tie'] : []),
    ...(rows.some(({ flags }) => flags.includes('generator-bound'))
      ? ['* generator-bound: requests/s is a lower bound']
      : []),
    ...rows.flatMap(noteOf),
  ]
  return [
    `| ${head.join(' | ')} |`,
    `|:---|${'---:|'.repeat(head.length - 1)}`,
    ...rows.map((row) => `| ${rowCells(row, headline, base, beside).join(' | ')} |`),
    ...(notes.length > 0 ? ['', `<sub>${notes.join('; ')}</sub>`] : []),
  ]
}

/** What a row has beside its figures: rounds that do not count, faults, errors. */
function noteOf({ entry, estimates, problem, discarded, flags }: Row): string[] {
  const notes = [
    ...(problem !== null && Object.keys(estimates).length > 0 ? [problem] : []),
    ...(discarded > 0 ? [`${discarded} of its rounds discarded`] : []),
    ...(flags.includes('disturbed') ? ['disturbed'] : []),
    ...((estimates.errors?.median ?? 0) > 0
      ? [`${figure('errors', estimates.errors?.median ?? 0)} errors`]
      : []),
    ...((estimates.non2xx?.median ?? 0) > 0 ? ['replies that are not 2xx, as asked for'] : []),
  ]
  return notes.length > 0 ? [`${entry.title}: ${notes.join(', ')}`] : []
}

function rowCells(row: Row, headline: MetricName, base: string, beside: readonly MetricName[]): string[] {
  const own = row.estimates[headline]
  const name = row.entry.javascript ? row.entry.title : `${row.entry.title} (no JavaScript)`
  if (own === undefined)
    return [name, row.problem ?? 'not measured', ...(base === '' ? [] : ['']), ...beside.map(() => '')]
  const ratio =
    row.label === base
      ? '1'
      : row.ratio === null
        ? ''
        : `${row.tie ? '= ' : ''}${row.ratio.median.toFixed(2)}`
  return [
    name,
    `${figure(headline, own.median)} (${figure(headline, own.low)}–${figure(headline, own.high)})`,
    ...(base === '' ? [] : [ratio]),
    ...beside.map((metric) => {
      const value = row.estimates[metric]
      if (value === undefined) return '–'
      const mark = metric === 'rate' && row.flags.includes('generator-bound') ? '*' : ''
      return `${figure(metric, value.median)}${mark}`
    }),
  ]
}

function filesOf(path: string): string[] {
  if (path.endsWith('.md')) return [path]
  return readdirSync(join(rootFolder, path))
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(path, name))
}
