/** HAProxy before the servers of a test. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port.ts'
import { ServerProgram } from './server-program.ts'

// Debian has it in /usr/sbin, which users other than root may not have in PATH.
const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }

/** Why tests that need HAProxy are skipped here; false where they run. The value is for the option `skip` of a test. */
export const withoutHaproxy: string | false =
  spawnSync('haproxy', ['-v'], { env }).status === 0 ? false : 'haproxy is not installed'

export class Haproxy extends ServerProgram {
  private constructor(port: number) {
    super('haproxy', port)
  }

  /** Makes a proxy that is not started yet. */
  static async make(): Promise<Haproxy> {
    return new Haproxy(await freePort())
  }

  /** Gives what `haproxy -c` finds wrong with a configuration, or an empty text. */
  static faults(configuration: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'volant-haproxy-'))
    try {
      const file = join(folder, 'haproxy.cfg')
      writeFileSync(file, configuration)
      const { status, stderr } = spawnSync('haproxy', ['-c', '-f', file], { env, encoding: 'utf8' })
      return status === 0 ? '' : `exit code ${status}\n${stderr}`
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  /** Starts the proxy, and waits until it accepts connections at its port, which `configuration` has to bind. */
  async start(configuration: string): Promise<this> {
    const file = join(this.folder, 'haproxy.cfg')
    writeFileSync(file, configuration)
    await this.run(['-db', '-f', file], env) // one process, in the foreground
    return this
  }
}
