/** A project in a folder of its own, that `volant dev` runs. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { eventually, freePort } from '@volant/test-kit'

const require = createRequire(import.meta.url)
const installed = dirname(require.resolve('volant/package.json'))

/** An app that says which version it is. */
const main = `import { createApp } from 'volant'
import { version } from './version.js'
const app = createApp({ log: false })
app.get('/', () => version)
app.get('/greeting', () => String(process.env.GREETING))
app.get('/pid', () => String(process.pid))
app.get('/events', (ctx) => ctx.sse(async (feed) => {
  await feed.send(version)
  await new Promise(() => {})
}))
app.get('/never', () => new Promise(() => {}))
app.get('/crash', () => {
  setImmediate(() => { throw new Error('it has crashed') })
  return 'soon'
})
app.ws('/echo', { open: (ws) => ws.send(version) })
await app.listen(Number(process.env.PORT), '127.0.0.1')
`

/** Gives the source of `src/version.js`. */
export function versionSource(version: string): string {
  return `export const version = '${version}'\n`
}

export class Project {
  /** Its real path. */
  readonly folder: string
  readonly port: number
  /** The arguments that `node` and `volant dev` are given. */
  nodeOptions: readonly string[] = []
  module = 'src/main.js'
  /** The text that the command and the app have written. */
  output = ''
  #child: ChildProcess | null = null

  private constructor(port: number) {
    this.port = port
    this.folder = realpathSync(mkdtempSync(join(tmpdir(), 'volant-dev-')))
    this.link('volant', installed)
    this.write('package.json', '{ "type": "module" }\n')
    this.write('src/main.js', main)
    this.write('src/version.js', versionSource('first'))
  }

  static async make(): Promise<Project> {
    return new Project(await freePort())
  }

  /** Makes a package importable. */
  link(name: string, target: string): void {
    mkdirSync(join(this.folder, 'node_modules'), { recursive: true })
    symlinkSync(target, join(this.folder, 'node_modules', name), 'dir')
  }

  write(path: string, content: string): void {
    const file = join(this.folder, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }

  /** Runs the command; arguments go before the module. */
  run(...args: string[]): void {
    const command = join(installed, 'dist/src/bin.js')
    const longer = ['--import', import.meta.resolve('./long-limits.js')]
    const child = spawn(
      process.execPath,
      [...this.nodeOptions, ...longer, command, 'dev', ...args, this.module],
      {
        cwd: this.folder,
        env: { ...process.env, PORT: String(this.port), NODE_OPTIONS: '' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => (this.output += part))
    }
  }

  /** Runs the command, and waits until the app serves. */
  async serve(...args: string[]): Promise<void> {
    this.run(...args)
    await this.says('listening on')
  }

  /** Waits until the text has been written so often. */
  async says(text: string, times = 1): Promise<void> {
    await eventually(() => this.count(text) >= times || this.#hasEnded, `${text}\n${this.output}`)
    if (this.count(text) < times) throw new Error(`the command has ended:\n${this.output}`)
  }

  /** Gives how often the text was written. */
  count(text: string): number {
    return this.output.split(text).length - 1
  }

  async ask(path = '/'): Promise<string> {
    for (let again = 0; ; again++) {
      try {
        return await this.askOnce(path)
      } catch (error) {
        // A client that stands still before its request has an idle connection, which a version that ends closes.
        const code = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code
        if (again === 10 || (code !== 'UND_ERR_SOCKET' && code !== 'ECONNRESET')) throw error
      }
    }
  }

  /** Asks once, on a connection of its own. */
  async askOnce(path: string): Promise<string> {
    const reply = await fetch(`http://127.0.0.1:${this.port}${path}`, { headers: { connection: 'close' } })
    return reply.text()
  }

  /** Presses Ctrl-C, and gives the exit code. */
  async interrupt(): Promise<number | null> {
    const child = this.#child as ChildProcess
    if (!this.#hasEnded) {
      const exit = once(child, 'exit')
      child.kill('SIGINT')
      await exit
    }
    return child.exitCode
  }

  async end(): Promise<void> {
    if (this.#child !== null) await this.interrupt()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get #hasEnded(): boolean {
    return this.#child === null || this.#child.exitCode !== null || this.#child.signalCode !== null
  }
}
