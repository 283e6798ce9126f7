/** Starts an app with `volant start`, as users do, and ends it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Agent, get } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { within } from '@volant/test-kit'

const manifest = createRequire(import.meta.url).resolve('volant/package.json')
const command = join(dirname(manifest), 'dist/src/bin.js')

export class Started {
  readonly child: ChildProcess
  readonly #ended: Promise<unknown>

  /** `module` is a file beside this one, without its ending. `stdout` is a descriptor, or a stream of `child`. */
  constructor(module: string, workers: number, stdout: number | 'pipe' = 'pipe') {
    const file = fileURLToPath(new URL(`${module}.js`, import.meta.url))
    this.child = spawn(process.execPath, [command, 'start', file, '--workers', String(workers)], {
      stdio: ['ignore', stdout, 'inherit'],
    })
    this.#ended = once(this.child, 'exit')
  }

  /** Gives each line of standard output to `take`, and resolves with the URL when all workers serve. */
  async url(output: NodeJS.ReadableStream, take: (line: string) => void = () => {}): Promise<string> {
    const url = new Promise<string>((resolve) => {
      createInterface({ input: output }).on('line', (line) => {
        const [, found] = /^volant: listening on (\S+) \(/.exec(line) ?? []
        if (found === undefined) take(line)
        else resolve(found)
      })
    })
    const ended = this.#ended.then(() => {
      throw new Error(`volant start ended with ${this.child.exitCode}`)
    })
    ended.catch(() => {})
    return within(Promise.race([url, ended]), 'the start')
  }

  /** Ends the supervisor and its workers. */
  async stop(): Promise<void> {
    this.child.kill('SIGTERM')
    try {
      await within(this.#ended, 'the end')
    } finally {
      this.child.kill('SIGKILL')
    }
  }
}

/** Sends a GET, over the connection of `agent`, or one of its own. Rejects if the connection fails. */
export function request(url: string, agent?: Agent): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    get(url, { agent: agent ?? false }, (reply) => {
      let text = ''
      reply.setEncoding('utf8')
      reply.on('data', (part: string) => (text += part))
      reply.on('error', reject)
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, text }))
    }).on('error', reject)
  })
}
