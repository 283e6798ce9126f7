/** Parses the output of h2load, and finds what in it cannot be right. */
import type { Load, Transport } from '../scenario.ts'

/**
 * The only cipher suite and group that are offered, so that all servers use the same. node:http2 and nghttpd would
 * choose this suite, and servers that follow the order of the client another one. nghttpd supports no other group.
 */
export const [suite, group] = ['TLS_AES_256_GCM_SHA384', 'P-256'] as const

export interface H2loadReport {
  /** Replies in the window with status 2xx or 3xx. */
  readonly succeeded: number
  /** Requests in the window with another status or without a reply, and those without a reply. */
  readonly failed: number
  readonly errored: number
  readonly timedOut: number
  readonly non2xx: number
  /** Bytes received in the window, with frames and heads, without the records of TLS. */
  readonly received: number
  /** Bytes of bodies since the first connection, with those of the warm-up. */
  readonly bodies: number
  /** The results of the handshake of the first connection; null for values that h2load does not print. */
  readonly session: Readonly<Record<'protocol' | 'cipher' | 'key' | 'application', string | null>>
}

/** Parses a report; gives null if the text is no report. */
export function parseH2load(output: string): H2loadReport | null {
  const counts = /^requests: .* (\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout$/m.exec(output)
  const statuses = /^status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx$/m.exec(output)
  const traffic = /^traffic: \S+ \((\d+)\) total, .* \S+ \((\d+)\) data$/m.exec(output)
  if (counts === null || statuses === null || traffic === null) return null
  const [succeeded, failed, errored, timedOut] = counts.slice(1).map(Number) as [
    number,
    number,
    number,
    number,
  ]
  const [received, bodies] = traffic.slice(1).map(Number) as [number, number]
  const non2xx = statuses.slice(1).reduce((sum, count) => sum + Number(count), 0)
  const said = (what: string): string | null => new RegExp(`^${what}: (.+)$`, 'm').exec(output)?.[1] ?? null
  const session = {
    protocol: said('TLS Protocol'),
    cipher: said('Cipher'),
    // `ECDH prime256v1 256 bits` has OpenSSL's name of the group.
    key: said('Server Temp Key')?.replace(/^ECDH prime256v1 .*/, group) ?? null,
    application: said('Application protocol'),
  }
  return { succeeded, failed, errored, timedOut, non2xx, received, bodies, session }
}

/** The settings of h2load, and what the lab observed of it. */
export interface H2loadRun {
  readonly transport: Transport
  readonly load: Pick<Load, 'connections' | 'pipelining'>
  /** The length of a body. */
  readonly length: number | null
  /**
   * The least number of its connections that were open when they were counted in the window; null if they were not
   * counted.
   */
  readonly alive: number | null
}

/** Gives the fault of a report. It is null when nothing was answered, because that is reported elsewhere. */
export function faultOf(report: H2loadReport, { transport, load, length, alive }: H2loadRun): string | null {
  const { succeeded, failed, errored, timedOut, non2xx, bodies, session } = report
  if (succeeded + failed === 0) return null
  const other = sessionFault(session, transport)
  if (other !== null) return other
  if (non2xx > 0) return `${non2xx} replies that were not 2xx`
  if (failed + errored + timedOut > 0)
    return `${Math.max(failed, errored + timedOut)} of ${succeeded + failed} requests failed`
  // h2load continues with fewer connections, and does not report those that were closed.
  if (alive !== null && alive < load.connections)
    return `${alive} of ${load.connections} connections were open in the window`
  if (length !== null && bodies < succeeded * length)
    return `${succeeded} replies had ${bodies} bytes, not ${length} each`
  return null
}

/** Gives the fault if another protocol, cipher suite or group was used, because that is other work. */
function sessionFault(session: H2loadReport['session'], transport: Transport): string | null {
  const application = { http: 'http/1.1', https: 'http/1.1', h2c: 'h2c', h2: 'h2' }[transport]
  const isSecure = transport === 'https' || transport === 'h2'
  const wanted = { application, ...(isSecure && { protocol: 'TLSv1.3', cipher: suite, key: group }) }
  for (const [name, right] of Object.entries(wanted)) {
    const value = session[name as keyof typeof wanted]
    if (value !== right) return `${value ?? 'nothing'} was agreed on as ${name}, and not ${right}`
  }
  return null
}

/**
 * Gives the number of replies with those of the warm-up, computed from the bytes of their bodies, and the most handler
 * runs for them. A body that was cut off at the end, or never arrived, belongs to a request in flight.
 */
export function repliesOf(
  { succeeded, bodies }: H2loadReport,
  { load, length }: H2loadRun,
): { replies: number; handledAtMost?: number } {
  if (length === null) return { replies: succeeded }
  const whole = Math.floor(bodies / length)
  return {
    replies: Math.max(succeeded, whole),
    handledAtMost: whole + load.connections * load.pipelining,
  }
}
