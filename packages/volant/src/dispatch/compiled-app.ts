/**
 * A started app as adapters see it: its route table, chains that are compiled when they are needed, and the state that
 * all requests share.
 */
import { inspect } from 'node:util'
import {
  BodyMode,
  type Exchange,
  type Host,
  type Limits,
  Miss,
  methods,
  type RouteEntry,
  type RouterOptions,
} from '@volant/engine'
import { readsBodyLate } from './body-order.ts'
import { checkErrorsOf, compileRoute, failedRoute } from './compile-route.ts'
import { conclude, trackOwnReply } from './conclude.ts'
import { dispatch } from './dispatch.ts'
import { checkEncoders } from './encoders.ts'
import { answerFailure } from './failure.ts'
import { compileMisses, misdirectedRequest, webSocketRequired } from './misses.ts'
import { printLine } from '../report/print-line.ts'
import { type PathPrefix, pathPrefix } from '../routing/prefix.ts'
import { isThenable } from '../types/thenable.ts'
import type {
  Audience,
  BodyLedger,
  CompiledRoute,
  RequestApp,
  RequestContext,
  Trust,
} from '../types/request.ts'
import type { Log } from '../types/log.ts'
import type { CertificateNames } from '../tls/names.ts'
import type { SocketHook } from '../types/web-socket.ts'
import { tellClosing } from '../reply/close-stream.ts'
import { RouteTable } from '../routing/router.ts'
import type { PrefixScope, RouteDefinition, ScopeLayers } from './route-definition.ts'

/** The definition of an app before it starts. */
export interface Definition {
  readonly serving: RequestApp['serving']
  readonly topics: RequestApp['topics']
  readonly sharedTopics: RequestApp['sharedTopics']
  readonly limits: Limits
  readonly router: RouterOptions
  readonly routes: readonly RouteDefinition[]
  /** The app's own scope. */
  readonly node: ScopeLayers
  readonly prefixScopes: readonly PrefixScope[]
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly report: RequestApp['report'] | null
}

export class CompiledApp implements Host, RequestApp {
  readonly routes: readonly RouteEntry[]
  readonly router: RouterOptions
  readonly limits: Limits
  readonly ledger: BodyLedger
  readonly trust: Trust | null
  readonly errorDetails: Audience
  readonly serving: RequestApp['serving']
  readonly topics: RequestApp['topics']
  readonly sharedTopics: RequestApp['sharedTopics']
  /** The methods, each at the index of its bit in a set. */
  readonly #methods: readonly string[]
  readonly streams = new Set<RequestContext>()
  /** The certificates, if the server has several; null otherwise. */
  certificates: CertificateNames | null = null
  readonly addresses = new Map<string, number>()
  readonly #report: Definition['report']
  readonly #definitions: readonly RouteDefinition[]
  /** The compiled routes. Each is compiled at its first request: of thousands most have none for a long time. */
  readonly #table: (CompiledRoute | null)[]
  /** The paths of WebSockets, for requests that do not ask for one; null without any. */
  #sockets: RouteTable | null = null
  /**
   * The misses of the app's own scope, in the order of `Miss`: −1, −2, −3, −4; then the miss on the path of a
   * WebSocket, and the miss for a host with another certificate.
   */
  readonly #misses: readonly CompiledRoute[]
  /** The misses of scopes with a prefix, the longest prefix first. */
  readonly #prefixScopes: readonly { paths: PathPrefix; misses: readonly CompiledRoute[] }[]

