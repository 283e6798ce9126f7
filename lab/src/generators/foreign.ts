/** wrk, autocannon and oha, so that a document's own command can be repeated. They verify nothing but statuses. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GeneratorName } from '../cell.ts'
import { Failure } from '../failure.ts'
import { type Job, type LoadResult, needProgram, onlyRequest } from './generator.ts'
import { parseWrk } from './wrk-output.ts'

/** Beyond its own time, before it is taken for dead, s. */
const patience = 15

type Foreign = Exclude<GeneratorName, 'load'>

/** A run for the warm-up, then one that is measured: none of them can tell the two apart itself. */
export async function runForeign(name: Foreign, job: Job): Promise<LoadResult> {
  if (job.rate != null && name !== 'oha')
    throw new Failure(`${name} has no open loop: use --generator load`, 2)
  needProgram(name)
  const folder = mkdtempSync(join(tmpdir(), 'lab-load-'))
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', clear)
  try {
    const warmed = job.load.warmup > 0 ? (await runOnce(name, job, job.load.warmup, folder)).requests : 0
    job.onWarm?.()
    const result = await runOnce(name, job, job.seconds, folder)
    await job.onMeasured?.()
    return { ...result, replies: result.requests + warmed, fault: refused(result, job) }
  } finally {
    process.off('exit', clear)
    clear()
  }
}

/** They count refusals as replies; where all were to be 2xx, they are none. */
function refused({ non2xx }: LoadResult, { load }: Job): string | null {
  if (non2xx === 0 || load.requests.some(({ expect }) => Math.floor(expect.status / 100) !== 2)) return null
  return `${non2xx} replies that were not 2xx`
}

async function runOnce(name: Foreign, job: Job, seconds: number, folder: string): Promise<LoadResult> {
  const args = commands[name](job, seconds, folder)
  if (job.core !== null) args.unshift('taskset', '--cpu-list', String(job.core))
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  // wrk and autocannon take whole seconds, but end early on SIGINT and then report the time they really ran.
  const early = name === 'oha' ? undefined : setTimeout(() => child.kill('SIGINT'), seconds * 1_000)
  const late = setTimeout(kill, (seconds + patience) * 1_000)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  clearTimeout(early)
  clearTimeout(late)
  process.off('exit', kill)
  const result = readers[name](output, args.join(' '))
  if (result) return result
  const end = (errors || output).trim().split('\n').at(-1) || `exit ${code}`
  throw new Failure(`${name} failed: ${end}; run it by hand to see more: ${args.join(' ')}`, 2)
}

const commands: Record<Foreign, (job: Job, seconds: number, folder: string) => string[]> = {
  wrk({ load, port }, seconds, folder) {
    const { method, path, headers, body } = onlyRequest('wrk', load)
    const args = ['wrk', '--threads', '1', '--connections', String(load.connections), '--latency']
    args.push('--duration', `${Math.ceil(seconds) + 5}s`)
    for (const [name, value] of Object.entries(headers)) args.push('--header', `${name}: ${value}`)
    if (load.pipelining > 1 || method !== 'GET' || body !== null) {
      const script = join(folder, 'requests.lua')
      writeFileSync(script, wrkScript(method, body, load.pipelining))
      args.push('--script', script)
    }
    return [...args, `http://127.0.0.1:${port}${path}`]
  },
  autocannon({ load, port }, seconds) {
    const { method, path, headers, body } = onlyRequest('autocannon', load)
    const args = ['autocannon', '--json', '--connections', String(load.connections)]
    args.push('--pipelining', String(load.pipelining), '--duration', String(Math.ceil(seconds) + 5))
    args.push('--method', method)
    for (const [name, value] of Object.entries(headers)) args.push('--headers', `${name}=${value}`)
    if (body !== null) args.push('--body', body)
    return [...args, `http://127.0.0.1:${port}${path}`]
  },
  oha({ load, port, rate }, seconds) {
    const { method, path, headers, body } = onlyRequest('oha', load)
    if (load.pipelining > 1) throw new Failure('oha has no pipelining: use --generator load', 2)
    const args = ['oha', '--no-tui', '--output-format', 'json', '-c', String(load.connections)]
    args.push('-z', `${seconds}s`, '-m', method)
    if (rate != null) args.push('-q', String(rate), '--latency-correction')
    for (const [name, value] of Object.entries(headers)) args.push('-H', `${name}: ${value}`)
    if (body !== null) args.push('-d', body)
    return [...args, `http://127.0.0.1:${port}${path}`]
  },
}

