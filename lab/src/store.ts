/** A run on disk: a folder with `run.json`, and a line in `cells.jsonl` for every cell, written as soon as it is there. */
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { basename, isAbsolute, join, resolve } from 'node:path'
import type { Results } from './analysis.ts'
import type { Cell, Run } from './cell.ts'
import { Failure } from './failure.ts'
import { resultsFolder, rootFolder } from './folders.ts'
import { metricOf } from './metrics.ts'

const runFile = 'run.json'
const cellsFile = 'cells.jsonl'

/** A name is a folder of `results/`, anything with a slash a path. */
export function runFolder(name: string): string {
  if (['', '.', '..'].includes(name))
    throw new Failure(`a run cannot be named "${name}": give it a name, or a path with a slash`, 2)
  if (name.includes('/'))
    return isAbsolute(name) ? name : resolve(process.env['INIT_CWD'] ?? rootFolder, name)
  return join(resultsFolder, name)
}

/** Throws a `Failure` when a run of that name is there. */
export function createRun(folder: string, run: Run): void {
  if (existsSync(join(folder, runFile))) {
    throw new Failure(
      `${folder} has a run already: go on with it (--resume ${basename(folder)}) or choose another --name`,
      2,
    )
  }
  mkdirSync(folder, { recursive: true })
  writeRun(folder, run)
  writeFileSync(join(folder, cellsFile), '')
}

export function writeRun(folder: string, run: Run): void {
  writeFileSync(join(folder, runFile), `${JSON.stringify(run, null, 2)}\n`)
}

export function appendCell(folder: string, cell: Cell): void {
  appendFileSync(join(folder, cellsFile), `${JSON.stringify(cell)}\n`)
}

/** Throws a `Failure` when it is not there, or is cut short. */
export function readResults(name: string): Results {
  const folder = runFolder(name)
  const run = readRun(folder)
  const { cells, cut } = readCells(folder)
  if (cut === null) return { run, cells }
  throw new Failure(
    `${join(folder, cellsFile)}: line ${cut} is cut short; npm run lab -- run --resume ${name} keeps the ${cells.length} whole cells and measures the rest`,
    2,
  )
}

/** What is finished of an interrupted run: not what failed, nor a line that was cut short. */
export function readFinished(folder: string): Results {
  const cells = readCells(folder).cells.filter(({ status }) => status !== 'failed')
  return { run: readRun(folder), cells }
}

/** Only these are kept: the others are measured anew. */
export function keepOnly(folder: string, cells: readonly Cell[]): void {
  const file = join(folder, cellsFile)
  writeFileSync(`${file}.new`, cells.map((cell) => `${JSON.stringify(cell)}\n`).join(''))
  renameSync(`${file}.new`, file)
}

function readRun(folder: string): Run {
  const file = join(folder, runFile)
  if (!existsSync(file)) {
    const known = existsSync(resultsFolder) ? readdirSync(resultsFolder).join(' ') : ''
    throw new Failure(`there is no run ${folder}${known ? `; in results/: ${known}` : ''}`, 2)
  }
  let run: Run
  try {
    run = JSON.parse(readFileSync(file, 'utf8')) as Run
  } catch {
    throw new Failure(`${file} is cut short or no JSON: the run cannot be read, measure again`, 2)
  }
  if (run?.format !== 1) throw new Failure(`${file} has format ${String(run?.format)}; this lab reads 1`, 2)
  return run
}

/** `cut` is the number of the first line that is not a whole cell, null when all are. */
function readCells(folder: string): { cells: Cell[]; cut: number | null } {
  const file = join(folder, cellsFile)
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  const cells: Cell[] = []
  let cut: number | null = null
  for (const [index, line] of lines.entries()) {
    if (line === '' && index === lines.length - 1) break
    const cell = parseCell(line)
    if (cell === null) {
      cut ??= index + 1
      continue
    }
    for (const name of Object.keys(cell.metrics)) metricOf(name, `${file}, line ${index + 1}`)
    cells.push(cell)
  }
  return { cells, cut }
}

function parseCell(line: string): Cell | null {
  try {
    const cell = JSON.parse(line) as Partial<Cell> | null
    const named = [cell?.scenario, cell?.variant, cell?.entry, cell?.status].every(
      (text) => typeof text === 'string',
    )
    const { metrics } = cell ?? {}
    if (!named || typeof cell?.round !== 'number' || typeof metrics !== 'object' || metrics === null)
      return null
    return Object.values(metrics).every(Number.isFinite) ? (cell as Cell) : null
  } catch {
    return null
  }
}
