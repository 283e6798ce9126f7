/** Runs scripts in Redis by their digests, and by their text where a server does not know them yet. */
import type { Asks } from './client.ts'

const noConnection =
  'the client of Redis has no connection: connect() was not called, or the server is not there'

/** Rejects at once where a command would wait for a connection. */
export function checkReady(asks: Asks): void {
  if (!asks.isReady()) throw new Error(noConnection)
}

export async function runScript(
  asks: Asks,
  { script, digest }: { readonly script: string; readonly digest: string },
  keys: string[],
  values: string[],
): Promise<unknown> {
  checkReady(asks)
  try {
    return await asks.runKnown(digest, keys, values)
  } catch (error) {
    // The server was started anew, or SCRIPT FLUSH was sent to it.
    if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error
    return asks.run(script, keys, values)
  }
}
