/** Our own generator, `lab/load`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Failure } from '../failure.ts'
import { loadPath } from '../folders.ts'
import type { Request } from '../scenario.ts'
import { type Job, type LoadResult, generatorPackages, template } from './generator.ts'

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

/** Beyond its own time, before it is taken for dead, s. */
const patience = 15

export async function runLoad(job: Job): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'lab-load-'))
  const spec = specOf(job)
  const file = join(folder, 'spec.json')
  writeFileSync(file, JSON.stringify(spec))
  const args = [loadPath, '--spec', file]
  if (job.core !== null) args.unshift('taskset', '--cpu-list', String(job.core))
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] })
  const kill = (): boolean => child.kill('SIGKILL')
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', kill).once('exit', clear)
  const timer = setTimeout(kill, (spec.warmupSeconds + spec.seconds + patience) * 1_000)
  try {
    return resultOf(
      await follow(child, job),
      `echo '${JSON.stringify(shown(spec)).replaceAll("'", "'\\''")}' | load --spec -`,
    )
  } finally {
    clearTimeout(timer)
    kill()
    process.off('exit', kill).off('exit', clear)
    clear()
  }
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

async function follow(child: ChildProcess, { onWarm, onMeasured }: Job): Promise<Report> {
  let report: Report | null = null
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code))
  })
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  let measured: Promise<void> | null = null
  lines.on('line', (line) => {
    const event = parse(line)
    if (event?.event === 'warm') onWarm?.()
    else if (event?.event === 'measured') {
      measured = Promise.resolve()
        .then(() => onMeasured?.())
        .finally(() => child.stdin?.end('\n'))
      // Told by the await below.
      measured.catch(() => undefined)
    } else if (event?.event === 'result') report = event as unknown as Report
  })
  child.stdin?.on('error', () => undefined)
  const end = await ended
  await measured
  if (report !== null) return report
  const said = errors.trim().split('\n').at(-1)
  // It ends so when the server cannot be reached: a fault of one entry, not of the run.
  if (end === 1 && said) throw new Failure(`it could not be loaded: ${said}`)
  throw new Failure(
    `the load generator ended with ${end} and no result: ${said || 'it said nothing'}; build it anew (${generatorPackages.load}) if it goes on`,
    2,
  )
}

function parse(line: string): { event?: string } | null {
  try {
    return JSON.parse(line) as { event?: string }
  } catch {
    return null
  }
}

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
