/** A supervisor that a test has started, as a process of its own, with a folder for the files of the app. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, within } from '@volant/test-kit'
import type { ClusterInfo, WorkerInfo } from 'volant/cluster'
import { appOf } from './app.ts'
import type { Move } from './held-clock.ts'
import { runs } from './processes.ts'

/** In ms: for a process that hangs. */
const longest = 60_000
/** Between two questions to a supervisor, in ms: each of them costs it about as much. */
const pause = 10
/** Folders of apps stand in this package, so that `volant` is found from them. */
const folders = fileURLToPath(new URL('../runs', import.meta.url))
const command = fileURLToPath(import.meta.resolve('volant/package.json')).replace(
  /package\.json$/,
  'dist/src/bin.js',
)

export interface ClusterOptions {
  /** The file that is run. Default `main.js`. */
  module?: string
  /** Files by name; default the usual app as `main.js`. */
  files?: Readonly<Record<string, string>>
  /** A file that is run by itself, without the command. */
  program?: string
  /** True if its process ids are those of a namespace of its own. It ends its workers by itself. */
  isIsolated?: boolean
  /** Makes further files. */
  prepare?: (folder: string) => void
  /** The folder in which the command is run, within that of the test. */
  within?: string
  workers?: number | null
  args?: readonly string[]
  env?: NodeJS.ProcessEnv
  /** A program that runs the rest of the command line; it stands before `node`. */
  wrapper?: readonly string[]
  execArgv?: readonly string[]
  /** The descriptors of the process from 3 on. */
  passed?: readonly number[]
  /** False for a supervisor without `--control`. */
  control?: boolean
  /** Its clock stands still but for `advance` and `pauseFor`; those of its workers go on. Not behind a wrapper. */
  holdsClock?: boolean
}

export class Cluster {
  readonly folder: string
  readonly child: ChildProcess
  /** The supervisor and its workers have written this. */
  output = ''
  readonly ended: Promise<number | NodeJS.Signals>
  /** Every process that was seen as a worker. */
  readonly #seen = new Set<number>()
  /** Every process that was seen as the supervisor: below a wrapper it is not the child. */
  readonly #supervisors = new Set<number>()
  readonly #control: string
  readonly #isIsolated: boolean

