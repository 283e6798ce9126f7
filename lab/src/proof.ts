/** One request, and whether its reply is the right one. */
import { type Agent, type IncomingHttpHeaders, request } from 'node:http'
import { request as requestOverTls } from 'node:https'
import { gunzipSync } from 'node:zlib'
import type { Proof, Transport } from './scenario.ts'
import { askHttp2 } from './transport.ts'

/** For one reply, ms. A busy machine may stop a server for some seconds. */
export const limit = 20_000

export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** What is wrong with the reply to one request, or null. */
export async function tryProof(port: number, proof: Proof, transport?: Transport): Promise<string | null> {
  const reply = await ask(port, proof, false, transport)
  if (typeof reply === 'string') return reply
  const fault = difference(reply, proof) ?? (proof.revalidated ? await staleness(port, proof, reply) : null)
  if (fault !== null || proof.unique === undefined) return fault
  const again = await ask(port, proof, false, transport)
  if (typeof again === 'string') return again
  return again.headers[proof.unique] === reply.headers[proof.unique]
    ? `two replies have the same ${proof.unique}`
    : null
}

/** What is wrong with the reply to who has this one already, or null. */
function staleness(port: number, { path }: Proof, { headers }: Reply): Promise<string | null> {
  return tryProof(port, { path, headers: { 'if-none-match': headers.etag ?? 'missing' }, status: 304 })
}

/** What is wrong with a reply, or null. */
function difference({ status, headers, body: bytes }: Reply, proof: Proof): string | null {
  const asked = `${proof.method ?? 'GET'} ${proof.path}`
  const statuses = [proof.status].flat()
  if (!statuses.includes(status)) return `${asked} is answered with ${status}, not ${statuses.join(' or ')}`
  for (const [names, value] of Object.entries(proof.fields ?? {})) {
    const given = names.split('|').flatMap((name) => (name in headers ? [String(headers[name])] : []))
    if (!given.some((text) => value.test(text)))
      return `${asked}: the field ${names.replaceAll('|', ' or ')} is ${given.join(', ') || 'missing'}`
  }
  const stranger = proof.absent?.find((name) => name in headers)
  if (stranger !== undefined) return `${asked}: the field ${stranger} is ${String(headers[stranger])}`
  const encoding = headers['content-encoding']
  if (encoding !== proof.encoding)
    return `${asked}: the content encoding is ${encoding ?? 'missing'}, not ${proof.encoding ?? 'missing'}`
  if (proof.reply === undefined) return null
  const body = decoded(bytes, proof)
  if (body === null) return `${asked}: the body is not ${proof.encoding}`
  const right = typeof proof.reply === 'string' ? body === proof.reply : proof.reply.test(body)
  if (!right) return `${asked}: the body is ${JSON.stringify(body.slice(0, 100))}`
  const type = String(headers['content-type'] ?? 'missing')
  const wanted = proof.type ?? (/^[[{]/.test(body) ? 'application/json' : 'text/plain')
  return type.split(';', 1)[0]?.trim().toLowerCase() === wanted
    ? null
    : `${asked}: the content type is ${type}`
}

/** Null when the body is not what its encoding says. */
function decoded(body: Buffer, { encoding }: Proof): string | null {
  try {
    return (encoding === 'gzip' ? gunzipSync(body) : body).toString()
  } catch {
    return null
  }
}

/** Why nothing is answered any more, whatever the reply would be; null when something is. */
export async function silenceOf(port: number, transport?: Transport): Promise<string | null> {
  const reply = await ask(port, { path: '/', status: 200 }, false, transport)
  return typeof reply === 'string' ? reply : null
}

/** On a connection of its own, unless an agent keeps some. A text says why there is no reply. */
export function ask(
  port: number,
  proof: Proof,
  agent: Agent | false = false,
  transport: Transport = 'http',
): Promise<Reply | string> {
  if (transport === 'h2c' || transport === 'h2') return askHttp2(port, proof, transport === 'h2')
  const { method = 'GET', path, headers = {}, body } = proof
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent, timeout: limit }
    const send = transport === 'https' ? requestOverTls : request
    const outgoing = send({ ...options, rejectUnauthorized: false }, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', (error) => resolve(`${method} ${path}: ${error.message}`))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no reply within 20 s')))
    outgoing.on('error', (error) => resolve(`${method} ${path}: ${error.message}`))
    outgoing.end(body)
  })
}
