/** Our own generator of WebSockets, `sockets` of `lab/load`. */
import { socketsPath } from '../folders.ts'
import { runGenerator } from './followed.ts'
import type { Job, LoadResult } from './generator.ts'

/** The last line of `sockets`; times in µs. */
interface Report {
  readonly seconds: number
  readonly messages: number
  readonly totalMessages: number
  readonly deliveries: number
  readonly totalDeliveries: number
  readonly bytesReceived: number
  readonly firstEchoMicroseconds: number | null
  readonly faults: Readonly<Record<string, number>>
  readonly firstFault: string | null
  readonly meanMicroseconds: number
  readonly maxMicroseconds: number
  readonly percentiles: Readonly<Record<string, number | null>>
  readonly histogram: readonly (readonly [number, number])[]
}

/** For 10,000 sockets to be opened, s. */
const opening = 15

/** Requests are echoes, or deliveries of what was published. */
export async function runSockets(job: Job): Promise<LoadResult> {
  const { load, sockets, port, seconds, maxRequests, timeout = 5 } = job
  if (sockets === undefined) throw new TypeError('a job without WebSockets')
  const { mode, messages } = sockets
  const spec = {
    address: `127.0.0.1:${port}`,
    mode,
    ...messages,
    sockets: load.connections,
    warmupSeconds: load.warmup,
    seconds,
    maxMessages: maxRequests ?? null,
    timeoutSeconds: timeout,
    seed: 1 + Math.floor(Math.random() * 1e9),
    hold: true,
  }
  const report = (await runGenerator(
    socketsPath,
    spec,
    load.warmup + seconds + opening + timeout,
    job,
  )) as Report
  const { percentiles, faults, firstFault, firstEchoMicroseconds: first } = report
  const percentile = (name: string): number | null => {
    const value = percentiles[name]
    return value == null ? null : value / 1e3
  }
  const counts = Object.entries(faults).map(([name, count]) => `${count} ${names[name] ?? name}`)
  const isNone = report.deliveries === 0
  return {
    requests: report.deliveries,
    replies: report.totalDeliveries,
    handled: report.totalMessages,
    ...(first !== null && { firstEcho: first / 1e3 }),
    seconds: report.seconds,
    p50: percentile('50'),
    p95: percentile('95'),
    p99: percentile('99'),
    p999: percentile('99.9'),
    mean: isNone ? null : report.meanMicroseconds / 1e3,
    worst: isNone ? null : report.maxMicroseconds / 1e3,
    bytesReceived: report.bytesReceived,
    errors: 0,
    non2xx: 0,
    meanInFlight: null,
    unfinished: 0,
    withinLimit: null,
    lateSends: 0,
    longestQueue: 0,
    ungreeted: 0,
    fault: firstFault === null ? null : `${counts.join(', ')}; the first: ${firstFault}`,
    gaveUp: null,
    histogram: report.histogram,
    command: `echo '${JSON.stringify(spec)}' | sockets --spec -`,
  }
}

const names: Readonly<Record<string, string>> = {
  refused: 'handshakes refused',
  malformed: 'malformed frames',
  masked: 'masked frames',
  wrongType: 'messages of the other type',
  wrongLength: 'messages of another length',
  wrongContent: 'messages with other bytes',
  unexpected: 'messages that nobody sent, or once more',
  own: 'messages that came back to their publisher',
  closed: 'sockets closed by the server',
  missing: 'messages missing',
}
