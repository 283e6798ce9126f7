/** The oracle: an Express app on node:http. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Client } from './client.ts'
import { express4, express5, type Layer, type Req, type Res } from './layers.ts'
import { type Answer, headersOf, type Live, type Site } from './site.ts'

export function expressSite(version: 4 | 5 = 5): Site & { app: Layer } {
  const app = (version === 4 ? express4 : express5)()
  app.disable('x-powered-by')
  // Express writes unexpected errors to stderr unless it is told that this is a test.
  app.set('env', 'test')
  const on = (method: string, path: string, layers: unknown[]): void =>
    app[method.toLowerCase()](path, ...layers)
  return {
    app,
    name: 'express',
    reports: [],
    use: (...layers) => app.use(...layers),
    mount: (prefix, ...layers) => app.use(prefix, ...layers),
    handle: (method, path, ...layers) => on(method, path, layers),
    streamed: (method, path, ...layers) => on(method, path, layers),
    reply: (method, path, answer, ...layers) =>
      on(method, path, [
        ...layers,
        (req: Req, res: Res, next: (error: unknown) => void) => {
          Promise.resolve()
            .then(() => answer(req))
            .then((value) => give(res, value))
            .catch(next)
        },
      ]),
  }
}

async function give(res: Res, { status = 200, headers, body }: Answer): Promise<void> {
  res.statusCode = status
  for (const [name, value] of Object.entries(headersOf(headers, body))) res.setHeader(name, value)
  // As res.send does, and as Volant knows the length of what it replies.
  if (typeof body === 'string' || body instanceof Uint8Array)
    res.setHeader('Content-Length', Buffer.byteLength(body))
  if (body === null) res.end()
  else if (typeof body === 'string' || body instanceof Uint8Array) res.end(body)
  // The client may leave: that is no error of the app.
  else await pipeline(Readable.from(body, { objectMode: false }), res).catch(() => {})
}

export async function serveExpress(site: Site & { app: Layer }): Promise<Live> {
  const server = createServer({ keepAliveTimeout: 600_000 }, site.app as never)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const address = { port, host: '127.0.0.1', path: null, url: `http://127.0.0.1:${port}` }
  const client = new Client(address, null)
  return {
    site,
    address,
    client,
    async close() {
      client.close()
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
