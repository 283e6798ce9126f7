/** The real command line, with entries, results and temporary files in a folder of the test's own. */
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Cell } from '../src/cell.ts'
import { entryRunning } from './broken-entry.ts'

export interface Outcome {
  readonly code: number | null
  readonly output: string
  readonly errors: string
}

export interface Laboratory {
  readonly folder: string
  run(args: readonly string[], environment?: NodeJS.ProcessEnv): Promise<Outcome>
  /** Runs command lines one after the other in one process, which is much faster, and gives what each printed. */
  runEach(
    lines: readonly { args: readonly string[]; environment?: Readonly<Record<string, string>> }[],
  ): Promise<Outcome[]>
  /** Without waiting for its end. */
  start(
    args: readonly string[],
    environment?: NodeJS.ProcessEnv,
  ): { child: ChildProcess; ended: Promise<Outcome> }
  /** `file` of a run. */
  file(run: string, file: string): string
  cells(run: string): Cell[]
  /** Processes and temporary files that it did not take away. */
  leftovers(): string[]
  close(): void
}

const cli = fileURLToPath(new URL('../src/cli.js', import.meta.url))
const commandLines = fileURLToPath(new URL('./command-lines.js', import.meta.url))

/** Entries by name: the file of `test/servers` that each runs, and what is added to its environment. */
export function laboratory(
  entries: Readonly<
    Record<string, readonly [server: string, environment?: Readonly<Record<string, string>>]>
  > = {},
): Laboratory {
  const folder = mkdtempSync(join(tmpdir(), 'laboratory-'))
  for (const name of ['entries', 'results', 'temporary']) mkdirSync(join(folder, name))
  for (const [name, [server, environment = {}]] of Object.entries(entries)) {
    const own = join(folder, 'entries', name)
    mkdirSync(own)
    const manifest = {
      title: `The ${name} server`,
      about: 'Of a test',
      adapter: 'node:http',
      server: relative(own, entryRunning(server).server),
      programs: ['hello', 'stack', 'velox', 'routes'],
      environment,
    }
    writeFileSync(join(own, 'entry.json'), JSON.stringify(manifest))
  }
  const start: Laboratory['start'] = (args, environment) => startProgram('ignore', cli, args, environment)
  const startProgram = (
    input: 'ignore' | 'pipe',
    program: string,
    args: readonly string[],
    environment: NodeJS.ProcessEnv = {},
  ) => {
    const own = { LAB_ENTRIES: join(folder, 'entries'), LAB_RESULTS: join(folder, 'results') }
    const child = spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...own, TMPDIR: join(folder, 'temporary'), ...environment },
      stdio: [input, 'pipe', 'pipe'],
    })
    let output = ''
    let errors = ''
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors += text))
    const ended = new Promise<Outcome>((resolve, reject) => {
      child.on('error', reject).on('close', (code) => resolve({ code, output, errors }))
    })
    return { child, ended }
  }
  const file: Laboratory['file'] = (run, name) => join(folder, 'results', run, name)
  return {
    folder,
    start,
    file,
    run: (args, environment) => start(args, environment).ended,
    runEach: async (lines) => {
      const { child, ended } = startProgram('pipe', commandLines, [])
      child.stdin?.end(JSON.stringify(lines.map(({ args, environment = {} }) => ({ args, environment }))))
      const { code, output, errors } = await ended
      assert.equal(code, 0, errors)
      return JSON.parse(output) as Outcome[]
    },
    cells: (run) =>
      readFileSync(file(run, 'cells.jsonl'), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Cell),
    leftovers: () => [...processesOf(folder), ...readdirSync(join(folder, 'temporary'))],
    close: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** Those that run in the folder, or were given a file of it. */
function processesOf(folder: string): string[] {
  return readdirSync('/proc').filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false
    try {
      const at = readlinkSync(`/proc/${name}/cwd`)
      return at.startsWith(folder) || readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(folder)
    } catch {
      return false
    }
  })
}

/** What the lab said of faults: without the progress, and the note of a machine with one core. */
export function faultsIn({ errors }: Outcome): string[] {
  return errors.split('\n').filter((line) => /^lab: (?!not pinned)/.test(line))
}
