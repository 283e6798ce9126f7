/** Tables of a run as Markdown, and the documents that hold some of them. */
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addedLines } from './added-table.ts'
import { type Results, type Row, type Table, tables } from './analysis.ts'
import { barMarkdown } from './bar-table.ts'
import type { Run } from './cell.ts'
import { type Age, ageNote, ageOf } from './code-state.ts'
import { type Committed, committedRuns, readCommitted } from './committed-runs.ts'
import { commitsOf } from './commits.ts'
import { Failure } from './failure.ts'
import { rootFolder } from './folders.ts'
import { type MetricName, figure, heading, isRate } from './metrics.ts'
import { baseName } from './ours.ts'
import { type Points, connectionsOf, pointsHeading, pointsLines, pointsOf } from './points-table.ts'
import { presets } from './presets.ts'
import { standingLines } from './standing-table.ts'
import { titleOf } from './terminal-tables.ts'
import { titleWithVersion, usualRuntime } from './versions.ts'

/** Where tables are written: between `<!-- lab: NAME -->` and `<!-- lab: end -->`. */
const documentFiles = ['README.md', 'lab/README.md', 'lab/documents']

const columns: readonly MetricName[] = [
  'cpu',
  'messageCpu',
  'deliveryCpu',
  'socketMemory',
  'firstEcho',
  'start',
  'offered',
  'rate',
  'messageRate',
  'deliveryRate',
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
    .filter(({ scenario, rows }) => rows.length > 0 && (only === undefined || only.includes(scenario.name)))
    .flatMap((table) => [
      `**${titleOf(table)}**`,
      '',
      ...tableLines(table, { results, age: ageOf(results.run) }),
      '',
    ])
}

/** Every marked block anew. With `check` nothing is written, and 1 is returned when a block differs. */
export function rewriteDocuments(check: boolean): number {
  const runs = committedRuns.map(readCommitted)
  let stale = 0
  for (const file of documentFiles.flatMap(filesOf)) {
    const path = join(rootFolder, file)
    const before = readFileSync(path, 'utf8')
    const text = rewritten(before, runs, file)
    if (text === before) continue
    if (!check) writeFileSync(path, text)
    else
      console.error(
        `${file}: a table is not that of its run (${committedRuns.join(', ')}), or does not say that the run is older than the code: npm run lab -- table --write`,
      )
    stale += 1
  }
  return check && stale > 0 ? 1 : 0
}

/** Throws a `Failure` for a block that names nothing. */
export function rewritten(text: string, runs: readonly Committed[], file: string): string {
  const [begun, ended] = [/<!-- lab: (?!end )[^>]* -->\n/g, /<!-- lab: end -->/g].map(
    (mark) => text.match(mark)?.length ?? 0,
  )
  if (begun !== ended)
    throw new Failure(`${file}: ${begun} blocks begin with <!-- lab: … --> and ${ended} end`, 2)
  return text.replace(
    /(<!-- lab: (?!end)([^>]*?) -->\n)[\s\S]*?(<!-- lab: end -->)/g,
    (_, begin: string, name: string, end: string) => {
      const lines = blockOf(name, runs)
      if (lines === null) throw new Failure(`${file}: the run has nothing for <!-- lab: ${name} -->`, 2)
      return `${begin}\n${lines.join('\n')}\n\n${end}`
    },
  )
}

/** What a block is written from. */
interface Source {
  readonly results: Results
  readonly age: Age
}

/**
 * `standing`, `bars`, `added` and `machine`, of the first run or of the one that is named behind them; a scenario, or a scenario and `:`
 * and a variant, of the first run that has it; with `points ` before it only the table over the counts of connections,
 * where the run has one. A run that is still to be measured has a line that says so.
 */
