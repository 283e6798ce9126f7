/** What a run leaves behind: one cell for each measurement, and the run they belong to. */
import type { Machine } from './machine.ts'
import type { MetricName } from './metrics.ts'
import type { Point, Transport } from './scenario.ts'

/** Requests that are never compared with those of another lane. */
export type Lane = 'plain' | 'pipelined' | 'new connections' | 'open loop' | 'no load'

export interface Cell {
  readonly scenario: string
  /** Of the scenario; one alone is `default`. */
  readonly variant: string
  readonly lane: Lane
  /** The entry; one that is measured twice for the noise floor has `#2` behind its name the second time. */
  readonly entry: string
  /** Counted from 0. */
  readonly round: number
  /** `discarded`: a guard says that the figures cannot be right. `disqualified`: the server did other work. */
  readonly status: 'measured' | 'disqualified' | 'failed' | 'discarded'
  /** Why it is not `measured`. */
  readonly reason?: string
  /** Only what was measured. Times in ms except `cpu` in µs, memory in MB of 10⁶ bytes. */
  readonly metrics: Readonly<Partial<Record<MetricName, number>>>
  readonly flags: readonly Flag[]
  /** What is drawn as a line. */
  readonly series?: Series
  /** As they were run, so that anybody can repeat them; of the later rounds none is kept when it only has another port or seed. */
  readonly commands: readonly string[]
  /** ISO 8601. */
  readonly at: string
  /** What the cell took in all, s. */
  readonly took: number
}

/**
 * `generator-bound`: the server's core was under 95 % busy, so requests/s is a lower bound. `disturbed`: other work
 * took its core for 5 % of the time or more. `coarse`: CPU time in steps of 10 ms.
 */
export type Flag = 'generator-bound' | 'disturbed' | 'coarse'

export interface Series {
  /** `[s, MB]`, resident memory over a soak. */
  readonly memory?: readonly (readonly [number, number])[]
  /** Open loop at shares of the capacity. */
  readonly curve?: readonly CurvePoint[]
}

export interface CurvePoint {
  /** Of the capacity that was found before, 0.1 to 2. */
  readonly share: number
  /** Requests/s that were due, and that got a right reply. */
  readonly offered: number
  readonly answered: number
  /** ms, from the intended time. */
  readonly p50: number
  readonly p99: number
  readonly p999: number
  /** CPU time per request at that rate, µs. */
  readonly cpu?: number
}

/** `run.json`. */
export interface Run {
  readonly format: 1
  readonly name: string
  readonly startedAt: string
  /** The arguments of `npm run lab --`. */
  readonly command: readonly string[]
  readonly machine: Machine
  /** When it was gone on with, by which commit: the cells from then on are of that one. */
  readonly resumed?: readonly {
    readonly at: string
    readonly commit: string | null
    readonly code: string
  }[]
  readonly settings: Settings
  readonly entries: readonly RunEntry[]
  readonly scenarios: readonly RunScenario[]
  /** `codeState()`. */
  readonly code: string
  /** What `cargo bench` found of the parser and the router, ns. */
  readonly criterion?: readonly CriterionResult[]
}

export interface Settings {
  readonly rounds: number
  /** s; null: what each scenario says. */
  readonly warmup: number | null
  readonly window: number | null
  readonly generator: GeneratorName
  /** Of the order of entries. */
  readonly seed: number
  /** How server and generator were kept apart. */
  readonly cores: string
  /** Less of everything; not for publishing. */
  readonly quick: boolean
}

export type GeneratorName = 'load' | 'wrk' | 'autocannon' | 'oha'

export interface RunEntry {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly package: string | null
  /** Of the package as installed, or of the runtime. */
  readonly version: string
  readonly adapter: string
  /** `Node.js 20.20.2`, `Bun 1.4.5`, `native code`. */
  readonly runtime: string
  readonly javascript: boolean
  /** Why it could not be run at all. */
  readonly error?: string
}

export interface RunScenario {
  readonly name: string
  readonly title: string
  readonly about: string
  /** The document it is from; null for ours. */
  readonly document: { readonly name: string; readonly command: string } | null
  readonly kind: string
  readonly variants: readonly {
    readonly name: string
    readonly lane: Lane
    readonly point?: Point
    /** The protocol of the requests. The load was made by h2load then, whatever the settings say. */
    readonly transport?: Transport
  }[]
  /** What its table is sorted by. */
  readonly headline: MetricName
}

export interface CriterionResult {
  /** `wire/parse/minimal`. */
  readonly name: string
  readonly nanoseconds: number
  readonly low: number
  readonly high: number
}
