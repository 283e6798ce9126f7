/** A NATS server of a test. */
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { ServerProgram } from './server-program.ts'

// Debian has it in /usr/sbin, which users other than root may not have in PATH.
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }

/** Why tests that need NATS are skipped here; false where they run. The value is for the option `skip` of a test. */
export const withoutNats: string | false =
  spawnSync('nats-server', ['--version'], { env }).status === 0 ? false : 'nats-server is not installed'

export class NatsServer extends ServerProgram {
  #settings: Record<string, string | number> = {}

  private constructor(port: number) {
    super('nats-server', port)
  }

  /** Makes a server that is not started yet. */
  static async make(): Promise<NatsServer> {
    return new NatsServer(await freePort())
  }

  /**
   * Starts the server, and waits until it accepts connections. `more` are settings of its file by name, at first none; a
   * server that is started again keeps those it had.
   */
  async start(more: Record<string, string | number> = this.#settings): Promise<this> {
    this.#settings = more
    const file = join(this.folder, 'nats.conf')
    writeFileSync(file, JSON.stringify({ port: this.port, host: '127.0.0.1', ...more }))
    await this.run(['--config', file], env)
    return this
  }
}
