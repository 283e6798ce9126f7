/** The load generator: one thread of wrk, a closed loop. */
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { packageFolder } from './folders.ts'

export interface WrkResult {
  readonly requests: number
  readonly seconds: number
  readonly requestsPerSecond: number
  /** Latency in µs as wrk sees it: a closed loop sends nothing while the server stalls, so tails look better than they are. */
  readonly p50: number
  readonly p99: number
  readonly non2xx: number
  /** Connect, read, write and timeout errors. */
  readonly socketErrors: number
}

export interface Load {
  readonly port: number
  /** Path and query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  /** Requests sent at once on a connection; 1 is no pipelining. */
  readonly depth: number
  readonly seconds: number
  /** Pins wrk to this core; null leaves it to the kernel. */
  readonly core: number | null
}

/** Runs wrk to its end. */
export async function runWrk(load: Load): Promise<WrkResult> {
  const args = ['wrk', '--threads', '1', '--connections', String(load.connections), '--latency']
  // wrk takes whole seconds only, but ends early on SIGINT and then reports the time it really ran.
  args.push('--duration', `${Math.ceil(load.seconds) + 5}s`)
  if (load.depth > 1) args.push('--script', join(packageFolder, 'scripts/pipeline.lua'))
  for (const [name, value] of Object.entries(load.headers)) args.push('--header', `${name}: ${value}`)
  args.push(`http://127.0.0.1:${load.port}${load.path}`)
  if (load.depth > 1) args.push('--', String(load.depth))
  if (load.core !== null) args.unshift('taskset', '--cpu-list', String(load.core))

  const child = spawn(args[0] as string, args.slice(1), { stdio: ['ignore', 'pipe', 'pipe'] })
  const stop = (): boolean => child.kill('SIGINT')
  process.once('exit', stop)
  const timer = setTimeout(stop, load.seconds * 1000)
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  clearTimeout(timer)
  process.off('exit', stop)
  const result = parseWrk(output)
  if (code !== 0 || !result) throw new Failure(`wrk failed: ${(errors || output).trim() || `exit ${code}`}`)
  return result
}

/** Reads what `wrk --latency` prints; null when it is not a whole report. */
export function parseWrk(text: string): WrkResult | null {
  const total = /^\s*(\d+) requests in ([\d.]+\w+),/m.exec(text)
  const rate = /^Requests\/sec:\s+([\d.]+)/m.exec(text)
  const p50 = /^\s*50(?:\.0+)?%\s+([\d.]+\w+)/m.exec(text)
  const p99 = /^\s*99(?:\.0+)?%\s+([\d.]+\w+)/m.exec(text)
  if (!total || !rate || !p50 || !p99) return null
  const non2xx = /^\s*Non-2xx or 3xx responses: (\d+)/m.exec(text)
  const errors = /^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/m.exec(text)
  return {
    requests: Number(total[1]),
    seconds: microseconds(total[2] as string) / 1e6,
    requestsPerSecond: Number(rate[1]),
    p50: microseconds(p50[1] as string),
    p99: microseconds(p99[1] as string),
    non2xx: Number(non2xx?.[1] ?? 0),
    socketErrors: errors ? errors.slice(1).reduce((sum, count) => sum + Number(count), 0) : 0,
  }
}

const units: Record<string, number> = { us: 1, ms: 1e3, s: 1e6, m: 60e6, h: 3600e6 }

function microseconds(text: string): number {
  const match = /^([\d.]+)(us|ms|s|m|h)$/.exec(text)
  const unit = units[match?.[2] ?? '']
  if (!match || unit === undefined) throw new Failure(`wrk printed a time in an unknown unit: ${text}`)
  return Number(match[1]) * unit
}
