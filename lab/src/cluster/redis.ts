/** A redis-server that the lab starts, stops and kills. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort } from '@volant/test-kit'
import { Failure } from '../failure.ts'
import { isInstalled } from '../machine.ts'

/** It accepts connections after this time, in ms, or it never will. */
const startLimit = 30_000

export class Redis {
  readonly url: string
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #clear: () => void

  private constructor(port: number) {
    this.url = `redis://127.0.0.1:${port}`
    this.#folder = mkdtempSync(join(tmpdir(), 'lab-redis-'))
    const settings = { port, bind: '127.0.0.1', dir: this.#folder, save: '', appendonly: 'no' }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    this.#child = spawn('redis-server', args, { stdio: 'ignore' })
    this.#clear = () => {
      this.#child.kill('SIGKILL')
      rmSync(this.#folder, { recursive: true, force: true })
    }
    process.once('exit', this.#clear)
  }

  /** Throws a `Failure` where redis-server is not installed. */
  static async start(): Promise<Redis> {
    if (!isInstalled('redis-server'))
      throw new Failure('redis-server is missing (apt-get install redis-server)', 2)
    const port = await freePort()
    const redis = new Redis(port)
    const deadline = performance.now() + startLimit
    while (!(await accepts(port))) {
      if (performance.now() > deadline) throw new Failure('redis-server did not start')
      await sleep(10)
    }
    return redis
  }

  /** SIGKILL ends it as a crash does; after SIGSTOP it takes connections and answers nobody. */
  signal(name: 'SIGKILL' | 'SIGSTOP'): void {
    this.#child.kill(name)
  }

  async end(): Promise<void> {
    process.off('exit', this.#clear)
    const isOver = this.#child.exitCode !== null || this.#child.signalCode !== null
    const over = isOver ? null : once(this.#child, 'exit')
    this.#clear()
    await over
  }
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket
      .on('error', () => resolve(false))
      .on('connect', () => {
        socket.destroy()
        resolve(true)
      })
  })
}
