/** A cluster under test: one process that was started, its workers, and how it is rolled and stopped. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { Failure } from '../failure.ts'
import { entriesFolder } from '../folders.ts'
import { familyOf } from '../readings.ts'
import { type ClusterName, type Rival, rivals, runtimeOfRival } from './rivals.ts'
import { isRunning } from './processes.ts'

export interface Launch {
  readonly name: ClusterName
  readonly workers: number
  /** Pins all of its processes to a core, or to a list as `taskset` writes it; null leaves them to the kernel. */
  readonly core?: number | string | null
  readonly environment?: Readonly<Record<string, string>>
  /** Another file of Volant's folder for its workers to run. */
  readonly module?: string
  /** A program that starts it, with its arguments. It gets its lines by `tell`. */
  readonly by?: readonly string[]
  /** True starts one process that is no cluster, which it is compared with. */
  readonly alone?: boolean
}

/** How the first process ended. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** A cluster is ready, rolled or stopped after this time, in ms, or it never will be. */
const startLimit = 60_000
const rollLimit = 180_000
const stopLimit = 45_000

export class Cluster {
  readonly name: ClusterName
  readonly title: string
  /** Of the first process, which has the workers. */
  readonly pid: number
  readonly port: number
  /** In the environment of all of its processes and of no others. */
  readonly mark: string
  readonly ended: Promise<End>
  /** What the program that started it wrote to standard output; empty without one. */
  readonly lines: string[] = []
  readonly #size: number
  readonly #scratch: string
  readonly #child: ChildProcessByStdio<Writable | null, Readable, Readable>
  readonly #rival: Rival
  readonly #environment: NodeJS.ProcessEnv
  readonly #forget: () => void
  /** Resolves when its pipes are closed. */
  readonly #closed: Promise<unknown>
  #errors = ''
  #end: End | null = null

  private constructor(
    { name, workers, core = null, environment, module, by, alone = false }: Launch,
    port: number,
  ) {
    this.name = name
    this.port = port
    this.#rival = rivals[name]
    this.title = this.#rival.title
    this.#size = workers
    this.#scratch = mkdtempSync(join(tmpdir(), 'lab-cluster-'))
    this.mark = `SCRATCH=${this.#scratch}`
    this.#environment = {
      ...process.env,
      NODE_ENV: 'production',
      ...this.#rival.environment,
      ...environment,
      PORT: String(port),
      WORKERS: String(workers),
      SCRATCH: this.#scratch,
      PM2_HOME: join(this.#scratch, 'pm2'),
    }
    const own = alone ? this.#rival.alone : this.#rival.args(workers, module)
    const command = [...(by ?? []), ...runtimeOfRival(name), ...own]
    if (core !== null) command.unshift('taskset', '--cpu-list', String(core))
    this.#child = spawn(command[0] as string, command.slice(1), {
      cwd: join(entriesFolder, this.#rival.folder),
      env: this.#environment,
      stdio: [by === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    }) as ChildProcessByStdio<Writable | null, Readable, Readable>
    this.pid = this.#child.pid as number
    const lines = createInterface({ input: this.#child.stdout })
    lines.on('line', (line) => by !== undefined && this.lines.push(line))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-8_000)
    })
    this.#closed = new Promise((resolve) => this.#child.once('close', resolve))
    this.ended = new Promise((resolve) => {
      const end = (code: number | null, signal: NodeJS.Signals | null) =>
        resolve((this.#end = { code, signal }))
      this.#child.once('exit', end)
      this.#child.once('error', (error) => {
        this.#errors += error.message
        end(null, null)
      })
    })
    this.#forget = () => this.#destroy()
    process.once('exit', this.#forget)
  }

  /** Starts it, and waits until all of its workers serve. */
  static async start(launch: Launch): Promise<Cluster> {
    const cluster = Cluster.begin(launch, await freePort())
    try {
      await cluster.#until(() => cluster.workers().length >= launch.workers, startLimit, 'was not ready')
    } catch (error) {
      cluster.#destroy()
      throw error
    }
    return cluster
  }

