/** A PostgreSQL server of a test: on a free port, with a folder and a password of its own, and nothing that outlives it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from './free-port.ts'
import { eventually } from './waiting.ts'

const programs = findPrograms()
const isRoot = process.getuid?.() === 0
/** The user who owns a server, as options of `spawn`: postgres refuses to run as root. */
const owner = isRoot ? findOwner() : null

/** Why tests that need PostgreSQL are skipped here; false where they run. The value is for the option `skip` of a test. */
export const withoutPostgres: string | false =
  programs === null
    ? 'postgresql is not installed'
    : isRoot && owner === null
      ? 'postgresql refuses to run as root, and there is no user postgres'
      : false

export class PostgresServer {
  readonly port: number
  /** The address with name and password, for drivers and for `DATABASE_URL`. */
  readonly url: string
  readonly #folder = mkdtempSync(join(tmpdir(), 'volant-postgres-'))
  #process: ChildProcess | null = null

  private constructor(port: number) {
    const password = randomUUID()
    this.port = port
    this.url = `postgresql://postgres:${password}@127.0.0.1:${port}/postgres`
    const secret = join(this.#folder, 'password')
    writeFileSync(secret, password)
    if (owner !== null) for (const each of [this.#folder, secret]) chownSync(each, owner.uid, owner.gid)
    const settings = ['--username=postgres', `--pwfile=${secret}`, '--auth=scram-sha-256', '--no-sync']
    const made = spawnSync(
      join(programs ?? '', 'initdb'),
      [`--pgdata=${this.#data}`, '--encoding=UTF8', '--locale=C', ...settings],
      { ...owner, cwd: this.#folder, encoding: 'utf8' },
    )
    if (made.status !== 0) throw new Error(`initdb failed: ${made.error?.message ?? made.stderr}`)
  }

  get #data(): string {
    return join(this.#folder, 'data')
  }

  /** Makes a server with an empty database that is not started yet. */
  static async make(): Promise<PostgresServer> {
    return new PostgresServer(await freePort())
  }

  /** Starts the server, and waits until it answers queries. `more` are settings by name. */
  async start(more: Record<string, string> = {}): Promise<this> {
    const settings = {
      port: this.port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'off',
      ...more,
    }
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    const child = spawn(join(programs ?? '', 'postgres'), ['-D', this.#data, ...args], {
      ...owner,
      cwd: this.#folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process = child
    let said = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-4_096)))
    await eventually(
      () => said.includes('ready to accept connections') || child.exitCode !== null,
      'postgres accepts connections',
    )
    if (child.exitCode !== null) throw new Error(`postgres ended with ${child.exitCode}: ${said}`)
    return this
  }

  /** Ends the server as a crash would: connections break, and it can be started again, with what was committed. */
  async kill(): Promise<void> {
    const child = this.#process
    this.#process = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const exit = once(child, 'exit')
    // "Immediate shutdown": after a SIGKILL the server's processes and its shared memory would stay.
    child.kill('SIGQUIT')
    await exit
  }

  /** Ends the server, and removes its folder. */
  async end(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

/** Gives the folder of the server's programs. Debian keeps them out of PATH, by version. */
function findPrograms(): string | null {
  const versions = '/usr/lib/postgresql'
  const debian = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((one, other) => Number(other) - Number(one))
        .map((version) => join(versions, version, 'bin'))
    : []
  const folders = [...debian, ...(process.env['PATH'] ?? '').split(delimiter)]
  return (
    folders.find((folder) => ['initdb', 'postgres'].every((name) => existsSync(join(folder, name)))) ?? null
  )
}

function findOwner(): { uid: number; gid: number } | null {
  const [uid, gid] = ['-u', '-g'].map((option) => {
    const { status, stdout } = spawnSync('id', [option, 'postgres'], { encoding: 'utf8' })
    return status === 0 ? Number(stdout) : undefined
  })
  return uid === undefined || gid === undefined ? null : { uid, gid }
}
