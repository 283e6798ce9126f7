/** Adds routes that show what runs: routes, runtime, open resources, CPU profiles. */
import { cpus } from 'node:os'
import { performance } from 'node:perf_hooks'
import { getHeapSnapshot, getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'
import { middlewareNames } from '../app/route-info.ts'
import { rootOf, type Scope } from '../app/scope.ts'
import { checkScope, gateOf, hintMisuse } from '../dispatch/declare.ts'
import { isLocal } from '../dispatch/error-detail.ts'
import { refusal, VolantError } from '../errors/errors.ts'
import { checkFlag, checkInteger, checkNames, checkText } from '../options/checks.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { supervision } from '../worker/supervision.ts'
import { eventLoopLag, watchEventLoop } from './event-loop.ts'
import { Profiler } from './profiler.ts'

/** The options of `debug`. */
export interface DebugOptions {
  /** The path that its routes begin with. Default `/debug`. */
  prefix?: string | undefined
  /** The middleware that decides who may ask, such as `basic(…)`. Without one only clients on this machine may. */
  // oxlint-disable-next-line typescript/no-explicit-any -- whatever it adds and declares
  guard?: FittingMiddleware<any> | readonly FittingMiddleware<any>[] | undefined
  /** The most seconds of a CPU profile, from 1 to 300; default 30. */
  maxProfileSeconds?: number | undefined
  /**
   * True adds `POST /debug/heap-snapshot`. A snapshot holds all texts of the process, with its secrets, and the process
   * stands still while it is made: for seconds with a large heap. Default false.
   */
  heapSnapshot?: boolean | undefined
}

/**
 * A plugin: `app.register(debug, { guard: basic({ realm, users }) })`. Its routes reply with JSON:
 *
 * - `GET /debug/routes`: the routes with their middleware and limits
 * - `GET /debug/runtime`: versions, memory, processor time, lag and utilization of the event loop, counters of the server
 * - `GET /debug/resources`: what keeps the process alive, counted by type
 * - `GET /debug/heap`: statistics of the heap
 * - `POST /debug/cpu-profile?seconds=5`: a profile for the developer tools of Chromium, one at a time
 *
 * In a worker of a supervisor they are about the worker that answers; the header `volant-worker` of the reply has its slot.
 *
 * They have no header, body or variable of the environment in them. Without a guard they answer clients on this machine
 * alone, by the address of the connection, and with NODE_ENV=production the app does not start. Throws `E_BAD_OPTION`.
 */
export function debug(scope: Scope<any>, options: DebugOptions | void): void {
  checkScope(debug, scope)
  checkNames('debug', options ?? {}, ['prefix', 'guard', 'maxProfileSeconds', 'heapSnapshot'])
  const { prefix = '/debug', guard, maxProfileSeconds = 30, heapSnapshot } = options ?? {}
  checkText('debug: prefix', prefix, /^\/./, "a path such as '/debug'")
  const most = checkInteger(
    'debug: maxProfileSeconds',
    maxProfileSeconds,
    [1, 300],
    'an integer from 1 to 300',
  )
  const snapshots = checkFlag('debug: heapSnapshot', heapSnapshot, false)
  const guards = guard === undefined ? [] : [guard].flat()
  if (guards.length === 0 && process.env['NODE_ENV'] === 'production') {
    throw new VolantError(
      'E_BAD_OPTION',
      'debug: guard is missing, and NODE_ENV is production: its routes show how the server is built, and slow it down. Give it a middleware that decides who may ask, such as guard: basic({ realm, users }) of volant/auth, or leave the plugin out',
    )
  }
  watchEventLoop()
  const { registry } = rootOf(scope)
  const profiler = new Profiler()
  scope.onClosing(() => profiler.end())
  let inside: Scope<any> = scope.with(ownPages)
  for (const each of guards.length === 0 ? [localOnly] : guards) inside = inside.with(each)
  inside.group(prefix, (routes) => {
    const get = (path: string, make: (ctx: RequestContext) => unknown): void => {
      routes.get(path, { hidden: true }, (ctx) =>
        noStore(ctx as RequestContext).json(make(ctx as RequestContext)),
      )
    }
    get('/routes', () =>
      registry.allRoutes().map((route) => ({
        method: route.method,
        path: route.pattern,
        middleware: middlewareNames(route),
        bodyMode: route.bodyMode,
        maxBodySize: route.maxBodySize,
        handlerTimeout: route.handlerTimeout,
      })),
    )
    get('/runtime', runtime)
    get('/resources', () => countsOf(process.getActiveResourcesInfo()))
    get('/heap', () => ({ ...getHeapStatistics(), spaces: getHeapSpaceStatistics() }))
    routes.post('/cpu-profile', { hidden: true, maxBodySize: 0 }, async (given) => {
      const ctx = given as RequestContext
      const profile = await profiler.profile(secondsOf(ctx, most), ctx.signal)
      if (profile !== null) download(ctx, 'cpuprofile').text(profile)
    })
    if (!snapshots) return
    routes.post('/heap-snapshot', { hidden: true, maxBodySize: 0 }, (given) => {
      const ctx = given as RequestContext
      download(ctx, 'heapsnapshot').stream(getHeapSnapshot())
    })
  })
}
hintMisuse(debug, 'app.register(debug)')

/**
 * A page of another site may have the browser of a developer ask, with the password that the browser knows, and `cors()`
 * may let it read the reply. Links to what a GET shows are harmless.
 */
const ownPages = gateOf(
  ({ exchange, host, method }) => {
    const site = exchange.header('sec-fetch-site')
    const origin = exchange.header('origin')
    const isOwn =
      site === undefined
        ? origin === undefined || origin.replace(/^https?:\/\//, '') === host
        : site === 'same-origin' ||
          site === 'none' ||
          (method === 'GET' && exchange.header('sec-fetch-mode') === 'navigate')
    if (!isOwn) throw refusal('E_CSRF', 'A page of another origin sent the request to the debug routes')
  },
  { isEarly: true },
) as FittingMiddleware

/** A proxy on this machine passes on requests of others: those say so in their headers, and are not let in either. */
const localOnly = gateOf(
  (ctx) => {
    if (isLocal(ctx)) return
    throw refusal(
      'E_IP_DENIED',
      'The debug routes answer clients on this machine alone, unless the plugin is given a guard',
    )
  },
  { isEarly: true },
) as FittingMiddleware

function secondsOf(ctx: RequestContext, most: number): number {
  const given: unknown = ctx.query['seconds'] ?? '5'
  const seconds = typeof given === 'string' && /^\d{1,3}$/.test(given) ? Number(given) : 0
  if (seconds < 1 || seconds > most)
    throw refusal('E_BAD_REQUEST', `seconds takes an integer from 1 to ${most}`)
  return seconds
}

let utilization = performance.eventLoopUtilization()

function runtime(ctx: RequestContext): object {
  const { serving, limits } = ctx.app
  const supervisor = supervision()
  const now = performance.eventLoopUtilization()
  const since = performance.eventLoopUtilization(now, utilization)
  utilization = now
  const { user, system } = process.cpuUsage()
  const { node, v8, uv, openssl } = process.versions
  return {
    versions: { node, v8, uv, openssl },
    platform: `${process.platform}-${process.arch}`,
    processors: cpus().length,
    pid: process.pid,
    ...(supervisor !== null && { worker: { id: supervisor.worker, count: supervisor.workers } }),
    uptime: process.uptime(),
    memory: process.memoryUsage(),
    cpu: { user: user / 1e6, system: system / 1e6 },
    eventLoop: { lag: eventLoopLag(), utilization: now.utilization, sinceLastLook: since.utilization },
    server: { closing: serving.closing, ...serving.stats() },
    limits,
  }
}

function countsOf(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

/** Another worker may answer the next connection: the header says which one did. */
function noStore(ctx: RequestContext): RequestContext {
  const supervisor = supervision()
  if (supervisor !== null) ctx.header('volant-worker', String(supervisor.worker))
  return ctx.header('cache-control', 'no-store') as RequestContext
}

function download(ctx: RequestContext, ending: string): RequestContext {
  const supervisor = supervision()
  const place = supervisor === null ? '' : `worker-${supervisor.worker}-`
  const name = `${place}${process.pid}-${Date.now()}.${ending}`
  return noStore(ctx)
    .header('content-type', 'application/json; charset=utf-8')
    .header('content-disposition', `attachment; filename="${name}"`) as RequestContext
}
