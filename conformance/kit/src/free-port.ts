/** A port for a server of a test that is another program, or that comes back to where it was. */
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:net'

/**
 * Systems give none of these to connections, nor to servers that ask for any: they stay free between two starts. Nor do they
 * give those that are 10,000 higher, where a Redis in a cluster listens too.
 */
const [first, end] = [11_000, 21_000]

/** Gives a port of this machine that nobody listens at. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(first, end)
    const server = createServer().listen(port, '127.0.0.1')
    try {
      await once(server, 'listening')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') continue
      throw error
    }
    server.close()
    await once(server, 'close')
    return port
  }
}
