/** A Redis server of a test: on a free port, with a folder of its own, and nothing that outlives it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { eventually } from './waiting.ts'

/** Why tests that need Redis are skipped here; false where they run. The value is for the option `skip` of a test. */
export const withoutRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'redis-server is not installed'

export class RedisServer {
  readonly port: number
  readonly #folder = mkdtempSync(join(tmpdir(), 'volant-redis-'))
  #process: ChildProcess | null = null

  private constructor(port: number) {
    this.port = port
  }

  /** Makes a server that is not started yet. */
  static async make(): Promise<RedisServer> {
    return new RedisServer(await freePort())
  }

  /** Starts the server, and waits until it accepts connections. `more` are settings by name. */
  async start(more: Record<string, string> = {}): Promise<this> {
    const settings = {
      port: this.port,
      bind: '127.0.0.1',
      dir: this.#folder,
      save: '',
      appendonly: 'no',
      ...more,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)])
    const child = spawn('redis-server', args, { stdio: 'ignore' })
    this.#process = child
    let accepts = false
    const ask = (): void => {
      const socket = connect(this.port, '127.0.0.1', () => {
        accepts = true
        socket.destroy()
      })
      socket.on('error', () => setTimeout(ask, 5))
    }
    ask()
    await eventually(() => accepts || child.exitCode !== null, 'redis-server accepts connections')
    if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`)
    return this
  }

  /** Sends a signal: SIGSTOP has it answer nobody until SIGCONT. */
  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.#process?.kill(name)
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
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
