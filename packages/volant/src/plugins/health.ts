/** Adds routes that tell whether the process lives, whether it is ready for requests, and how it is doing. */
import { checkInteger, checkNames } from '../options/checks.ts'
import { described, objectOf } from '../schema/doc-only.ts'
import type { Scope } from '../app/scope.ts'
import { asFunction } from '../app/given-functions.ts'
import { checkScope } from '../dispatch/declare.ts'
import { eventLoopLag, watchEventLoop } from './event-loop.ts'
import type { RequestContext } from '../types/request.ts'
import { supervision } from '../worker/supervision.ts'

/**
 * Checks something that the app needs. The check fails if it throws, rejects, gives false, or takes longer than
 * `timeout`, which also aborts `signal`.
 */
export type HealthCheck = (signal: AbortSignal) => unknown

const text = { type: 'string' }
const count = { type: 'integer', minimum: 0 }
const quantity = { type: 'number', minimum: 0 }
const verdicts = { type: 'object', additionalProperties: { enum: ['ok', 'failed', 'timed out'] } }

const liveRoute = {
  tags: ['health'],
  summary: 'Whether the process lives',
  response: described(objectOf({ status: { const: 'ok' } })),
}

const readyRoute = {
  tags: ['health'],
  summary: 'Whether it is ready for requests',
  response: {
    200: described(objectOf({ status: { const: 'ready' }, checks: verdicts })),
    503: described({
      type: 'object',
      properties: {
        status: { enum: ['not ready', 'closing'] },
        failed: { type: 'array', items: text },
        checks: verdicts,
      },
      required: ['status'],
      additionalProperties: false,
    }),
  },
}

const details = objectOf({
  status: { enum: ['ok', 'closing'] },
  uptime: quantity,
  connections: count,
  inFlight: count,
  requests: count,
  memory: objectOf({
    rss: count,
    heapTotal: count,
    heapUsed: count,
    external: count,
    arrayBuffers: count,
  }),
  eventLoopLag: objectOf({ p50: quantity, p99: quantity, max: quantity }),
})

const detailsRoute = {
  tags: ['health'],
  summary: 'Uptime, memory, lag of the event loop',
  response: described({
    ...details,
    // Not every process has a supervisor, not every adapter the first counters, and not every app a bus.
    properties: {
      ...(details['properties'] as object),
      worker: count,
      refused: count,
      dropped: count,
      panics: count,
      sockets: count,
      bus: objectOf({
        connected: { type: 'boolean' },
        topics: count,
        published: count,
        received: count,
        unsent: count,
        gaps: count,
        lost: count,
        refused: count,
        waiting: count,
      }),
    },
  }),
}

/** The options of `health`. */
export interface HealthOptions {
  /** The checks by name: `{ database: () => pool.query('SELECT 1') }`. The names are in the reply. */
  checks?: Readonly<Record<string, HealthCheck>> | undefined
  /** The milliseconds for each check, from 1 to 60,000; default 1,000. */
  timeout?: number | undefined
  /** The path of the liveness route; default `/health`, false for none. */
  live?: string | false | undefined
  /** The path of the readiness route; default `/ready`, false for none. */
  ready?: string | false | undefined
  /**
   * The path of a route with uptime, memory and lag of the event loop; default none. In a worker of a supervisor they are
   * those of the worker that answers, and `worker` is its slot.
   */
  details?: string | false | undefined
}

/**
 * A plugin: `app.register(health, { checks: { database: () => db.ping() } })`.
 *
 * `/health` says 200 while the event loop turns and does nothing else, so that a failing database is no reason to
 * restart the process. `/ready` runs the checks, all at once and each of them once at a time however many ask, and
 * says 200, or 503 with the names of those that failed; also 503 while the app closes. A check's error is reported
 * (see the app's `report`) when it begins to fail, and is not in the reply. Throws `E_BAD_OPTION` for options that
 * make no sense, `E_BAD_HANDLER` for a check that is no function.
 */
