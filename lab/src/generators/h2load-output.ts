/** What h2load prints, and what in it cannot be right. */
import type { Load, Transport } from '../scenario.ts'

/**
 * The only ones that are offered, so that no server chooses others by an order of its own: node:http2 and nghttpd would
 * take this suite, and those that follow the client another. nghttpd has no other group.
 */
export const [suite, group] = ['TLS_AES_256_GCM_SHA384', 'P-256'] as const

export interface H2loadReport {
  /** Replies of the window that are 2xx or 3xx. */
  readonly succeeded: number
  /** Requests of the window with another status, or without a reply; those without one. */
  readonly failed: number
  readonly errored: number
  readonly timedOut: number
  readonly non2xx: number
  /** Bytes of the window: frames and heads too, without the records of TLS. */
  readonly received: number
  /** Bytes of bodies, from the first connection on: those of the warm-up too. */
  readonly bodies: number
  /** What was agreed on with the server, as it says of the first connection; null where it says nothing. */
  readonly session: Readonly<Record<'protocol' | 'cipher' | 'key' | 'application', string | null>>
}

/** Null for what is no report. */
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
    // `ECDH prime256v1 256 bits`: OpenSSL's name of the group.
    key: said('Server Temp Key')?.replace(/^ECDH prime256v1 .*/, group) ?? null,
    application: said('Application protocol'),
  }
  return { succeeded, failed, errored, timedOut, non2xx, received, bodies, session }
}

/** What was asked of h2load, and what was seen of it from outside. */
export interface H2loadRun {
  readonly transport: Transport
  readonly load: Pick<Load, 'connections' | 'pipelining'>
  /** Of a body. */
  readonly length: number | null
  /** The least number of its connections that were open when they were counted, in the window; null when they were not. */
  readonly alive: number | null
}

/** Null when nothing was answered: that is no wrong reply, and is told otherwise. */
export function faultOf(report: H2loadReport, { transport, load, length, alive }: H2loadRun): string | null {
  const { succeeded, failed, errored, timedOut, non2xx, bodies, session } = report
  if (succeeded + failed === 0) return null
  const other = sessionFault(session, transport)
  if (other !== null) return other
  if (non2xx > 0) return `${non2xx} replies that were not 2xx`
  if (failed + errored + timedOut > 0)
    return `${Math.max(failed, errored + timedOut)} of ${succeeded + failed} requests failed`
  // It goes on with fewer connections, and neither counts nor tells those that were closed.
  if (alive !== null && alive < load.connections)
    return `${alive} of ${load.connections} connections were open in the window`
  if (length !== null && bodies < succeeded * length)
    return `${succeeded} replies had ${bodies} bytes, not ${length} each`
  return null
}

/** Another cipher is other work, and so is another protocol. */
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
 * Replies with those of the warm-up, told by the bytes of their bodies, and how often a handler can have run for them:
 * a body that was cut off at the end, or never came, is that of a request in flight.
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