function blockOf(name: string, runs: readonly Committed[]): string[] | null {
  const [word, wanted = runs[0]?.name] = name.split(' ')
  const isWhole = isWord(word)
  const scenario = name.replace('points ', '').split(':')[0] as string
  let missing: string | null = null
  for (const { name: run, results, age } of runs) {
    const has = isWhole
      ? run === wanted
      : (presets[run]?.parts.some((part) => part.scenario === scenario) ?? false)
    if (results === null && has) missing ??= run
    if (results === null || (isWhole && !has)) continue
    const lines = isWhole
      ? whole[word]({ results, age })
      : scenarioLines(name.replace('points ', ''), name.startsWith('points '), { results, age })
    if (lines !== null) return lines
  }
  return missing === null
    ? null
    : [`Not measured yet: \`npm run lab -- run --name ${missing} --preset ${missing}\`.`]
}

/** What is written of a whole run. */
const whole = {
  machine: machineLines,
  standing: dated(({ results }) => standingLines(results)),
  bars: dated(({ results }) => barMarkdown(results.cells)),
  added: dated(({ results }) => addedLines(results)),
}

function isWord(word: string | undefined): word is keyof typeof whole {
  return word !== undefined && Object.hasOwn(whole, word)
}

/** With a line below that says so when the run is older than the code. */
function dated(lines: (source: Source) => string[]): (source: Source) => string[] {
  return (source) => {
    const note = ageNote(source.results.run, source.age)
    return [...lines(source), ...(note === null ? [] : ['', `<sub>${note}</sub>`])]
  }
}

function scenarioLines(name: string, onlyPoints: boolean, source: Source): string[] | null {
  const { results } = source
  const [scenario, variant] = name.split(':')
  const isAsked = (table: { scenario: string; of: string }): boolean =>
    table.scenario === scenario && (variant === undefined || table.of === variant)
  const points = pointsOf(results).filter(isAsked)
  const found = tables(results).filter(
    (table) =>
      isAsked({ scenario: table.scenario.name, of: table.point?.of ?? table.variant }) &&
      table.rows.length > 0 &&
      // At fewer connections the table over the points says it all.
      !points.some(({ tables: own }) => own.some((one) => isFewer(table, one))),
  )
  const blocks = [
    ...points.map((group) => ({
      title: `${group.title}, by connections`,
      lines: pointsBlock(group, source),
    })),
    ...(onlyPoints && points.length > 0
      ? []
      : found.map((table) => ({ title: titleOf(table), lines: tableLines(table, source) }))),
  ]
  if (blocks.length === 0) return null
  return blocks.flatMap(({ title, lines }, index) => [
    ...(index > 0 ? [''] : []),
    ...(blocks.length > 1 ? [`**${title}**`, ''] : []),
    ...lines,
  ])
}

function isFewer(table: Table, other: Table): boolean {
  const same = table.scenario.name === other.scenario.name && table.point?.of === other.point?.of
  return same && table.point !== undefined && connectionsOf(table) < connectionsOf(other)
}

function pointsBlock(points: Points, { results: { run }, age }: Source): string[] {
  const count = (table: Table): string =>
    connectionsOf(table) === 1 ? '1 connection' : `${connectionsOf(table)} connections`
  const titles = points.tables.flatMap((table) => [
    `${pointsHeading(points)}: ${count(table)}`,
    `÷ ${baseName(table.base)}`,
  ])
  const noise = points.tables.flatMap(({ noise: found, ...table }) =>
    found === null ? [] : [`±${(found * 100).toFixed(1)} % at ${count(table as Table)}`],
  )
  const notes = [
    ...(noise.length > 0 ? [`noise floor ${noise.join(', ')}`] : []),
    '= is a tie',
    ...[ageNote(run, age) ?? []].flat(),
  ]
  return [
    `| ${['', ...titles].join(' | ')} |`,
    `|:---|${'---:|'.repeat(titles.length)}`,
    ...pointsLines(points)
      .filter(({ row }) => !row.label.includes('@'))
      .map(({ row, cells }) => {
        const values = cells.flatMap(({ value, ratio }) => [value, ratio])
        return `| ${[nameOf(row, run), ...values].join(' | ')} |`
      }),
    '',
    `<sub>${notes.join('; ')}</sub>`,
  ]
}