  constructor(definition: Definition) {
    const { limits, router } = definition
    this.limits = limits
    this.router = router
    this.#methods = [...methods, ...router.methods]
    this.ledger = { held: 0, limit: limits.maxBufferedBodies }
    this.trust = definition.trust
    this.serving = definition.serving
    this.topics = definition.topics
    this.sharedTopics = definition.sharedTopics
    this.errorDetails = definition.errorDetails
    this.#report = definition.report
    this.routes = definition.routes.map((route) => ({
      method: route.method,
      pattern: route.pattern,
      bodyMode: readsBodyLate(route) ? BodyMode.late : BodyMode[route.bodyMode as 'buffer' | 'stream'],
      maxBodySize: route.maxBodySize,
      requestTimeout: route.requestTimeout ?? limits.requestTimeout,
      socket: route.socket?.entry,
    }))
    for (const [id, { socket, pattern }] of this.routes.entries()) {
      if (socket !== undefined) (this.#sockets ??= new RouteTable(router)).add('GET', pattern, id)
    }
    this.#definitions = definition.routes
    this.#table = definition.routes.map(() => null)
    for (const route of definition.routes) checkErrorsOf(route, router.caseSensitive)
    checkEncoders(definition)
    this.#misses = compileMisses([definition.node], null, limits, router.caseSensitive)
    this.#prefixScopes = definition.prefixScopes
      .map(({ prefix, nodes }) => {
        const paths = pathPrefix(prefix, router.caseSensitive)
        return { paths, misses: compileMisses(nodes, paths.params, limits, router.caseSensitive) }
      })
      .toSorted((a, b) => b.paths.depth - a.paths.depth)
  }

  dispatch(exchange: Exchange, id: number, allow: number): void {
    if (this.certificates?.misdirects(exchange) === true)
      return dispatch(this, exchange, this.#miss(exchange.path, misdirectedRequest), 0)
    const route =
      id >= 0 ? (this.#table[id] ?? this.#compile(id)) : this.#miss(exchange.path, this.#kindOf(exchange, id))
    dispatch(this, exchange, route, allow)
  }

  #compile(id: number): CompiledRoute {
    const definition = this.#definitions[id] as RouteDefinition
    let route: CompiledRoute
    try {
      route = compileRoute(definition, this.router.caseSensitive)
    } catch (error) {
      // The metadata of middleware was checked at the start and may have changed since. An adapter cannot handle
      // errors.
      route = failedRoute(definition, this.router.caseSensitive, this.#misses[0] as CompiledRoute, error)
    }
    this.#table[id] = route
    return route
  }

  /**
   * Gives the place of a miss in the lists of these: a path that only WebSockets have is not missing, its request asks for
   * something else.
   */
  #kindOf(exchange: Exchange, id: number): number {
    const isPlain = this.#sockets !== null && (id === Miss.notFound || id === Miss.methodNotAllowed)
    const { method, path } = exchange
    if (
      isPlain &&
      (method === 'GET' || method === 'HEAD') &&
      this.#sockets?.find('GET', path).id !== Miss.notFound
    )
      return webSocketRequired
    return Miss.notFound - id
  }

  /** Gives the route for a miss: the one of the innermost scope whose prefix the path has. */
  #miss(path: string, kind: number): CompiledRoute {
    const inside = this.#prefixScopes.find(({ paths }) => paths.holds(path))
    return (inside?.misses ?? this.#misses)[kind] as CompiledRoute
  }

  conclude(ctx: RequestContext): void {
    conclude(ctx, undefined)
  }

  trackOwnReply(ctx: RequestContext, work: Promise<void>): Promise<void> {
    return trackOwnReply(ctx, work)
  }

  answer(ctx: RequestContext, error: unknown): void {
    answerFailure(ctx, error)
  }

  get log(): Log {
    return this.serving.log
  }

  get reportsToStderr(): boolean {
    return this.#report === null
  }

  allowed(bits: number): string {
    return this.#methods.filter((_, index) => bits & (1 << index)).join(', ')
  }

  /** Tells streams that the server is closing. */
  tellStreams(): void {
    for (const ctx of this.streams) tellClosing(ctx)
  }

  report(error: unknown, ctx: RequestContext, hook?: SocketHook): void {
    try {
      const result: unknown = this.#report?.(error, ctx, hook)
      if (isThenable(result)) result.then(undefined, tellOfReport)
      if (this.#report !== null) return
      const where = hook === undefined ? '' : `the hook ${hook} of `
      printLine(`volant: ${where}${ctx.method} ${ctx.path || ctx.pattern}: ${inspect(error)}`)
    } catch (second) {
      tellOfReport(second)
    }
  }
}

function tellOfReport(error: unknown): void {
  printLine(`volant: the report option threw: ${inspect(error)}`)
}
