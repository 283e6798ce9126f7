/**
 * Runs h2load of nghttp2 for HTTP/2 and TLS, which our generator does not support. It checks statuses and counts bytes.
 */
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { Failure } from '../failure.ts'
import { windowFault } from '../guards.ts'
import { liveConnections } from '../live-connections.ts'
import { isInstalled } from '../machine.ts'
import type { Transport } from '../scenario.ts'
import { type Job, type LoadResult, onlyRequest } from './generator.ts'
import {
  type H2loadReport,
  type H2loadRun,
  faultOf,
  group,
  parseH2load,
  repliesOf,
  suite,
} from './h2load-output.ts'

/** The time that h2load may take beyond its own, in s, before it is ended. */
const patience = 15

/**
 * The share of the window after which its connections are counted again. h2load closes them when the window is over.
 */
const counted = 0.9

/** The beginnings of the lines that report the begin and the end of the window. */
const [warm, over] = ['Main benchmark duration is started', 'Main benchmark duration is over']

/** Runs the warm-up and the window on the same connections. */
export async function runH2load(job: Job, transport: Transport): Promise<LoadResult> {
  if (!isInstalled('h2load'))
    throw new Failure(
      'the load generator h2load is missing: the package nghttp2-client (apt-get install nghttp2-client)',
      2,
    )
  const args = commandOf(job, transport)
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  const late = setTimeout(kill, (job.load.warmup + job.seconds + patience) * 1_000)
  let [output, errors] = ['', '']
  let measured: Promise<void> | null = null
  let [began, ended] = [0, 0]
  const counts: number[] = []
  const count = (): void => void counts.push(liveConnections(child.pid as number, job.port))
  let recount: NodeJS.Timeout | undefined
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    output += `${line}\n`
    if (line.startsWith(warm)) {
      job.onWarm?.()
      began = performance.now()
      count()
      recount = setTimeout(count, counted * job.seconds * 1_000)
    }
    if (line.startsWith(over)) {
      ended = performance.now()
      clearTimeout(recount)
      measured = Promise.resolve(job.onMeasured?.())
    }
  })
  const code = await new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject).on('close', (exit, signal) => resolve(signal ?? exit))
  })
  clearTimeout(late)
  clearTimeout(recount)
  process.off('exit', kill)
  await measured
  const report = parseH2load(output)
  if (report !== null && measured !== null) {
    const length = onlyRequest('load', job.load).expect.body?.length ?? null
    // If the lines were read late, the counts are not from the window: the connections may have been closed already.
    const isTimely = windowFault((ended - began) / 1e3, job.seconds) === null
    const run = { transport, load: job.load, length, alive: isTimely ? Math.min(...counts) : null }
    return resultOf(report, run, job.seconds, args.join(' '))
  }
  const said = (errors || output).trim().split('\n').at(-1)
  throw new Failure(`it could not be loaded: h2load ended with ${code}: ${said || 'it said nothing'}`)
}

function commandOf({ load, port, seconds, core }: Job, transport: Transport): string[] {
  const { method, path, headers, body } = onlyRequest('load', load)
  if (method !== 'GET' || body !== null) throw new Failure('h2load is used for GET alone', 2)
  const args = ['h2load', '--clients', String(load.connections), '--max-concurrent-streams']
  args.push(String(load.pipelining), '--warm-up-time', milli(Math.max(load.warmup, 0.1)))
  args.push('--duration', milli(seconds))
  if (transport === 'http' || transport === 'https') args.push('--h1')
  for (const [name, value] of Object.entries(headers)) args.push('--header', `${name}: ${value}`)
  const scheme = transport === 'https' || transport === 'h2' ? 'https' : 'http'
  if (scheme === 'https') args.push(`--tls13-ciphers=${suite}`, `--groups=${group}`)
  if (core !== null) args.unshift('taskset', '--cpu-list', String(core))
  return [...args, `${scheme}://127.0.0.1:${port}${path}`]
}

/** Formats a time in ms. h2load accepts no fractions of seconds. */
function milli(seconds: number): string {
  return `${Math.round(seconds * 1_000)}ms`
}

function resultOf(report: H2loadReport, run: H2loadRun, seconds: number, command: string): LoadResult {
  return {
    requests: report.succeeded,
    ...repliesOf(report, run),
    seconds,
    p50: null,
    p95: null,
    p99: null,
    p999: null,
    // h2load times only requests that began in the window: with 5,000 in flight those that took longest are left out.
    mean: null,
    worst: null,
    bytesReceived: report.received,
    errors: report.errored + report.timedOut,
    non2xx: report.non2xx,
    meanInFlight: null,
    unfinished: 0,
    withinLimit: null,
    lateSends: 0,
    longestQueue: 0,
    ungreeted: 0,
    fault: faultOf(report, run),
    gaveUp: null,
    histogram: null,
    command,
  }
}
