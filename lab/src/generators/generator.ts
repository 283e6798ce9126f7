/** What a load generator is asked to do, and what it says afterwards: the same for our own and for the others. */
import { existsSync } from 'node:fs'
import type { GeneratorName } from '../cell.ts'
import { Failure } from '../failure.ts'
import { loadPath } from '../folders.ts'
import { isInstalled } from '../machine.ts'
import type { Load, Messages, Transport } from '../scenario.ts'

export interface Job {
  readonly load: Load
  readonly port: number
  /** Of the window. */
  readonly seconds: number
  /** Requests/s over all connections, in an open loop; null is a closed one. */
  readonly rate?: number | null
  /** Ends the window early. */
  readonly maxRequests?: number
  /** Right replies within it are counted, ms. */
  readonly limit?: number
  /** Every so many replies one is compared byte for byte (100). */
  readonly verifyEvery?: number
  /** Pins it to this core; null leaves it to the kernel. */
  readonly core: number | null
  /** WebSockets instead of requests. */
  readonly sockets?: { readonly mode: 'echo' | 'publish' | 'held'; readonly messages: Messages }
  /** The protocol of the requests, which h2load then makes. */
  readonly transport?: Transport
  /** Without an answer for so many seconds a request has failed (5). */
  readonly timeout?: number
  /** Called when the window begins, and when it has ended while connections are still open. */
  readonly onWarm?: () => void
  readonly onMeasured?: () => void | Promise<void>
}

/** Times in ms. What a generator does not say is null. */
export interface LoadResult {
  /** Replies in the window, and in all with the warm-up. */
  readonly requests: number
  readonly replies: number
  /** In all, where it is not the number of replies: how often a handler must have run. */
  readonly handled?: number
  /**
   * The most handler runs that fit the replies, if all bytes of bodies were counted. With more runs the replies were
   * too short.
   */
  readonly handledAtMost?: number
  /** Of a WebSocket beside those that are held, ms. */
  readonly firstEcho?: number
  readonly seconds: number
  readonly p50: number | null
  readonly p95: number | null
  readonly p99: number | null
  readonly p999: number | null
  readonly mean: number | null
  readonly worst: number | null
  readonly bytesReceived: number | null
  /** Connections that failed, and requests without a reply. */
  readonly errors: number
  readonly non2xx: number
  /** Of the window on average, as the generator saw it. */
  readonly meanInFlight: number | null
  /** Open loop: due within the window, without a reply at its end. */
  readonly unfinished: number
  /** Right replies within the limit of the job; null when there was none, or the generator cannot tell. */
  readonly withinLimit: number | null
  /** Open loop: sent more than 1 ms after they were due, and the most that waited for a connection. */
  readonly lateSends: number
  readonly longestQueue: number
  /** Connections that were not answered before the load began. */
  readonly ungreeted: number
  /** A reply that was not the right one: what was wrong with the first. */
  readonly fault: string | null
  /** Why it ended before its time. */
  readonly gaveUp: string | null
  readonly histogram: readonly (readonly [number, number])[] | null
  /** As it was run. */
  readonly command: string
}

export const generatorPackages: Readonly<Record<GeneratorName, string>> = {
  load: 'cargo build --release -p volant-load',
  wrk: 'the package wrk (apt-get install wrk)',
  autocannon: 'the npm package autocannon (npm install --global autocannon)',
  oha: 'the crate oha (cargo install oha)',
}

/** Throws a `Failure` that names the package which brings it. */
export function needProgram(name: GeneratorName): void {
  if (name === 'load' ? existsSync(loadPath) : isInstalled(name)) return
  throw new Failure(`the load generator ${name} is missing: ${generatorPackages[name]}`, 2)
}

/** The one request of a load that asks the same thing over and over. Throws a `Failure` for others. */
export function onlyRequest(name: GeneratorName, { requests, connection }: Load) {
  const [only, ...others] = requests
  const text = [only?.path, only?.body, ...Object.values(only?.headers ?? {})].join(' ')
  if (only === undefined || others.length > 0 || template.test(text) || connection === 'close') {
    throw new Failure(
      `${name} can only repeat one request on open connections, which this scenario does not: use --generator load`,
      2,
    )
  }
  return only
}

/** Where our generator puts something in: a nonce, a counter, a random number, the same number again, or so many bytes. */
export const template: RegExp = /\{(?:nonce|unique|\d+\.\.\d+|#\d+|bytes-\d+)\}/