function wrkScript(method: string, body: string | null, depth: number): string {
  const request = [
    `wrk.method = ${JSON.stringify(method)}`,
    ...(body === null ? [] : [`wrk.body = [==[${body}]==]`]),
  ]
  const batch = [
    'local batch',
    'function init()',
    `  batch = string.rep(wrk.format(), ${depth})`,
    'end',
    'function request()',
    '  return batch',
    'end',
  ]
  return `${[...request, ...(depth > 1 ? batch : [])].join('\n')}\n`
}

const nothing = {
  p50: null,
  p95: null,
  p99: null,
  p999: null,
  mean: null,
  worst: null,
  bytesReceived: null,
  meanInFlight: null,
  unfinished: 0,
  withinLimit: null,
  lateSends: 0,
  longestQueue: 0,
  ungreeted: 0,
  fault: null,
  gaveUp: null,
  histogram: null,
}

const readers: Record<Foreign, (output: string, command: string) => LoadResult | null> = {
  wrk(output, command) {
    const report = parseWrk(output)
    if (!report) return null
    const { requests, seconds, non2xx, socketErrors, bytes } = report
    // With pipelining wrk times batches and corrects them as if they were requests: its percentiles are wrong. Its mean
    // is corrected for omissions that it supposes, so that Little's law cannot hold for it.
    const times = /--script/.test(command)
      ? {}
      : { p50: report.p50 / 1e3, p99: report.p99 / 1e3, worst: report.worst / 1e3 }
    return {
      ...nothing,
      ...times,
      requests,
      replies: requests,
      seconds,
      bytesReceived: bytes,
      errors: socketErrors,
      non2xx,
      command,
    }
  },
  autocannon(output, command) {
    const report = json(output) as Autocannon | null
    if (!report) return null
    const { latency } = report
    return {
      ...nothing,
      p50: latency.p50,
      p99: latency.p99,
      p999: latency.p99_9,
      mean: latency.average,
      worst: latency.max,
      requests: report.requests.total,
      replies: report.requests.total,
      seconds: report.duration,
      bytesReceived: report.throughput.total,
      errors: report.errors,
      non2xx: report.non2xx,
      command,
    }
  },
  oha(output, command) {
    const report = json(output) as Oha | null
    if (!report) return null
    const { summary, latencyPercentiles: times, statusCodeDistribution: statuses } = report
    const total = Object.values(statuses).reduce((sum, count) => sum + count, 0)
    const milliseconds = (seconds: number | null | undefined): number | null =>
      seconds == null ? null : seconds * 1e3
    return {
      ...nothing,
      p50: milliseconds(times.p50),
      p95: milliseconds(times.p95),
      p99: milliseconds(times.p99),
      p999: milliseconds(times['p99.9']),
      mean: milliseconds(summary.average),
      worst: milliseconds(summary.slowest),
      requests: total,
      replies: total,
      seconds: summary.total,
      bytesReceived: summary.totalData,
      errors: Object.entries(report.errorDistribution).reduce(
        // What is cut off at the end of the time is not an error.
        (sum, [reason, count]) => sum + (/deadline/.test(reason) ? 0 : count),
        0,
      ),
      non2xx: Object.entries(statuses).reduce(
        (sum, [code, count]) => sum + (code.startsWith('2') ? 0 : count),
        0,
      ),
      command,
    }
  },
}

interface Autocannon {
  readonly latency: Readonly<Record<'p50' | 'p99' | 'p99_9' | 'average' | 'max', number>>
  readonly requests: { readonly total: number }
  readonly throughput: { readonly total: number }
  readonly duration: number
  readonly errors: number
  readonly non2xx: number
}

interface Oha {
  readonly summary: Readonly<Record<'total' | 'average' | 'slowest' | 'totalData', number>>
  readonly latencyPercentiles: Readonly<Record<string, number | null>>
  readonly statusCodeDistribution: Readonly<Record<string, number>>
  readonly errorDistribution: Readonly<Record<string, number>>
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
