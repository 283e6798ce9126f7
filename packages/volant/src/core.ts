/** A started app as adapters see it: its route table with compiled chains, and what every request shares. */
import { inspect } from 'node:util'
import {
  BodyKind,
  BodyMode,
  type Exchange,
  type Host,
  type Limits,
  Miss,
  methods,
  type RouteEntry,
  type RouterOptions,
} from '@volant/engine'
import { type BodyLedger, collectBody } from './body.ts'
import { compile, type Layer, type Run } from './chain.ts'
import type { RequestContext } from './context.ts'
import { dispatch } from './dispatch.ts'
import { refusal } from './errors.ts'
import { parsePattern } from './router.ts'

/** A route as it was registered. */
export interface RouteDefinition {
  readonly method: RouteEntry['method']
  readonly pattern: string
  readonly middleware: readonly Layer[]
  readonly handler: (ctx: RequestContext) => unknown
  /** `checked`: dispatched as a stream, collected once `beforeBody` agrees. */
  readonly bodyMode: 'buffer' | 'stream' | 'checked'
  /** Bytes. */
  readonly maxBodySize: number
  readonly beforeBody: ((ctx: RequestContext) => unknown) | null
}

/** A route as it runs. */
export interface CompiledRoute {
  readonly run: Run
  readonly paramNames: readonly string[]
  readonly bodyMode: RouteDefinition['bodyMode']
}

/** What an app was told before it started. */
export interface Definition {
  readonly limits: Limits
  readonly router: RouterOptions
  readonly routes: readonly RouteDefinition[]
  readonly middleware: readonly Layer[]
  readonly notFound: ((ctx: RequestContext) => unknown) | null
  readonly errorHandler: ((error: unknown, ctx: RequestContext) => unknown) | null
  readonly report: ((error: unknown, ctx: RequestContext) => void) | null
}

export class Core implements Host {
  readonly routes: readonly RouteEntry[]
  readonly router: RouterOptions
  readonly limits: Limits
  readonly errorHandler: Definition['errorHandler']
  readonly ledger: BodyLedger
  readonly #report: Definition['report']
  readonly #table: readonly CompiledRoute[]
  readonly #misses: readonly CompiledRoute[]

  constructor(definition: Definition) {
    const { limits, middleware } = definition
    this.limits = limits
    this.router = definition.router
    this.errorHandler = definition.errorHandler
    this.ledger = { held: 0, limit: limits.maxBufferedBodies }
    this.#report = definition.report
    this.routes = definition.routes.map(({ method, pattern, bodyMode, maxBodySize }) => ({
      method,
      pattern,
      bodyMode: bodyMode === 'buffer' ? BodyMode.buffer : BodyMode.stream,
      maxBodySize,
    }))
    this.#table = definition.routes.map((route) => compileRoute(route, middleware))
    const miss = (handler: (ctx: RequestContext) => unknown): CompiledRoute => ({
      run: compile(middleware, handler),
      paramNames: [],
      bodyMode: 'buffer',
    })
    // In the order of `Miss`: −1, −2, −3.
    this.#misses = [miss(notFoundHandler(definition.notFound)), miss(methodNotAllowed), miss(options)]
  }

  dispatch(exchange: Exchange, id: number, allow: number): void {
    const route = id >= 0 ? this.#table[id] : this.#misses[Miss.notFound - id]
    dispatch(this, exchange, route as CompiledRoute, allow)
  }

  /** Says what no client can be told. Never throws. */
  report(error: unknown, ctx: RequestContext): void {
    try {
      if (this.#report !== null) this.#report(error, ctx)
      else process.stderr.write(`volant: ${ctx.method} ${ctx.path}: ${inspect(error)}\n`)
    } catch (second) {
      process.stderr.write(`volant: the report option threw: ${inspect(second)}\n`)
    }
  }
}

function compileRoute(route: RouteDefinition, middleware: readonly Layer[]): CompiledRoute {
  const gate = route.beforeBody === null ? [] : [bodyGate(route.beforeBody, route.maxBodySize)]
  return {
    run: compile([...middleware, ...gate, ...route.middleware], route.handler),
    paramNames: parsePattern(route.pattern).names,
    bodyMode: route.bodyMode,
  }
}

/** Reads the body once `check` let the request pass. */
function bodyGate(check: (ctx: RequestContext) => unknown, limit: number): Layer {
  return async (ctx, next) => {
    const refused = await check(ctx)
    if (refused !== undefined || ctx.replied) return refused
    if (ctx.exchange.bodyKind === BodyKind.stream) {
      ctx.collected = await collectBody(ctx.exchange, limit, ctx.app.ledger)
    }
    await next()
    return undefined
  }
}

function notFoundHandler(handler: Definition['notFound']): (ctx: RequestContext) => unknown {
  if (handler === null) {
    return () => {
      throw refusal('E_NOT_FOUND')
    }
  }
  return (ctx) => {
    if (ctx.statusCode === 0) ctx.statusCode = 404
    return handler(ctx)
  }
}

function methodNotAllowed(ctx: RequestContext): never {
  ctx.header('allow', allowed(ctx.allow))
  throw refusal('E_METHOD_NOT_ALLOWED', `${ctx.method} is not allowed here; ${allowed(ctx.allow)} are`)
}

function options(ctx: RequestContext): void {
  ctx.header('allow', allowed(ctx.allow))
  ctx.reply(204)
}

/** The value of Allow (RFC 9110 §10.2.1). */
function allowed(bits: number): string {
  return methods.filter((_, index) => bits & (1 << index)).join(', ')
}
