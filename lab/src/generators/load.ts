/** Our own generator, `lab/load`. */
import { loadPath } from '../folders.ts'
import type { Request } from '../scenario.ts'
import { runGenerator } from './followed.ts'
import { type Job, type LoadResult, template } from './generator.ts'

/** The last line of `load`; times in µs. */
interface Report {
  readonly requests: number
  readonly totalReplies: number
  readonly seconds: number
  readonly bytesReceived: number
  readonly status: Readonly<Record<string, number>>
  readonly wrongStatus: number
  readonly wrongLength: number
  readonly wrongBody: number
  readonly wrongNonce: number
  readonly malformed: number
  readonly firstFault: string | null
  readonly socketErrors: Readonly<Record<string, number>>
  readonly unfinished: number
  readonly withinLimit?: number | null
  readonly lateSends: number
  readonly longestQueue: number
  readonly closeIgnored: number
  readonly ungreeted: number
  readonly meanMicroseconds: number
  readonly maxMicroseconds: number
  readonly meanInFlight: number
  readonly percentiles: Readonly<Record<string, number | null>>
  readonly histogram: readonly (readonly [number, number])[]
  readonly gaveUp?: string | null
}

export async function runLoad(job: Job): Promise<LoadResult> {
  const spec = specOf(job)
  // Connections are greeted before the warm-up.
  const seconds = spec.timeoutSeconds + spec.warmupSeconds + spec.seconds
  return resultOf(
    (await runGenerator(loadPath, spec, seconds, job)) as Report,
    `echo '${JSON.stringify(shown(spec)).replaceAll("'", "'\\''")}' | load --spec -`,
  )
}

function specOf({
  load,
  port,
  seconds,
  rate = null,
  maxRequests,
  verifyEvery = 100,
  timeout = 5,
  limit,
}: Job) {
  return {
    address: `127.0.0.1:${port}`,
    connections: load.connections,
    pipelining: load.pipelining,
    connection: load.connection,
    rate,
    warmupSeconds: load.warmup,
    seconds,
    maxRequests: maxRequests ?? null,
    timeoutSeconds: timeout,
    ...(limit !== undefined && { limitSeconds: limit / 1e3 }),
    requests: load.requests.map(escaped),
    order: load.order,
    verifyEvery,
    // Another one each time, or unique values would meet those of the run before.
    seed: 1 + Math.floor(Math.random() * 1e9),
    hold: true,
  }
}

/** Requests that differ in their credentials alone stand there once. */
function shown({ requests, ...spec }: ReturnType<typeof specOf>): object {
  const more = requests.length - 1
  if (more < mostShown) return { ...spec, requests }
  return { ...spec, requests: [requests[0], `and ${more} with other credentials`] }
}

/** More than any mix has. */
const mostShown = 100

/** A brace that begins no template is doubled, as `load --help` says. */
function escaped({ weight, method, path, headers, body, expect }: Request) {
  const text = <T extends string | null>(value: T): T =>
    (value === null ? null : value.replace(literalBrace, '{{')) as T
  return {
    weight,
    method,
    path: text(path),
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, text(value)])),
    body: text(body),
    expect: { ...expect, body: text(expect.body), contains: text(expect.contains) },
  }
}

const literalBrace = new RegExp(`\\{(?!${template.source.slice(2)})`, 'g')

function resultOf(report: Report, command: string): LoadResult {
  const { percentiles, status, socketErrors } = report
  const percentile = (name: string): number | null => {
    const value = percentiles[name]
    return value == null || report.requests + report.unfinished === 0 ? null : value / 1e3
  }
  const bad = (
    ['wrongStatus', 'wrongLength', 'wrongBody', 'wrongNonce', 'malformed', 'closeIgnored'] as const
  ).filter((name) => report[name] > 0)
  const counts = bad.map((name) => `${report[name]} ${faultNames[name]}`).join(', ')
  return {
    requests: report.requests,
    replies: report.totalReplies,
    seconds: report.seconds,
    p50: percentile('50'),
    p95: percentile('95'),
    p99: percentile('99'),
    p999: percentile('99.9'),
    mean: report.requests > 0 ? report.meanMicroseconds / 1e3 : null,
    worst: report.requests > 0 ? report.maxMicroseconds / 1e3 : null,
    bytesReceived: report.bytesReceived,
    errors: Object.values(socketErrors).reduce((sum, count) => sum + count, 0),
    non2xx: Object.entries(status).reduce(
      (sum, [code, count]) => sum + (code.startsWith('2') ? 0 : count),
      0,
    ),
    meanInFlight: report.meanInFlight,
    unfinished: report.unfinished,
    withinLimit: report.withinLimit ?? null,
    lateSends: report.lateSends,
    longestQueue: report.longestQueue,
    ungreeted: report.ungreeted,
    fault: bad.length > 0 ? `${counts}${report.firstFault ? `; the first: ${report.firstFault}` : ''}` : null,
    gaveUp: report.gaveUp ?? null,
    histogram: report.histogram,
    command,
  }
}

const faultNames = {
  wrongStatus: 'replies with another status',
  wrongLength: 'replies of another length',
  wrongBody: 'replies with another body',
  wrongNonce: 'replies without what their request asked for',
  malformed: 'replies that are not HTTP',
  closeIgnored: 'connections not closed though they were to be',
}
