/**
 * A server of `lab drain`, as a process of its own: `instance.js SERVER PORT ROOT`. It says `ready` over IPC, ends after
 * SIGTERM, and says before it ends which POSTs it ran.
 */
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { entriesFolder } from '../folders.ts'

const [server = 'native', port = '0', root = '.'] = process.argv.slice(2)
const host = '127.0.0.1'
/** The POSTs that were run: nobody may run one again, while nginx may send a GET to another instance. */
const posts: number[] = []

/** Half of the requests take a few milliseconds, so that some are in flight when the server is told to stop. */
async function answer(method: string, nonce: number): Promise<string> {
  if (method === 'POST') posts.push(nonce)
  if (nonce % 2 === 0) await sleep(nonce % 16)
  return String(nonce)
}

function end(): void {
  process.send?.(posts, () => process.disconnect?.())
}

async function startVolant(): Promise<void> {
  const path = join(root, 'packages/volant/dist/src/index.js')
  const { createApp } = (await import(pathToFileURL(path).href)) as typeof import('volant')
  const app = createApp({ adapter: { type: server as 'native' }, startLine: false })
  app.get('/:nonce', (ctx) => answer('GET', Number(ctx.params.nonce)))
  app.post('/:nonce', (ctx) => answer('POST', Number(ctx.bodyText.split(' ', 1)[0])))
  app.onClose(end)
  await app.listen(Number(port), host)
}

async function startNode(): Promise<void> {
  const http = createServer((request, response) => {
    const { method = '', url = '' } = request
    request
      .resume()
      .on('end', () => void answer(method, Number(url.slice(1))).then((text) => response.end(text)))
  })
  process.once('SIGTERM', () => http.close(end))
  await new Promise<void>((resolve) => http.listen(Number(port), host, resolve))
}

interface FastifyRequest {
  readonly method: string
  readonly params: { readonly nonce: string }
}

interface Fastify {
  all(path: string, handler: (request: FastifyRequest) => Promise<string>): void
  listen(options: { port: number; host: string }): Promise<string>
  close(): Promise<void>
}

async function startFastify(): Promise<void> {
  const require = createRequire(join(entriesFolder, 'fastify/package.json'))
  const app = (require('fastify') as () => Fastify)()
  app.all('/:nonce', ({ method, params }) => answer(method, Number(params.nonce)))
  process.once('SIGTERM', () => void app.close().then(end))
  await app.listen({ port: Number(port), host })
}

await (server === 'node' ? startNode() : server === 'fastify' ? startFastify() : startVolant())
process.send?.('ready')
