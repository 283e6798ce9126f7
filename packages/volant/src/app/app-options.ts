/** Checks the options of `createApp` when the app is made. */
import { type Limits, longestMethod, methods, mostRegistered, type RouterOptions } from '@volant/engine'
import { type AdapterType, adapterTypes } from '../adapters/choose.ts'
import type { Bus } from '../types/bus.ts'
import { usualBus } from '../bus/workers-bus.ts'
import type { Context } from '../types/context.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkFunction, checkNames } from '../options/checks.ts'
import { type LimitOptions, limitTable, resolveLimits } from '../options/limits.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import type { UndeclaredProperties } from '../contract/reply-body.ts'
import { briefValue } from '../errors/brief-value.ts'
import { type LogOptions, openLog } from '../log/options.ts'
import type { Log } from '../types/log.ts'
import { resolveTrust, type TrustedPeers, type TrustProxyOptions } from '../request/trust.ts'
import { limitsHere } from './supervised.ts'
import type { Audience, Trust } from '../types/request.ts'
import type { SocketHook } from '../types/web-socket.ts'

/** The options of `createApp`. */
export interface AppOptions {
  /** The adapter. Default: `native` where it loads, else `node-http`, with a line on stderr that says why. */
  adapter?: { type: AdapterType } | undefined
  /** The limits; see their table. Each absent one has its default. */
  limits?: LimitOptions | undefined
  /**
   * The comparison of paths: `caseSensitive`, default true, and `ignoreTrailingSlash`, default false. `methods` names
   * methods that routes may have beside the usual ones, such as `['PROPFIND', 'PURGE']`.
   */
  router?: { [K in keyof RouterOptions]?: RouterOptions[K] | undefined } | undefined
  /**
   * The proxies in front of the server. `ctx.ip`, `ctx.ips`, `ctx.protocol`, `ctx.host` and the URL of `ctx.request`
   * follow what trusted proxies say, and ignore what others say. `keepAliveTimeout` is then 65,000 ms. Default false.
   */
  trustProxy?: TrustedPeers | TrustProxyOptions | undefined
  /** True closes the app gracefully on SIGTERM and SIGINT, and at once on the second signal. Default true. */
  signals?: boolean | undefined
  /** True prints a line on stdout when the app listens. Default false. */
  startLine?: boolean | undefined
  /**
   * The treatment of reply properties that the `response` schema does not name: `throw` answers with 500 and reports
   * where they are, `strip` leaves them out. Default: `strip` if NODE_ENV is `production`, else `throw`.
   */
  undeclaredProperties?: UndeclaredProperties | undefined
  /**
   * True sends the message of an unexpected error and where it was thrown, in `detail` of the problem document.
   * Default: to clients on this machine, unless NODE_ENV is `production`.
   */
  errorDetails?: boolean | undefined
  /**
   * The logger of `app.log` and `ctx.log`: options, an instance of pino, or false for none. Default: lines from level
   * `info` on, to standard output.
   */
  log?: LogOptions | Log | false | undefined
  /**
   * The bus over which WebSockets of other processes get what is published here, and those here what is published there:
   * `redisBus(client)` of `volant/redis`, `natsBus(connection)` of `volant/nats`. The last app that has it closes it.
   * Default: one between the workers of `volant start`, where there are several, such as `workersBus()` of `volant/bus`
   * makes. False, and the default in a process that is the only one: none, and a message reaches the WebSockets of this
   * process.
   */
  bus?: Bus | false | undefined
  /**
   * Called with errors that no client can see: unexpected ones, and those after the reply. `hook` is the name of the hook
   * of a WebSocket that failed; then `ctx.method` is `WS`, `ctx.path` is the pattern of the route, and nothing else is
   * left of the request. Default: writes to stderr.
   */
  report?: ((error: unknown, ctx: Context, hook?: SocketHook) => void) | undefined
}

export interface ResolvedOptions {
  readonly adapter: AdapterType | undefined
  readonly limits: Limits
  readonly router: RouterOptions
  readonly trust: Trust | null
  readonly signals: boolean
  readonly startLine: boolean
  readonly undeclaredProperties: UndeclaredProperties
  readonly errorDetails: Audience
  readonly report: ((error: unknown, ctx: Context, hook?: SocketHook) => void) | null
  readonly bus: Bus | null
  /** The logger of the option `log`; null without it. */
  readonly log: Log | null
}

