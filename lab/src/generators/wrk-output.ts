/** What wrk prints at its end. */
import { Failure } from '../failure.ts'

export interface WrkResult {
  readonly requests: number
  readonly seconds: number
  readonly requestsPerSecond: number
  /** Latency in µs as wrk sees it: a closed loop sends nothing while the server stalls, so tails look better than they are. */
  readonly p50: number
  readonly p99: number
  readonly mean: number
  readonly worst: number
  readonly bytes: number
  readonly non2xx: number
  /** Connect, read, write and timeout errors. */
  readonly socketErrors: number
}

/** Reads what `wrk --latency` prints; null when it is not a whole report. */
export function parseWrk(text: string): WrkResult | null {
  const total = /^\s*(\d+) requests in ([\d.]+\w+), ([\d.]+)([KMGT]?B) read/m.exec(text)
  const latency = /^\s*Latency\s+([\d.]+\w+)\s+\S+\s+([\d.]+\w+)/m.exec(text)
  const rate = /^Requests\/sec:\s+([\d.]+)/m.exec(text)
  const p50 = /^\s*50(?:\.0+)?%\s+([\d.]+\w+)/m.exec(text)
  const p99 = /^\s*99(?:\.0+)?%\s+([\d.]+\w+)/m.exec(text)
  if (!total || !latency || !rate || !p50 || !p99) return null
  const non2xx = /^\s*Non-2xx or 3xx responses: (\d+)/m.exec(text)
  const errors = /^\s*Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/m.exec(text)
  return {
    requests: Number(total[1]),
    seconds: microseconds(total[2] as string) / 1e6,
    requestsPerSecond: Number(rate[1]),
    p50: microseconds(p50[1] as string),
    p99: microseconds(p99[1] as string),
    mean: microseconds(latency[1] as string),
    worst: microseconds(latency[2] as string),
    bytes: Number(total[3]) * (sizes[total[4] as string] ?? 1),
    non2xx: Number(non2xx?.[1] ?? 0),
    socketErrors: errors ? errors.slice(1).reduce((sum, count) => sum + Number(count), 0) : 0,
  }
}

/** wrk counts in powers of 1,024. */
const sizes: Record<string, number> = { B: 1, KB: 2 ** 10, MB: 2 ** 20, GB: 2 ** 30, TB: 2 ** 40 }
const units: Record<string, number> = { us: 1, ms: 1e3, s: 1e6, m: 60e6, h: 3600e6 }

function microseconds(text: string): number {
  const match = /^([\d.]+)(us|ms|s|m|h)$/.exec(text)
  const unit = units[match?.[2] ?? '']
  if (!match || unit === undefined) throw new Failure(`wrk printed a time in an unknown unit: ${text}`)
  return Number(match[1]) * unit
}
