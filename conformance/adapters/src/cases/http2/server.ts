/** Servers of HTTP/2 over TLS or by prior knowledge, and a client that asks them. */
import {
  type ClientHttp2Session,
  connect,
  constants,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2'
import { before } from 'node:test'
import { TestAuthority } from '@volant/test-kit'
import type { Address, App, ListenOptions } from 'volant'

export interface Http2Server {
  readonly isEncrypted: boolean
  /** What the app listens with. */
  options(): ListenOptions
  /** The authority that a client has to trust. */
  ca(): string
  /** Serves `app` with one client while `run` runs. */
  serve(app: App, run: (client: ClientHttp2Session, address: Address) => Promise<void>): Promise<void>
}

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  readonly hints: readonly IncomingHttpHeaders[]
}

/** The certificate is made before the cases of the `describe` run that this is called in. */
export function http2Server(over: 'TLS' | 'prior knowledge'): Http2Server {
  const isEncrypted = over === 'TLS'
  let authority: TestAuthority
  let options: ListenOptions
  before(async () => {
    authority = await TestAuthority.make()
    const { cert, key } = authority.server(['one.example'])
    options = isEncrypted ? { tls: { cert, key } } : { http2: true }
  })
  return {
    isEncrypted,
    options: () => options,
    ca: () => authority.ca,
    async serve(app, run) {
      const address = await app.listen({ port: 0, host: '127.0.0.1', ...options })
      const client = connect(`${isEncrypted ? 'https' : 'http'}://127.0.0.1:${address.port}`, {
        ca: authority.ca,
        servername: 'one.example',
      }).on('error', () => {})
      try {
        await run(client, address)
      } finally {
        client.destroy()
        await app.close()
      }
    },
  }
}

export function ask(
  client: ClientHttp2Session,
  headers: OutgoingHttpHeaders,
  body?: string | Uint8Array,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stream = client.request({ ':path': '/', ...headers }, { endStream: body === undefined })
    const parts: Buffer[] = []
    const hints: IncomingHttpHeaders[] = []
    let head: IncomingHttpHeaders = {}
    stream.on('headers', (fields) => hints.push(fields))
    stream.on('response', (fields) => (head = fields))
    stream.on('data', (chunk: Buffer) => parts.push(chunk))
    stream.on('error', reject)
    stream.on('end', () => {
      if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) return reject(new Error(`reset: ${stream.rstCode}`))
      resolve({ status: Number(head[':status']), headers: head, body: Buffer.concat(parts), hints })
    })
    stream.on('close', () => reject(new Error('closed without a reply')))
    if (body !== undefined) stream.end(body)
  })
}
