/** A port for a server of a test that is another program, or that comes back to where it was. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

/**
 * Systems give none of these to connections, nor to servers that ask for any: they stay free between two starts. Nor do they
 * give those that are 10,000 higher, where a Redis in a cluster listens too.
 */
const [first, end] = [11_000, 21_000]

/**
 * Gives a port of this machine that nobody listens at. Where Linux has abstract sockets, no other process of tests is given
 * the same port while this process runs.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end)
    const reservation =
      process.platform === 'linux' ? await listening(`\0volant-test-port-${port}`) : undefined
    if (reservation === null) continue
    const server = await listening(port)
    if (server === null) {
      reservation?.close()
      continue
    }
    server.close()
    await once(server, 'close')
    // The system closes it when the process ends.
    reservation?.unref()
    return port
  }
}

/** Gives a server at a port of 127.0.0.1 or at the name of a socket, or null where another one listens. */
async function listening(at: number | string): Promise<Server | null> {
  const server = createServer()
  if (typeof at === 'number') server.listen(at, '127.0.0.1')
  else server.listen(at)
  try {
    await once(server, 'listening')
    return server
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null
    throw error
  }
}
