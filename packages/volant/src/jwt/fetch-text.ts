/** Fetches a small text from a server that may be down, slow or hostile. */

/** The most bytes of an answer. Key sets of large issuers, with certificates, have about 30 KiB. */
const mostBytes = 262_144

/** Gives the text of a 200. Rejects with an error whose message says what happened and shows nothing of the answer. */
export async function fetchText(url: URL, timeout: number): Promise<string> {
  const signal = AbortSignal.timeout(timeout)
  try {
    const response = await fetch(url, {
      // Who can redirect a request for keys decides which keys are used.
      redirect: 'manual',
      signal,
      headers: { accept: 'application/jwk-set+json, application/json' },
    })
    if (response.status !== 200) {
      await response.body?.cancel()
      throw new Unfit(`its server answered with ${response.status}`)
    }
    return await read(response)
  } catch (error) {
    if (error instanceof Unfit) throw error
    throw new Unfit(signal.aborted ? `no answer within ${timeout} ms` : messageOf(error), { cause: error })
  }
}

class Unfit extends Error {}

async function read(response: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the body.
    if (size > mostBytes) throw new Unfit(`it is larger than ${mostBytes} bytes`)
    chunks.push(chunk)
  }
  // It leaves out a byte order mark, which some servers send.
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** The error of `fetch` says `fetch failed`, its cause why. */
function messageOf(error: unknown): string {
  const { cause, message } = error as Error
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? cause.message) : message
}
