/** Sends requests over TLS and HTTP/2, and sets the environment of a server for them. */
import { type ClientHttp2Session, connect } from 'node:http2'
import { type Certificate, makeCertificate } from '@volant/test-kit'
import { Failure } from './failure.ts'
import { type Reply, ask, limit } from './proof.ts'
import type { Load, Proof, Transport } from './scenario.ts'

let certificate: Certificate | null = null

/** Gives `TRANSPORT`, and the paths of the certificate of this run and of its key. */
export function environmentOf(transport: Transport): Record<string, string> {
  certificate ??= makeCertificate()
  return { TRANSPORT: transport, CERT: certificate.cert, KEY: certificate.key }
}

/** Sends a request over HTTP/2 on a connection of its own. A text says why there is no reply. */
export function askHttp2(port: number, { method = 'GET', path, headers, body }: Proof, isSecure: boolean) {
  return new Promise<Reply | string>((resolve) => {
    const session: ClientHttp2Session = connect(`${isSecure ? 'https' : 'http'}://127.0.0.1:${port}`, {
      rejectUnauthorized: false,
    })
    const end = (reply: Reply | string): void => {
      clearTimeout(timer)
      session.destroy()
      resolve(reply)
    }
    const fail = (error: Error): void => end(`${method} ${path}: ${error.message}`)
    const timer = setTimeout(() => end(`${method} ${path}: no reply within 20 s`), limit)
    session.on('error', fail)
    const stream = session.request({ ...headers, ':method': method, ':path': path })
    const parts: Buffer[] = []
    let fields: Record<string, unknown> = {}
    stream.on('error', fail)
    stream.on('response', (given) => (fields = given))
    stream.on('data', (part: Buffer) => parts.push(part))
    stream.on('end', () => {
      const { ':status': status, ...others } = fields
      end({ status: Number(status ?? 0), headers: others as Reply['headers'], body: Buffer.concat(parts) })
    })
    stream.end(body)
  })
}

/** Sends the only request of the load this many times, ten at once. Gives what was wrong with the first wrong reply. */
export async function compareReplies(
  transport: Transport,
  port: number,
  { requests: [only] }: Load,
  count: number,
): Promise<string | null> {
  if (only?.expect.body == null) throw new Failure('a scenario with a transport has one reply', 2)
  const proof = { method: only.method, path: only.path, headers: only.headers, status: only.expect.status }
  for (let done = 0; done < count; done += 10) {
    const replies = await Promise.all(Array.from({ length: 10 }, () => ask(port, proof, false, transport)))
    for (const reply of replies) {
      if (typeof reply === 'string') return reply
      if (reply.status !== only.expect.status) return `a reply under load has status ${reply.status}`
      if (reply.body.toString() !== only.expect.body)
        return `a reply under load has the body ${JSON.stringify(reply.body.toString().slice(0, 100))}`
    }
  }
  return null
}
