/** The service in several processes, with the option `--workers`. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { eventually } from '@volant/test-kit'
import type { Figures } from '../../src/live.ts'

export const server = fileURLToPath(new URL('../../src/server.js', import.meta.url))

/** Only a hang takes as long, in ms. */
export const timeout = 300_000

export interface Answer {
  readonly status: number
  readonly body: string
}

/** A client with one connection, and hence one worker, for as long as that serves. */
export class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  constructor(url: string) {
    this.#url = url
  }

  ask(path: string, headers: Record<string, string> = {}, body?: unknown): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const method = body === undefined ? 'GET' : 'POST'
      request(
        this.#url + path,
        { method, agent: this.#agent, headers: { ...type, ...headers } },
        (reply) =>
          void text(reply).then((read) => resolve({ status: reply.statusCode ?? 0, body: read }), reject),
      )
        .on('error', reject)
        .end(body === undefined ? undefined : JSON.stringify(body))
    })
  }

  async figures(headers: Record<string, string> = {}): Promise<Figures> {
    const { status, body } = await this.ask('/live/figures', headers)
    assert.equal(status, 200, body)
    return JSON.parse(body) as Figures
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Runs the service with `count` workers on a new database, while `run` asks it. */
export async function serving(
  count: number,
  variables: Record<string, string>,
  run: (url: string, child: ChildProcess) => Promise<void>,
): Promise<void> {
  const { NODE_ENV: _, API_TOKEN: _token, ...env } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'reference-workers-'))
  const child = spawn(process.execPath, [server, '--workers', String(count), '--port', '0'], {
    // Its guard against load does not refuse requests on a machine that is busy with other tests.
    env: { ...env, HOST: '127.0.0.1', DATABASE: join(folder, 'users.db'), MAX_DELAY: '9999', ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  let said = ''
  child.stdout.on('data', (part) => (said += String(part)))
  try {
    const found = () => /^volant: listening on (\S+) \((\d+) workers\)$/m.exec(said)
    await eventually(() => found() !== null || child.exitCode !== null, 'it listens')
    assert.equal(found()?.[2], String(count), said)
    await run(found()?.[1] as string, child)
    child.kill('SIGTERM')
    assert.deepEqual(await ended, [0, null])
  } finally {
    child.kill('SIGKILL')
    await ended
    rmSync(folder, { recursive: true })
  }
}
