/** The options of a supervisor, checked. */
import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkInteger, checkNames } from '../options/checks.ts'
import { millisecondsOf } from '../options/duration.ts'

/** The options of `supervise`. */
export interface SuperviseOptions {
  /** The file of the app, from the current folder. It listens by itself, as with `node FILE`. */
  module: string
  /**
   * How many processes run it, from 1 to 1,024; `auto` for as many as can run at once here: the processors that this
   * process may use, within the quota of its control group. Default: `WEB_CONCURRENCY`, else 1.
   */
  workers?: number | 'auto' | undefined
  /** What the app finds in `process.argv` behind its file. Default none. */
  args?: readonly string[] | undefined
  /** The time in which a worker has to listen, in milliseconds or as `'30 seconds'`; else it is killed. Default 30 s. */
  startTimeout?: number | string | undefined
  /**
   * The time after which a worker whose event loop is blocked is killed and replaced. It gets no connections once two
   * beats, one a second, are missing. Default 30 s.
   */
  hangTimeout?: number | string | undefined
  /** The memory (RSS) past which a worker is replaced, in bytes or as `'512mb'`. Default: no limit. */
  maxMemory?: number | string | undefined
  /**
   * The time for which connections are accepted after SIGTERM, while `/ready` says 503: a balancer needs it to take this
   * machine out of its list. Default 0.
   */
  drainDelay?: number | string | undefined
  /** Where `/health`, `/ready` and `/workers` of the supervisor are: a socket file, or `HOST:PORT`. Default nowhere. */
  control?: string | undefined
}

/** A socket file, or a host and its port. */
export interface ControlAddress {
  readonly path: string | null
  readonly host: string
  readonly port: number
}

/** The checked options. Times are in milliseconds, sizes in bytes. */
export interface SupervisePlan {
  /** The folder that the supervisor was started in, as it was named: a part of it may be a link that moves. */
  readonly folder: string
  readonly module: string
  readonly workers: number
  readonly args: readonly string[]
  readonly startTimeout: number
  readonly hangTimeout: number
  readonly maxMemory: number
  readonly drainDelay: number
  readonly control: ControlAddress | null
}

const names = [
  'module',
  'workers',
  'args',
  'startTimeout',
  'hangTimeout',
  'maxMemory',
  'drainDelay',
  'control',
] as const
const mostWorkers = 1_024
const longest = 86_400_000

/** Fills in defaults. `parallelism` is how many threads can run at once. Throws `E_BAD_OPTION`. */
export function planOf(options: SuperviseOptions, parallelism: () => number, folder: string): SupervisePlan {
  checkNames('supervise', options, names, { instances: 'workers', script: 'module', exec: 'module' })
  const { module, args = [], control } = options
  if (typeof module !== 'string' || module === '') throw bad('module', module, 'the file of the app')
  checkModule(folder, module)
  if (!Array.isArray(args) || args.some((each) => typeof each !== 'string'))
    throw bad('args', args, 'a list of texts')
  return {
    folder,
    module,
    workers: workersOf(options.workers, parallelism),
    args,
    startTimeout: timeOf('startTimeout', options.startTimeout, 30_000, 100),
    hangTimeout: timeOf('hangTimeout', options.hangTimeout, 30_000, 3_000),
    maxMemory: sizeOf(options.maxMemory),
    drainDelay: timeOf('drainDelay', options.drainDelay, 0, 0),
    control: control === undefined ? null : controlOf(control),
  }
}

function checkModule(folder: string, module: string): void {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const strips = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
  if (/\.[cm]?ts$/.test(module) && !strips && !loadsTypeScript()) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${module} is TypeScript, which Node.js ${process.versions.node} does not run: compile it and give the .js file, or use Node.js 22.18 or newer`,
    )
  }
  try {
    if (!statSync(resolve(folder, module)).isFile()) throw new Error('it is a folder')
  } catch (error) {
    throw new VolantError(
      'E_BAD_OPTION',
      `there is no file ${module} in ${folder}: give the file that you would run with node`,
      { cause: error },
    )
  }
}

/** Gives whether a loader was given to Node.js, such as tsx. */
function loadsTypeScript(): boolean {
  return [...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some((each) =>
    /--import|--loader|--require|-r\b|--experimental-(strip|transform)-types/.test(each),
  )
}

function controlOf(address: unknown): ControlAddress {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(String(address)) ?? []
  const isFile = port === '' && typeof address === 'string' && /\D/.test(address)
  if (isFile) return { path: address, host: '', port: 0 }
  if (host !== '' && Number(port) >= 1 && Number(port) <= 65_535)
    return { path: null, host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) }
  throw bad(
    'control',
    address,
    "a socket file, such as './9000', or a host and its port, as '127.0.0.1:9000'",
  )
}

function workersOf(given: unknown, parallelism: () => number): number {
  const [value, name] =
    given === undefined ? [process.env['WEB_CONCURRENCY'], 'WEB_CONCURRENCY'] : [given, 'workers']
  if (value === undefined || value === '') return 1
  if (value === 'auto') return Math.min(parallelism(), mostWorkers)
  const count = typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value
  checkInteger(name, count, [1, mostWorkers], `a number from 1 to ${mostWorkers}, or auto`)
  return count as number
}

function timeOf(name: string, given: unknown, otherwise: number, least: number): number {
  if (given === undefined) return otherwise
  const ms = millisecondsOf(given) ?? given
  if (typeof ms === 'number' && Number.isInteger(ms) && ms >= least && ms <= longest) return ms
  throw bad(name, given, `milliseconds from ${least} to ${longest}, or a text such as '30s'`)
}

const units: Readonly<Record<string, number>> = { '': 1, b: 1, kb: 2 ** 10, mb: 2 ** 20, gb: 2 ** 30 }

function sizeOf(given: unknown): number {
  if (given === undefined) return Infinity
  const [, count, unit = ''] = /^(\d+) ?([kmg]?b?)$/i.exec(String(given)) ?? []
  const factor = units[/^[kmg]$/i.test(unit) ? `${unit.toLowerCase()}b` : unit.toLowerCase()]
  const bytes = Number(count) * (factor ?? NaN)
  // A worker has some 50 MB before it has done anything, and would be replaced for ever.
  if (bytes >= 64 * 2 ** 20 && Number.isSafeInteger(bytes)) return bytes
  throw bad('maxMemory', given, "bytes from 64 MiB on, or a text such as '512mb'")
}