function machineLines({ results: { run }, age }: Source): string[] {
  const { machine, settings, startedAt } = run
  const older =
    age === 'older'
      ? ' **This run is older than the code**: the engine or the framework has changed since.'
      : ''
  return [
    `Measured on ${startedAt.slice(0, 10)} on ${usualRuntime(run)}: ${machine.cpu}, ${machine.cores} cores, ${machine.kernel}, commit ${commitsOf(run)}; ${settings.cores}; ${settings.rounds} interleaved rounds of ${settings.window} s, medians with 95 % intervals.${older}`,
  ]
}

function tableLines(
  { rows: all, scenario, base, noise }: Table,
  { results: { run }, age }: Source,
): string[] {
  const { headline } = scenario
  const rows = all.filter(({ label }) => label === base || !label.includes('@'))
  const versions = versionLines(all, headline)
  const present = (name: MetricName): boolean => rows.some((row) => row.estimates[name] !== undefined)
  const beside = columns.filter((name) => name !== headline && present(name))
  const head = [
    '',
    `${heading(headline)} (95 %)`,
    ...(base === '' ? [] : [`÷ ${baseName(base)}`]),
    ...beside.map(heading),
  ]
  const notes = [
    ...(noise === null ? [] : [`noise floor ±${(noise * 100).toFixed(1)} %`]),
    ...(rows.some(({ tie }) => tie) ? ['= is a tie'] : []),
    ...(rows.some(({ flags }) => flags.includes('generator-bound'))
      ? ['* generator-bound: requests/s is a lower bound']
      : []),
    ...rows.flatMap(noteOf),
    ...[ageNote(run, age) ?? []].flat(),
  ]
  return [
    `| ${head.join(' | ')} |`,
    `|:---|${'---:|'.repeat(head.length - 1)}`,
    ...rows.map((row) => `| ${rowCells(row, headline, run, beside).join(' | ')} |`),
    ...(notes.length > 0 ? ['', `<sub>${notes.join('; ')}</sub>`] : []),
    ...(versions.length > 0 ? ['', ...versions] : []),
  ]
}

/** The entries that were measured on two versions of Node.js or more, a column for each; empty when none were. */
function versionLines(rows: readonly Row[], headline: MetricName): string[] {
  const other = rows.filter(({ label }) => label.includes('@'))
  const names = rows.filter(({ label }) => other.some((row) => baseName(row.label) === label))
  const suffixes = ['', ...new Set(other.map(({ label }) => label.replace(/^[^@]*/, '')))]
  if (names.length === 0) return []
  const titles = suffixes.flatMap((suffix) => {
    const found = rows.find(({ label }) => label === `${names[0]?.label}${suffix}`)
    return [found?.entry.runtime ?? suffix, '÷ native']
  })
  const line = (row: Row): string[] => [
    row.entry.title,
    ...suffixes.flatMap((suffix) => {
      const found = rows.find(({ label }) => label === `${row.label}${suffix}`)
      const value = found?.estimates[headline]
      if (found === undefined || value === undefined) return [found?.problem ?? '–', '']
      const version =
        found.entry.version === row.entry.version || row.entry.package === null
          ? ''
          : ` (${found.entry.version})`
      const ratio = found.label === found.base ? '1' : (found.ratio?.median.toFixed(2) ?? '')
      return [`${figure(headline, value.median)}${version}`, ratio]
    }),
  ]
  return [
    `${heading(headline)}, by version of Node.js:`,
    '',
    `| ${['', ...titles].join(' | ')} |`,
    `|:---|${'---:|'.repeat(titles.length)}`,
    ...names.map((row) => `| ${line(row).join(' | ')} |`),
  ]
}

function nameOf({ entry }: Row, run: Run): string {
  const title = titleWithVersion(entry, run)
  return entry.javascript ? title : `${title} (no JavaScript)`
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

function rowCells(row: Row, headline: MetricName, run: Run, beside: readonly MetricName[]): string[] {
  const own = row.estimates[headline]
  const { base } = row
  const name = nameOf(row, run)
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
      const mark = isRate(metric) && row.flags.includes('generator-bound') ? '*' : ''
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