const names = [
  'adapter',
  'limits',
  'router',
  'trustProxy',
  'signals',
  'startLine',
  'undeclaredProperties',
  'errorDetails',
  'report',
  'log',
  'bus',
] as const

/** The names of these options in other frameworks, or where they belong. */
const createAppNames = {
  ...foreignNames.createApp,
  ...Object.fromEntries(
    limitTable.map(({ name }) => [name, `it is one of the limits: { limits: { ${name} } }`]),
  ),
}

/** Fills in defaults. Throws `E_BAD_OPTION`, which names the option, for a value that makes no sense. */
export function resolveOptions(options: AppOptions): ResolvedOptions {
  checkNames('createApp', options, names, createAppNames)
  const { adapter, report, router = {} } = options
  if (typeof adapter === 'string') {
    throw new VolantError('E_BAD_OPTION', `write adapter: { type: ${briefValue(adapter)} }`)
  }
  if (adapter !== undefined && !adapterTypes.includes(adapter?.type)) {
    throw bad('adapter.type', adapter?.type, `one of ${adapterTypes.join(', ')}`)
  }
  checkOptionNames('adapter', adapter ?? {}, ['type'])
  checkNames('router', router, ['caseSensitive', 'ignoreTrailingSlash', 'methods'], foreignNames.router)
  checkFunction('report', report)
  const trust = resolveTrust(options.trustProxy)
  return {
    adapter: adapter?.type,
    limits: limitsHere(resolveLimits(options.limits, trust !== null)),
    trust,
    router: {
      caseSensitive: checkFlag('router.caseSensitive', router.caseSensitive, true),
      ignoreTrailingSlash: checkFlag('router.ignoreTrailingSlash', router.ignoreTrailingSlash, false),
      methods: checkMethods(router.methods),
    },
    signals: checkFlag('signals', options.signals, true),
    startLine: checkFlag('startLine', options.startLine, false),
    undeclaredProperties: checkUndeclared(options.undeclaredProperties),
    errorDetails: checkDetails(options.errorDetails),
    report: report ?? null,
    bus: checkBus(options.bus),
    log: options.log === undefined ? null : openLog(options.log),
  }
}

// Matches a method (RFC 9110 §5.6.2). Methods are case-sensitive (§9.1), and all registered ones are in upper case.
const methodName = /^[!#$%&'*+\-.^_`|~0-9A-Z]+$/

/** Checks the methods that an app has beside the usual ones. Usual ones in the list change nothing. */
function checkMethods(value: unknown): readonly string[] {
  if (value === undefined) return []
  if (!Array.isArray(value))
    throw bad('router.methods', value, "an array of methods such as ['PROPFIND', 'PURGE']")
  const names = new Set<string>()
  for (const name of value as unknown[]) {
    if (typeof name !== 'string' || !methodName.test(name) || name.length > longestMethod) {
      throw bad('router.methods', name, `tokens in upper case, of at most ${longestMethod} characters`)
    }
    if (never.has(name)) throw bad('router.methods', name, `any method but ${[...never].join(', ')}`)
    if (!(methods as readonly string[]).includes(name)) names.add(name)
  }
  if (names.size > mostRegistered) throw bad('router.methods', names.size, `at most ${mostRegistered} names`)
  return [...names]
}

/**
 * These methods are never routes: TRACE and TRACK echo credentials, CONNECT is for proxies (RFC 9110 §9.3.6, §9.3.8),
 * and PRI begins HTTP/2 (RFC 9113 §3.4).
 */
const never = new Set(['TRACE', 'TRACK', 'CONNECT', 'PRI'])

function checkUndeclared(value: unknown): UndeclaredProperties {
  if (value === 'strip' || value === 'throw') return value
  if (value !== undefined) throw bad('undeclaredProperties', value, "'strip' or 'throw'")
  return process.env['NODE_ENV'] === 'production' ? 'strip' : 'throw'
}

function checkBus(bus: Bus | false | undefined): Bus | null {
  if (bus === undefined) return usualBus()
  if (bus === false) return null
  for (const name of ['publish', 'subscribe', 'ready', 'stats', 'close'] as const) {
    if (typeof bus?.[name] !== 'function')
      throw bad('bus', bus, `a bus, which has ${name}(), such as redisBus(client), or false for none`)
  }
  return bus
}

function checkDetails(value: unknown): Audience {
  if (value === undefined) return process.env['NODE_ENV'] === 'production' ? 'nobody' : 'local'
  return checkFlag('errorDetails', value, false) ? 'everybody' : 'nobody'
}
