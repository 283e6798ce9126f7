/** Runs a program of this folder in a process of its own, so that a crash is an outcome and not the end of the tests. */
import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

export interface Outcome {
  code: number | null
  signal: NodeJS.Signals | null
  output: string
  errors: string
}

export interface ChildOptions {
  env?: Record<string, string>
  /** Another Node than the one running. */
  node?: string
  /** Killed after this time, in ms. Default 60,000. */
  limit?: number
}

export class Child {
  readonly process: ChildProcess
  readonly outcome: Promise<Outcome>
  #output = ''
  #errors = ''
  #wake: (() => void) | null = null

  constructor(program: string, args: string[] = [], options: ChildOptions = {}) {
    const file = fileURLToPath(new URL(`./${program}.js`, import.meta.url))
    const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
    this.process = spawn(options.node ?? process.execPath, [file, ...args], {
      env: { ...inherited, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.#output += text
      this.#wake?.()
    })
    this.process.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#errors += text))
    const timer = setTimeout(() => this.process.kill('SIGKILL'), options.limit ?? 300_000)
    this.outcome = new Promise((resolve, reject) => {
      this.process.on('error', reject)
      this.process.on('close', (code, signal) => {
        clearTimeout(timer)
        resolve({ code, signal, output: this.#output, errors: this.#errors })
        this.#wake?.()
      })
    })
  }

  /** Waits for a line that `pattern` matches. Throws with what was printed when the process ends without it. */
  async line(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.#output)
      if (match !== null) return match
      if (this.process.exitCode !== null || this.process.signalCode !== null) {
        throw new Error(`the process ended without ${pattern}: ${this.#output}${this.#errors}`)
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  /** The port the program printed. */
  async port(): Promise<number> {
    return Number((await this.line(/^port (\d+)$/m))[1])
  }
}