export function health(scope: Scope<any>, options: HealthOptions | void): void {
  checkScope(health, scope)
  checkNames('health', options ?? {}, ['checks', 'timeout', 'live', 'ready', 'details'])
  const { checks = {}, timeout = 1_000, live = '/health', ready = '/ready', details = false } = options ?? {}
  checkInteger('health.timeout', timeout, [1, 60_000], 'a whole number of milliseconds from 1 to 60,000')
  const probes = Object.entries(checks).map(
    ([name, check]) => new Probe(name, asFunction(check, `the check ${name}`) as HealthCheck, timeout),
  )
  if (live !== false) scope.get(live, liveRoute, (ctx) => noStore(ctx as RequestContext, { status: 'ok' }))
  if (ready !== false) scope.get(ready, readyRoute, (ctx) => readiness(ctx as RequestContext, probes))
  if (details === false) return
  watchEventLoop()
  scope.get(details, detailsRoute, (ctx) => noStore(ctx as RequestContext, state(ctx as RequestContext)))
}

async function readiness(ctx: RequestContext, probes: readonly Probe[]): Promise<never> {
  if (ctx.app.serving.closing) return noStore(ctx, { status: 'closing' }, 503)
  const verdicts = await Promise.all(probes.map((probe) => probe.ask(ctx)))
  const failed = probes.filter((_, index) => verdicts[index] !== 'ok').map(({ name }) => name)
  const checks = Object.fromEntries(probes.map(({ name }, index) => [name, verdicts[index]]))
  if (failed.length === 0) return noStore(ctx, { status: 'ready', checks })
  return noStore(ctx, { status: 'not ready', failed, checks }, 503)
}

function state(ctx: RequestContext): object {
  const { serving } = ctx.app
  const supervisor = supervision()
  return {
    status: serving.closing ? 'closing' : 'ok',
    ...(supervisor !== null && { worker: supervisor.worker }),
    uptime: process.uptime(),
    ...serving.stats(),
    memory: process.memoryUsage(),
    eventLoopLag: eventLoopLag(),
  }
}

function noStore(ctx: RequestContext, value: object, status = 200): never {
  return ctx.header('cache-control', 'no-store').json(value, status) as never
}

type Verdict = 'ok' | 'failed' | 'timed out'

/** Runs a check once at a time, however many requests wait for it and however long it takes. */
class Probe {
  readonly name: string
  readonly #check: HealthCheck
  readonly #timeout: number
  /** The verdict of the run that has not ended; a run that is too late has not ended either. */
  #running: Promise<Verdict> | null = null
  #failing = false

  constructor(name: string, check: HealthCheck, timeout: number) {
    this.name = name
    this.#check = check
    this.#timeout = timeout
  }

  ask(ctx: RequestContext): Promise<Verdict> {
    return (this.#running ??= this.#run(ctx))
  }

  #run(ctx: RequestContext): Promise<Verdict> {
    const controller = new AbortController()
    return new Promise((resolve) => {
      const conclude = (verdict: Verdict, error: unknown): void => {
        if (verdict !== 'ok' && !this.#failing) ctx.app.report(error, ctx)
        this.#failing = verdict !== 'ok'
        resolve(verdict)
      }
      const timer = setTimeout(() => {
        const error = new Error(`the health check ${this.name} took longer than ${this.#timeout} ms`)
        controller.abort(error)
        conclude('timed out', error)
      }, this.#timeout)
      const finish = (passed: boolean, error: unknown): void => {
        this.#running = null
        if (controller.signal.aborted) return
        clearTimeout(timer)
        conclude(passed ? 'ok' : 'failed', error)
      }
      new Promise((started) => started(this.#check(controller.signal))).then(
        (value) => finish(value !== false, new Error(`the health check ${this.name} gave false`)),
        (error: unknown) => finish(false, error),
      )
    })
  }
}
