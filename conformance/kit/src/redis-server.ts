/** A Redis server of a test. */
import { spawnSync } from 'node:child_process'
import { freePort } from './free-port.ts'
import { ServerProgram } from './server-program.ts'

/** Why tests that need Redis are skipped here; false where they run. The value is for the option `skip` of a test. */
export const withoutRedis: string | false =
  spawnSync('redis-server', ['--version']).status === 0 ? false : 'redis-server is not installed'

export class RedisServer extends ServerProgram {
  #settings: Record<string, string> = {}

  private constructor(port: number) {
    super('redis-server', port)
  }

  /** Makes a server that is not started yet. */
  static async make(): Promise<RedisServer> {
    return new RedisServer(await freePort())
  }

  /**
   * Starts the server, and waits until it accepts connections. `more` are settings by name, at first none; a server that
   * is started again keeps those it had.
   */
  async start(more: Record<string, string> = this.#settings): Promise<this> {
    this.#settings = more
    const settings = {
      port: this.port,
      bind: '127.0.0.1',
      dir: this.folder,
      save: '',
      appendonly: 'no',
      ...more,
    }
    await this.run(Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]))
    return this
  }
}