  /** Starts a supervisor, and does not wait for its workers. */
  constructor(options: ClusterOptions = {}) {
    const {
      module = 'main.js',
      files,
      workers = 2,
      args = [],
      env = {},
      wrapper = [],
      execArgv = [],
    } = options
    mkdirSync(folders, { recursive: true })
    this.folder = mkdtempSync(join(folders, 'app-'))
    this.#isIsolated = options.isIsolated ?? false
    this.#control = join(this.folder, 'control')
    this.write('package.json', '{ "type": "module" }')
    for (const [name, text] of Object.entries(files ?? { 'main.js': appOf() })) this.write(name, text)
    options.prepare?.(this.folder)
    const current = join(this.folder, options.within ?? '')
    const held = options.holdsClock === true ? ['--import', import.meta.resolve('./held-clock.js')] : []
    const line = [...wrapper, process.execPath, ...execArgv, ...held]
    if (options.program !== undefined) line.push(options.program)
    else {
      line.push(command, 'start', module)
      if (workers !== null) line.push('--workers', String(workers))
      if (options.control !== false) line.push('--control', this.#control)
    }
    const [program = '', ...rest] = [...line, ...args]
    const environment: NodeJS.ProcessEnv = { ...process.env, PORT: '0', PWD: current, ...env }
    // The test runner would have these processes report to it.
    delete environment['NODE_TEST_CONTEXT']
    this.child = spawn(program, rest, {
      cwd: current,
      env: environment,
      stdio: [
        'ignore',
        'pipe',
        'pipe',
        ...(options.passed ?? []),
        ...(held.length > 0 ? (['ipc'] as const) : []),
      ],
    })
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
      })
    this.ended = once(this.child, 'exit').then(
      ([code, signal]) => (code ?? signal) as number | NodeJS.Signals,
    )
  }

  /** Starts a supervisor, and waits until all of its workers serve. */
  static async start(options: ClusterOptions = {}): Promise<Cluster> {
    const cluster = new Cluster(options)
    try {
      await cluster.says(/volant: listening on .*\r?\n/)
      if (options.program === undefined && options.control !== false) await answered(() => cluster.info())
    } catch (error) {
      await cluster.end()
      throw error
    }
    return cluster
  }

  get pid(): number {
    return this.child.pid as number
  }

  /** The first port that it says. */
  get port(): number {
    return Number(/listening on https?:\/\/[^ ]*?:(\d+)/.exec(this.output)?.[1])
  }

  write(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text)
  }

  /** Waits until a worker waits by each of these names, or blocks by the name `block`. */
  held(...names: readonly string[]): Promise<void> {
    const files = names.map((name) => join(this.folder, `held-${name}`))
    return eventually(() => files.every((file) => existsSync(file)), `what holds: ${names.join()}`)
  }

  /** Has workers go on that wait by one of these names, now or later. */
  release(...names: readonly string[]): void {
    for (const name of names) this.write(`released-${name}`, '')
  }

  signal(signal: NodeJS.Signals): void {
    process.kill(this.pid, signal)
  }

  /** Waits until the output has something, and gives it. */
  async says(what: RegExp): Promise<RegExpExecArray> {
    await eventually(() => what.test(this.output) || this.child.exitCode !== null, `it says ${what}`)
    const found = what.exec(this.output)
    if (found === null) throw new Error(`it never said ${what}, but:\n${this.output}`)
    return found
  }

  /** Asks the supervisor. */
  ask(path: string, method = 'GET'): Promise<{ status: number; allow: string | undefined; text: string }> {
    return new Promise((resolve, reject) => {
      const asked = request(
        { socketPath: this.#control, path, method, agent: false, timeout: longest },
        (reply) => {
          let text = ''
          reply.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          reply.on('end', () => resolve({ status: reply.statusCode ?? 0, allow: reply.headers.allow, text }))
        },
      )
      asked.on('timeout', () => asked.destroy(new Error(`the supervisor never answered ${method} ${path}`)))
      asked.on('error', reject)
      asked.end()
    })
  }

  async info(): Promise<ClusterInfo> {
    const info = JSON.parse((await this.ask('/workers')).text) as ClusterInfo
    if (!this.#isIsolated) {
      this.#supervisors.add(info.pid)
      for (const { pid } of info.workers) this.#seen.add(pid)
    }
    return info
  }

  async workers(): Promise<readonly WorkerInfo[]> {
    return (await this.info()).workers
  }

  /** The process ids of its workers. */
  async pids(): Promise<number[]> {
    return (await this.workers()).map(({ pid }) => pid)
  }

  /** Waits until the workers are as `test` wants them. */
  async until(test: (info: ClusterInfo) => boolean, what: string): Promise<ClusterInfo> {
    let info = await this.info()
    const holds = async (): Promise<boolean> => test((info = await this.info()))
    await eventually(holds, what, pause).catch((error: Error) => {
      throw new Error(`${error.message}\n${JSON.stringify(info, null, 1)}\n${this.output}`)
    })
    return info
  }

  /** Moves a clock that is held on by so many milliseconds. Timers that are due run in their order. */
  advance(ms: number): Promise<void> {
    return this.#move({ advance: ms })
  }

  /** Lets a supervisor whose clock is held find that it has not run for so many milliseconds. */
  pauseFor(ms: number): Promise<void> {
    return this.#move({ pause: ms })
  }

  async #move(move: Move): Promise<void> {
    const moved = once(this.child, 'message')
    this.child.send(move)
    await within(Promise.race([moved, this.ended]), 'to move the clock')
  }

  /** Sends SIGTERM to a supervisor, and waits until it says that it stops. */
  async stop(): Promise<void> {
    this.signal('SIGTERM')
    await eventually(async () => (await this.ask('/ready')).status === 503, '/ready says 503', pause)
  }

  /** Waits for the end, and gives the exit code or the signal. */
  exit(): Promise<number | NodeJS.Signals> {
    return within(this.ended, `the end of the supervisor, which wrote:\n${this.output}\n`)
  }

  /** Leaves nothing behind, whatever the test did. */
  async end(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      await this.info().catch(() => {})
      this.child.kill('SIGKILL')
      await this.ended
    }
    // Supervisors come first, or they would replace their workers.
    for (const pid of [...this.#supervisors, ...this.#seen]) {
      if (pid !== this.child.pid && runs(pid)) kill(pid)
    }
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** Waits until a supervisor answers: it begins to listen for questions beside the workers. */
export async function answered(asking: () => Promise<unknown>): Promise<void> {
  let fault: unknown
  const isAnswered = (): Promise<boolean> =>
    asking().then(
      () => true,
      (error: unknown) => {
        fault = error
        return false
      },
    )
  await eventually(isAnswered, 'the supervisor answers', pause).catch(() => {
    throw fault
  })
}

/** It may have ended by itself. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