  /** Starts it, without waiting. */
  static begin(launch: Launch, port: number): Cluster {
    return new Cluster(launch, port)
  }

  /** Those that serve: the pid of each, or of threads the pid and a number, `4711.2`. */
  workers(): string[] {
    return readdirSync(this.#scratch).flatMap((file) => {
      const id = /^worker-([\d.]+)$/.exec(file)?.[1]
      return id !== undefined && isRunning(pidOf(id)) ? [id] : []
    })
  }

  /** All of its processes. */
  family(): number[] {
    return familyOf(this.pid, this.mark).filter((pid) => isRunning(pid))
  }

  /** The nonces of the POSTs that its workers ran, each as often as it was run. */
  posts(): number[] {
    return readdirSync(this.#scratch)
      .filter((file) => file.startsWith('posts-'))
      .flatMap((file) =>
        readFileSync(join(this.#scratch, file), 'latin1').split('\n').filter(Boolean).map(Number),
      )
  }

  /** The end of what it wrote to standard error. */
  errors(): string {
    return this.#errors.trim()
  }

  /** What is started from now on fails, or is right again. */
  breakNew(isBroken: boolean): void {
    const file = join(this.#scratch, 'broken')
    if (isBroken) writeFileSync(file, '')
    else rmSync(file, { force: true })
  }

  /** Tells it to replace all of its workers. Throws a `Failure` where it cannot. */
  async tellToRoll(): Promise<void> {
    const { reload } = this.#rival
    if (reload === 'SIGHUP') this.signal('SIGHUP')
    else if ('lacks' in reload) throw new Failure(`${this.title} has no rolling restart: ${reload.lacks}`, 2)
    else {
      const [program, ...first] = runtimeOfRival(this.name) as [string, ...string[]]
      const child = spawn(program, [...first, ...reload.args], {
        cwd: join(entriesFolder, this.#rival.folder),
        env: this.#environment,
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      const code = await new Promise((resolve) => child.once('exit', resolve))
      if (code !== 0) throw new Failure(`${reload.args.slice(1).join(' ')} ended with ${String(code)}`)
    }
  }

  /** Replaces all of its workers, and waits until the new ones serve and the old ones are gone. */
  async roll(): Promise<void> {
    const old = new Set(this.workers())
    await this.tellToRoll()
    await this.#until(
      () => {
        const now = this.workers()
        return now.length >= this.#size && !now.some((id) => old.has(id))
      },
      rollLimit,
      'was not rolled',
    )
  }

  /** Sends a line to the program that started it. */
  tell(line: string): void {
    this.#child.stdin?.write(`${line}\n`)
  }

  signal(signal: NodeJS.Signals): void {
    this.#child.kill(signal)
  }

  /** Ends it as a system does, by SIGTERM. Null: it had to be killed. Its files are gone afterwards. */
  async stop(): Promise<End | null> {
    this.signal('SIGTERM')
    const end = await Promise.race([this.ended, sleep(stopLimit, null, { ref: false })])
    this.#destroy()
    return end
  }

  /** Kills what is left of it. */
  #destroy(): void {
    process.off('exit', this.#forget)
    for (const pid of familyOf(this.pid, this.mark)) end(pid)
    rmSync(this.#scratch, { recursive: true, force: true, maxRetries: 5 })
  }

  async #until(isSo: () => boolean, limit: number, what: string): Promise<void> {
    const deadline = performance.now() + limit
    while (!isSo()) {
      if (this.#end !== null) {
        const how = this.#end.signal ?? this.#end.code
        // What it wrote last may come after its end. What it started may keep the pipe open.
        await Promise.race([this.#closed, sleep(1_000, null, { ref: false })])
        throw new Failure(`${this.title} ended with ${String(how)}:\n${this.errors()}`)
      }
      if (performance.now() > deadline)
        throw new Failure(`${this.title} ${what} in ${limit / 1_000} s:\n${this.errors()}`)
      await sleep(10)
    }
  }
}

/** The process of a worker. */
export function pidOf(worker: string): number {
  return Number.parseInt(worker, 10)
}

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
