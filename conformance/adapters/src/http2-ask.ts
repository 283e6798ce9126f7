/** One request over HTTP/2 on a connection of its own, with the reply in the form that a Wire has for HTTP/1. */
import { connect, type IncomingHttpHeaders } from 'node:http2'
import { within } from '@volant/test-kit'
import type { Address } from 'volant'
import type { WireReply } from './wire.ts'

/** The fields that a request of HTTP/2 cannot have (RFC 9113 §8.2.2). A case that sends one of them tests HTTP/1. */
const ofHttp1 = ['connection', 'transfer-encoding', 'upgrade', 'keep-alive', 'proxy-connection']

export function fitsHttp2(method: string, path: string, headers: Record<string, string>): boolean {
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  // A path with other bytes makes the request malformed. A server answers it with a reset (RFC 9113 §8.1.1).
  const isPath = path.startsWith('/') && /^[\x21-\x7e]*$/.test(path)
  return method !== 'CONNECT' && isPath && !names.some((name) => ofHttp1.includes(name))
}

export function askByHttp2(
  { port }: Address,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: Buffer,
): Promise<WireReply> {
  const fields: Record<string, string> = { ':method': method, ':path': path, ':authority': 'localhost' }
  for (const [name, value] of Object.entries(headers)) {
    fields[name.toLowerCase() === 'host' ? ':authority' : name.toLowerCase()] = value
  }
  if (body.length > 0) fields['content-length'] ??= String(body.length)
  const session = connect(`http://127.0.0.1:${port}`)
  const reply = new Promise<WireReply>((resolve, reject) => {
    session.on('error', reject)
    const stream = session.request(fields, { endStream: body.length === 0 })
    const parts: Buffer[] = []
    let status = 0
    let raw: [string, string][] = []
    let trailers: [string, string][] = []
    stream.on('response', (received: IncomingHttpHeaders, _flags: number, fields: string[]) => {
      status = Number((received as Record<string, unknown>)[':status'])
      raw = pairs(fields).filter(([name]) => !name.startsWith(':'))
    })
    stream.on('trailers', (_received: unknown, _flags: number, fields: string[]) => {
      trailers = pairs(fields)
    })
    stream.on('data', (bytes: Buffer) => parts.push(bytes))
    // After its reply a server may reset the stream with NO_ERROR, so that the client stops its upload (RFC 9113 §8.1).
    let ended = false
    stream.on('end', () => (ended = true))
    stream.on('error', reject)
    stream.on('close', () => {
      if (status === 0 || !ended || stream.rstCode > 0)
        return reject(new Error(`the reply broke off, with code ${stream.rstCode} of HTTP/2`))
      const bytes = Buffer.concat(parts)
      const text = bytes.toString('utf8')
      resolve({
        version: 'HTTP/2',
        status,
        reason: '',
        headers: joined(raw),
        raw,
        body: bytes,
        trailers,
        text,
        json: () => JSON.parse(text) as unknown,
      })
    })
    if (body.length > 0) stream.end(body)
  })
  return within(reply, `the reply to ${path}`).finally(() => session.destroy())
}

function pairs(flat: string[]): [string, string][] {
  const fields: [string, string][] = []
  for (let at = 0; at + 1 < flat.length; at += 2) fields.push([flat[at] as string, flat[at + 1] as string])
  return fields
}

function joined(fields: [string, string][]): Record<string, string> {
  const headers: Record<string, string> = Object.create(null) as Record<string, string>
  for (const [name, value] of fields) {
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`
  }
  return headers
}
