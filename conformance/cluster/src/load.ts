/** Clients that ask all the time, while something happens to the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { eventually } from '@volant/test-kit'
import { Connection } from './connection.ts'

const running = new Set<Load>()

/** Ends the load on a server that a test has not ended because it failed. */
export async function endLoad(target: number): Promise<void> {
  await Promise.all([...running].map((load) => (load.target === target ? load.end() : null)))
}

export class Load {
  answered = 0
  readonly failures: string[] = []
  readonly target: number | string
  /** The versions of the app that answered. */
  readonly versions = new Set<string>()
  readonly pids = new Set<number>()
  #isOver = false
  readonly #clients: Promise<void>[]

  /** `keeping` clients keep their connections, half of their requests are POSTs; `opening` ones open one for each request. */
  constructor(target: number | string, { keeping = 4, opening = 2, pause = 2 } = {}) {
    const clients = [
      ...Array.from({ length: keeping }, (_, id) => this.#keep(target, id, pause)),
      ...Array.from({ length: opening }, () => this.#open(target, pause)),
    ]
    this.#clients = clients
    this.target = target
    running.add(this)
  }

  /** Waits until so many more requests were answered. Rejects when that takes as long as only a hang does. */
  async goOn(count: number): Promise<void> {
    const start = this.answered
    await eventually(() => this.answered >= start + count, `${count} requests are answered`).catch(
      (error: Error) => {
        const last = this.failures.slice(-3).join('\n')
        throw new Error(
          `${error.message}: ${this.answered - start} were, and ${this.failures.length} have failed:\n${last}`,
        )
      },
    )
  }

  async end(): Promise<void> {
    this.#isOver = true
    running.delete(this)
    await Promise.all(this.#clients)
  }

  async #keep(target: number | string, id: number, pause: number): Promise<void> {
    let connection: Connection | null = null
    for (let count = 0; !this.#isOver; count++) {
      try {
        connection ??= await Connection.open(target)
        if (count % 2 === 0) {
          const body = `${id} ${count}`
          const { status, text } = await connection.ask('/echo', { method: 'POST', body })
          if (status !== 200 || text !== body) this.failures.push(`POST: ${status} ${text}`)
        } else this.#note(await connection.json('/'))
        this.answered++
      } catch (error) {
        this.failures.push(String(error))
        connection?.close()
        connection = null
      }
      if (connection?.isClosed === true) {
        connection.close()
        connection = null
      }
      await sleep(pause)
    }
    connection?.close()
  }

  async #open(target: number | string, pause: number): Promise<void> {
    while (!this.#isOver) {
      try {
        const connection = await Connection.open(target)
        this.#note(await connection.json('/'))
        connection.close()
        this.answered++
      } catch (error) {
        this.failures.push(String(error))
      }
      await sleep(pause)
    }
  }

  #note({ version, pid }: { version: string; pid: number }): void {
    this.versions.add(version)
    this.pids.add(pid)
  }
}
