/** A program that serves a test: on a free port, with a folder of its own, and nothing that outlives it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from './waiting.ts'

export abstract class ServerProgram {
  readonly port: number
  protected readonly folder: string
  readonly #program: string
  #process: ChildProcess | null = null
  #ran = ''

  protected constructor(program: string, port: number) {
    this.#program = program
    this.port = port
    this.folder = mkdtempSync(join(tmpdir(), `volant-${program}-`))
  }

  /** Runs the program, and waits until it accepts connections. */
  protected async run(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<void> {
    const child = spawn(this.#program, args, { stdio: 'ignore', env })
    this.#process = child
    await eventually(
      async () => child.exitCode !== null || (await accepts(this.port)),
      `${this.#program} accepts connections`,
    )
    if (child.exitCode !== null) throw new Error(`${this.#program} ended with ${child.exitCode}`)
  }

  /** Stops the program, which then answers nobody until `goOn`. */
  async stop(): Promise<void> {
    await eventually(() => {
      this.#process?.kill('SIGSTOP')
      return this.#isStopped()
    }, `${this.#program} is stopped`)
    this.#ran = this.#runTime()
  }

  /** Says whether the program has run since `stop`, because another process sent SIGCONT. False without `/proc`. */
  hasRun(): boolean {
    return this.#runTime() !== this.#ran
  }

  /** True where there is no `/proc`. */
  #isStopped(): boolean {
    const stat = this.#read('stat')
    return stat === '' || stat.slice(stat.lastIndexOf(')') + 2).startsWith('T')
  }

  /** Returns for how long the main thread has had a core, in ns: the first number of `schedstat`. */
  #runTime(): string {
    return this.#read('schedstat').split(' ', 1)[0] as string
  }

  #read(name: string): string {
    try {
      return readFileSync(`/proc/${this.#process?.pid}/${name}`, 'latin1')
    } catch {
      return ''
    }
  }

  goOn(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Ends the server as a crash would. It can be started again, without what it had. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    child.kill('SIGKILL')
    await exit
  }

  /** Ends the server, and removes its folder. */
  async end(): Promise<void> {
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      resolve(true)
      socket.destroy()
    })
    socket.on('error', () => resolve(false))
  })
}
