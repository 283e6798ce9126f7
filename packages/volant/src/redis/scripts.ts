/** Runs scripts in Redis by their digests, and by their text where a server does not know them yet. */
import { createHash } from 'node:crypto'
import type { Asks } from './client.ts'

const noConnection =
  'the client of Redis has no connection: connect() was not called, or the server is not there'

/** Throws at once where a command would wait for a connection. */
export function checkReady(asks: Asks): void {
  if (!asks.isReady()) throw new Error(noConnection)
}

/** The digests of so many scripts are remembered. This package has three. */
const mostScripts = 1_000

export class Scripts {
  readonly #asks: Asks
  readonly #digests = new Map<string, string>()

  constructor(asks: Asks) {
    this.#asks = asks
  }

  async run(script: string, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    checkReady(this.#asks)
    try {
      return await this.#asks.runKnown(this.#digestOf(script), [...keys], [...args])
    } catch (error) {
      // The server was started anew, or SCRIPT FLUSH was sent to it.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
      return this.#asks.run(script, [...keys], [...args])
    }
  }

  #digestOf(script: string): string {
    const known = this.#digests.get(script)
    if (known !== undefined) return known
    if (this.#digests.size >= mostScripts) this.#digests.clear()
    const digest = createHash('sha1').update(script).digest('hex')
    this.#digests.set(script, digest)
    return digest
  }
}
