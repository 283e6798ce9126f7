/** What is asked of the servers, and what a right reply is. One file a scenario, in `scenarios/`. */
import type { Lane } from './cell.ts'
import { Failure } from './failure.ts'
import type { MetricName } from './metrics.ts'
import { scenarios } from './scenarios/index.ts'

/** The programs of an entry; `entries/README.md` says what each serves. */
export const programs = [
  'hello',
  'stack',
  'users',
  'greet',
  'records',
  'zap',
  'nessen',
  'velox',
  'routes',
  'echo',
  'slow',
  'param',
  'middleware',
  'limits',
  'compression',
  'guarded',
  'secured',
  'identified',
  'journal',
  'sessions',
  'cookies',
  'tokens',
  'traces',
  'guards',
  'connect',
  'files',
  'uploads',
  'items',
  'orders',
  'contracts',
  'trpc',
  'playground',
  'sockets',
  'secure',
  'streams',
] as const
export type Program = (typeof programs)[number]

export const documents = {
  ramapi: 'RamAPI',
  veloze: 'veloze-benchmarks',
  zapjs: 'ZapJS',
  nessen: 'Nessen',
  veloxts: 'VeloxTS',
} as const
export type DocumentName = keyof typeof documents

export interface Scenario {
  /** On the command line and in results. */
  readonly name: string
  readonly title: string
  /** One sentence. */
  readonly about: string
  /** Null for a scenario of ours. */
  readonly document: {
    readonly name: DocumentName
    /** As it stands in the document or its suite. */
    readonly command: string
  } | null
  readonly program: Program
  /** What its tables are sorted by. */
  readonly headline: MetricName
  readonly variants: readonly Variant[]
  /** Requests whose replies prove that the work is done; an unknown path is always tried too. */
  readonly proofs: readonly Proof[]
  /** A line for each request, which matches this, must be in the file `LOG`. */
  readonly logs?: RegExp
  /** Requests under load that are compared one by one before anything is measured; 200 unless it says so. */
  readonly compared?: number
  /** Its variants are counts of connections already. */
  readonly sweep?: boolean
}

/** A closed loop at one of several counts of connections. */
export interface Point {
  /** The variant of which it is a point. */
  readonly of: string
  readonly connections: number
}

export interface Variant {
  readonly name: string
  readonly lane: Lane
  readonly measure: Measure
  /** Left out of `run --quick`. */
  readonly long?: boolean
  /** Added to the environment of the server. */
  readonly environment?: Readonly<Record<string, string>>
  /** Beside those of the scenario. */
  readonly proofs?: readonly Proof[]
  /** False: this one leaves no lines, whatever the scenario says, and its proofs leave none either. */
  readonly logs?: false
  /** The server exports traces: a span with a route for each request, or none at all. */
  readonly spans?: 'each' | 'none'
  /** False: the framework answers by itself, as it does for a file, and no handler is counted. */
  readonly handler?: false
  /** Asked once before the load, and checked. */
  readonly prelude?: Proof
  readonly point?: Point
  /**
   * The protocol of the requests, which h2load then makes. Undefined is HTTP/1.1 without TLS, by the chosen generator.
   */
  readonly transport?: Transport
}

/** HTTP/1.1 without TLS and over TLS, and HTTP/2 without TLS and over TLS. */
export type Transport = 'http' | 'https' | 'h2c' | 'h2'

export type Measure =
  | { readonly kind: 'load'; readonly load: Load }
  /** Fresh processes: start to the first reply to the first request of `load`, and memory after it. */
  | { readonly kind: 'startup'; readonly load: Load }
  /** Memory idle, under load of so many seconds, and `rest` seconds after it. */
  | { readonly kind: 'memory'; readonly load: Load; readonly seconds: number; readonly rest: number }
  /** Memory every second over so many seconds. */
  | { readonly kind: 'soak'; readonly load: Load; readonly seconds: number }
  /** Open loop at shares of the capacity. */
  | { readonly kind: 'curve'; readonly load: Load; readonly shares: readonly number[] }
  /** The highest rate whose p99.9 is at most so many ms. */
  | { readonly kind: 'highest'; readonly load: Load; readonly limit: number }
  /** Open loop at one rate for all entries: a share of what the slowest of them does in a closed loop. */
  | { readonly kind: 'steady'; readonly load: Load; readonly share: number }
  /** Right replies per second within `limit` ms at `factor` times the capacity. */
  | { readonly kind: 'overload'; readonly load: Load; readonly factor: number; readonly limit: number }
  /** Each of the `connections` is a WebSocket and sends a message when the last one has come back. */
  | { readonly kind: 'echo'; readonly load: Load; readonly messages: Messages }
  /** Each of the `connections` is a subscriber of what one more publishes. */
  | { readonly kind: 'publish'; readonly load: Load; readonly messages: Messages }
  /** Each of the `connections` is a WebSocket that got one echo and is then held for the window. */
  | { readonly kind: 'held'; readonly load: Load; readonly messages: Messages }

/** What WebSockets send. */
export interface Messages {
  readonly path: string
  readonly bytes: number
  readonly type: 'text' | 'binary'
}

/** What the generator sends: see `load --help` for templates. */
export interface Load {
  readonly connections: number
  /** Requests at once on a connection. */
  readonly pipelining: number
  readonly connection: 'keep-alive' | 'close'
  readonly requests: readonly Request[]
  /** `rotate`: one after the other, as they stand. */
  readonly order: 'weighted' | 'rotate'
  /** s of load before a window. */
  readonly warmup: number
  /** s of a window; null: what the run says. */
  readonly window: number | null
  readonly credentials?: Credentials
}

/**
 * Each request is sent for every one of so many users in turns, with credentials of theirs in a header field; `{user}`
 * in the body that is expected is whose they are.
 */
export interface Credentials {
  readonly header: 'cookie' | 'authorization'
  readonly count: number
  /** False: the server does not look at them, and none are refused. */
  readonly checked: boolean
  readonly obtain: (user: string, port: number) => Promise<string>
}

export interface Request {
  readonly weight: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null
  readonly expect: {
    readonly status: number
    /** Byte for byte. */
    readonly body: string | null
    readonly length: number | null
    readonly contains: string | null
  }
}

export interface Proof {
  readonly method?: string
  /** Path and query. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number | readonly number[]
  /** The body, byte by byte, or a pattern of it. */
  readonly reply?: string | RegExp
  /** Of the content type, without its parameters; `application/json` for a reply that begins with `{` or `[`. */
  readonly type?: string
  /** How the body must be encoded: it is decoded before it is compared. Without this it must not be encoded. */
  readonly encoding?: 'gzip'
  /** Header fields of the reply, by lower-case name. With `a|b` one of the two is enough. */
  readonly fields?: Readonly<Record<string, RegExp>>
  /** Header fields that the reply must not have. */
  readonly absent?: readonly string[]
  /** A header field whose value is another one in every reply. */
  readonly unique?: string
  /** Asked again with the ETag of the reply, the server says 304. */
  readonly revalidated?: true
}

/** Throws a `Failure` for a name that is not in the list. */
export function scenarioOf(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name)
  if (scenario) return scenario
  throw new Failure(`unknown scenario ${name}; known: ${scenarios.map((one) => one.name).join(' ')}`, 2)
}

export function variantOf(scenario: Scenario, name: string): Variant {
  const variant = scenario.variants.find((candidate) => candidate.name === name)
  if (variant) return variant
  const known = scenario.variants.map((one) => one.name).join(' ')
  throw new Failure(`${scenario.name} has no variant ${name}; it has: ${known}`, 2)
}
