/** Proof of equal work, before anything is measured. */
import { randomUUID } from 'node:crypto'
import { type IncomingHttpHeaders, request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Entry } from './entry.ts'
import { Failure } from './failure.ts'
import { runLoad } from './generators/load.ts'
import type { Proof, Scenario, Variant } from './scenario.ts'
import { type RunningServer, startServer } from './server.ts'

/** For one reply, ms. */
const limit = 2_000
/** Requests of the scenario itself that are compared byte for byte, where it says nothing else. */
const usuallyCompared = 200

interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/**
 * Starts the entry and checks the replies to the scenario's proofs, that another path is refused (so a router runs),
 * every reply to 200 requests as they are sent under load, that its handler ran for each of them, and that it logs when
 * it must. Null when all is right, else what differs.
 */
export async function conformance(
  entry: Entry,
  scenario: Scenario,
  variant: Variant,
  core: number | null,
  port: number,
): Promise<string | null> {
  const server = await startServer({
    entry,
    program: scenario.program,
    core,
    port,
    ...(variant.environment && { environment: variant.environment }),
  })
  try {
    return await faultOf(server, entry, scenario, variant)
  } finally {
    await server.stop().catch(() => undefined)
  }
}

async function faultOf(
  server: RunningServer,
  entry: Entry,
  scenario: Scenario,
  variant: Variant,
): Promise<string | null> {
  const { load } = variant.measure
  const { compared = usuallyCompared } = scenario
  const counted = entry.javascript && variant.handler !== false
  const proofs = [...scenario.proofs, ...(variant.proofs ?? [])]
  for (const proof of proofs) {
    const fault = await tryProof(server.port, proof)
    if (fault !== null) return fault
  }
  // The limit answers everything alike: it has no router, and says so.
  if (entry.javascript) {
    const missing = await ask(server.port, { path: `/${randomUUID()}/${randomUUID()}`, status: 404 })
    if (typeof missing === 'string') return missing
    // 404 is right; what else refuses (ZapJS: 500) is the framework's fault, but no sign that no router runs.
    if (missing.status < 400) return `an unknown path is answered with ${missing.status}: no router runs`
  }
  const before = counted ? await server.ran() : 0
  const result = await runLoad({
    load: { ...load, connections: Math.min(load.connections, 10), warmup: 0, order: 'rotate' },
    port: server.port,
    seconds: 5,
    maxRequests: compared,
    verifyEvery: 1,
    core: null,
  })
  if (result.fault !== null) return result.fault
  if (result.requests < compared)
    return `only ${result.requests} of ${compared} requests were answered under load`
  if (result.errors > 0) return `${result.errors} connections failed under load`
  if (counted) {
    const after = await server.ran()
    if (before === null || after === null) {
      const silence = await silenceOf(server.port)
      if (silence !== null) throw new Failure(`it stopped answering: ${silence}`)
      return 'it does not say how often its handlers ran (entries/ran.mjs)'
    }
    if (after - before < result.replies)
      return `its handlers ran ${after - before} times for ${result.replies} replies`
  }
  const line = logOf(scenario, variant)
  if (line !== null) {
    const wanted = scenario.proofs.length + result.replies
    for (let waited = 0; server.logged(line) < wanted && waited < 20; waited += 1) await pause(100)
    const lines = server.logged(line)
    if (lines < wanted) return `its log has ${lines} lines for ${wanted} requests`
  }
  return null
}

/** What the line that each request of the variant must leave matches; null where it leaves none. */
export function logOf(scenario: Scenario, variant: Variant): RegExp | null {
  return variant.logs === false ? null : (scenario.logs ?? null)
}

/** What is wrong with the reply to one request, or null. */
export async function tryProof(port: number, proof: Proof): Promise<string | null> {
  const reply = await ask(port, proof)
  if (typeof reply === 'string') return reply
  const fault = difference(reply, proof) ?? (proof.revalidated ? await staleness(port, proof, reply) : null)
  if (fault !== null || proof.unique === undefined) return fault
  const again = await ask(port, proof)
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
export async function silenceOf(port: number): Promise<string | null> {
  const reply = await ask(port, { path: '/', status: 200 })
  return typeof reply === 'string' ? reply : null
}

/** A text says why there is no reply. */
export function ask(
  port: number,
  { method = 'GET', path, headers = {}, body }: Proof,
): Promise<Reply | string> {
  return new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, method, path, headers, agent: false, timeout: limit }
    const outgoing = request(options, (response) => {
      const parts: Buffer[] = []
      response.on('data', (part: Buffer) => parts.push(part))
      response.on('error', (error) => resolve(`${method} ${path}: ${error.message}`))
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) })
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('no reply within 2 s')))
    outgoing.on('error', (error) => resolve(`${method} ${path}: ${error.message}`))
    outgoing.end(body)
  })
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
