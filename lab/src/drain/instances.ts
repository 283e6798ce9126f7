/** Processes that serve, each on a port of its own: started, stopped by SIGTERM, replaced. */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Failure } from '../failure.ts'

export const servers = ['native', 'node-http', 'uwebsockets', 'node', 'fastify'] as const
export type ServerName = (typeof servers)[number]

/** A process that has not started after this time never does, in ms. */
const patience = 30_000
/** After this time a supervisor kills, in ms: what Volant may take (`shutdownTimeout`), and 5 s. */
const grace = 15_000
const program = fileURLToPath(new URL('./instance.js', import.meta.url))

export class Instance {
  readonly port: number
  readonly #child: ChildProcess
  readonly #kill: () => void

  private constructor(server: ServerName, port: number, root: string) {
    this.port = port
    this.#child = fork(program, [server, String(port), root], {
      execArgv: [],
      stdio: ['ignore', 2, 2, 'ipc'],
      env: { ...process.env, NODE_ENV: 'production' },
    })
    this.#kill = () => void this.#child.kill('SIGKILL')
    process.once('exit', this.#kill)
  }

  static async start(server: ServerName, port: number, root: string): Promise<Instance> {
    const instance = new Instance(server, port, root)
    await instance.#ready()
    return instance
  }

  /**
   * Stops it as a supervisor does: by SIGTERM, and by SIGKILL when it has not ended in time. Resolves with the POSTs that
   * it ran; null where it was killed.
   */
  async stop(): Promise<readonly number[] | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return []
    const ended = once(this.#child, 'exit')
    let posts: readonly number[] | null = null
    this.#child.once('message', (message) => (posts = message as number[]))
    this.#child.kill('SIGTERM')
    const timer = setTimeout(this.#kill, grace)
    const [code, signal] = (await ended) as [number | null, string | null]
    clearTimeout(timer)
    process.off('exit', this.#kill)
    if (signal === 'SIGKILL') return null
    if (code !== 0) throw new Failure(`the server did not end as it should: ${signal ?? code}`)
    return posts
  }

  #ready(): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (how: string) => reject(new Failure(`the server did not start: ${how}`))
      const timer = setTimeout(() => fail(`it was silent for ${patience / 1_000} s`), patience)
      const ended = (code: number | null, signal: string | null) => fail(`it ended with ${signal ?? code}`)
      this.#child.once('exit', ended)
      this.#child.once('message', () => {
        clearTimeout(timer)
        this.#child.off('exit', ended)
        resolve()
      })
    })
  }
}
