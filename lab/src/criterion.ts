/** The micro-benchmarks of the parser and the router, as `cargo bench` leaves them. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { CriterionResult } from './cell.ts'
import { Failure } from './failure.ts'
import { rootFolder } from './folders.ts'

const benches = ['parse', 'route']

/** Runs both and reads what they wrote. Throws a `Failure` when cargo fails. */
export async function collectCriterion(): Promise<CriterionResult[]> {
  const target = resolve(rootFolder, process.env['CARGO_TARGET_DIR'] ?? 'target')
  const folder = join(target, 'criterion')
  // What an earlier version measured is not of this one.
  rmSync(folder, { recursive: true, force: true })
  console.error('cargo bench of the parser and the router')
  const manifest = join(rootFolder, 'lab/benches/Cargo.toml')
  const args = [
    'bench',
    '--locked',
    '--manifest-path',
    manifest,
    ...benches.flatMap((name) => ['--bench', name]),
  ]
  const env = { ...process.env, CARGO_TARGET_DIR: target }
  const child = spawn('cargo', args, { cwd: rootFolder, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)))
  const code = await new Promise<number | null>((done, reject) => {
    child.on('error', (error) => reject(new Failure(`cargo bench did not start: ${error.message}`, 2)))
    child.on('close', done)
  })
  if (code !== 0) throw new Failure(`cargo bench failed: ${errors.trim().split('\n').at(-1)}`)
  return readCriterion(folder)
}

/** Every `new/estimates.json` below the folder: the median and its 95 % interval, ns. */
export function readCriterion(folder: string): CriterionResult[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(join('new', 'estimates.json')))
    .map((file) => {
      const { median } = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Estimates
      return {
        name: file.slice(0, -join('/new', 'estimates.json').length),
        nanoseconds: median.point_estimate,
        low: median.confidence_interval.lower_bound,
        high: median.confidence_interval.upper_bound,
      }
    })
    .toSorted((a, b) => a.name.localeCompare(b.name))
}

interface Estimates {
  readonly median: {
    readonly point_estimate: number
    readonly confidence_interval: { readonly lower_bound: number; readonly upper_bound: number }
  }
}
