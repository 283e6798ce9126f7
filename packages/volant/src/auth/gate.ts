/**
 * Authentications: middlewares that say who sent a request, or refuse it before its body is read. Each is made of one
 * authenticator, `anyOf` of several.
 */
import { gateOf } from '../dispatch/declare.ts'
import { errorTable, HTTPError, refusal } from '../errors/errors.ts'
import type { SecuritySchemes } from '../types/declaration.ts'
import type { DeclaredErrors, FittingMiddleware } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import { isThenable } from '../types/thenable.ts'
import { type Challenge, challengeText } from './challenge.ts'

/** What is known of the credentials of a request: `ctx.state.auth`. */
export interface Auth<Scheme extends string = string, Claims = unknown> {
  /** The name of the security scheme that the request passed. */
  readonly scheme: Scheme
  /** What the credentials may be used for. */
  readonly scopes: readonly string[]
  /** The roles of the user. */
  readonly roles: readonly string[]
  /** The claims of a token; undefined for other credentials. */
  readonly claims: Claims
}

/** The errors that every authentication declares. It is an alias, since an interface is no set of declared errors. */
export type AuthErrors = {
  /** There are no credentials, or wrong ones. */
  E_UNAUTHORIZED: { status: 401 }
  /** The credentials cannot be read. */
  E_CREDENTIALS_MALFORMED: { status: 400 }
}

/** A middleware that says who sent a request. `User` and `State` are null where credentials are optional. */
export interface Authentication<User = unknown, State = Auth | null> extends FittingMiddleware<{
  state: { user: User; auth: State }
  errors: AuthErrors
}> {
  /** It carries the types for `anyOf`; no such property exists. */
  readonly identity?: { user: User; auth: State }
}

/** Whom credentials belong to. */
export interface Identity<User, Claims = unknown> {
  readonly user: User
  readonly scopes?: readonly string[]
  readonly roles?: readonly string[]
  readonly claims?: Claims
}

/** Credentials that are refused: 400 for malformed ones, 401 for wrong ones, 403 where they may not do this. */
export class Refusal {
  readonly status: 400 | 401 | 403
  /** The message for the client. */
  readonly detail: string
  /** The parameters of the challenge that say why, as `{ error: 'invalid_token' }` of RFC 6750 §3. */
  readonly params: Readonly<Record<string, string>>
  /** The `cause` of the error, which clients do not see. */
  readonly cause: string | undefined

  constructor(
    status: 400 | 401 | 403,
    detail: string,
    params: Readonly<Record<string, string>> = {},
    cause?: string,
  ) {
    this.status = status
    this.detail = detail
    this.params = params
    this.cause = cause
  }
}

/** What an authenticator says of credentials; null for those that it does not know. */
export type Verdict<User> = Identity<User> | Refusal | null

/** One way to say who sent a request. */
export interface Authenticator<Credentials = unknown, User = unknown> {
  /** The name of its security scheme in the API's document. */
  readonly scheme: string
  /** The Security Scheme Object of OpenAPI 3.1 §4.8.27. */
  readonly security: Readonly<Record<string, unknown>>
  readonly challenge: Challenge
  /** The refusal of credentials that `verify` gives null for. */
  readonly unknown: Refusal
  /** Gives the credentials of a request, null where it has none of this scheme. */
  read(ctx: RequestContext): Credentials | Refusal | null
  /** Gives whom they belong to. What it throws is the error of the request, unless another alternative accepts it. */
  verify(credentials: Credentials, ctx: RequestContext): Verdict<User> | PromiseLike<Verdict<User>>
}

/** The authenticators of a middleware, and whether requests without credentials pass. */
export interface Authenticating {
  readonly authenticators: readonly Authenticator[]
  readonly required: boolean
  /** Errors that it declares beside those of every authentication. */
  readonly errors: DeclaredErrors
}

/** It is a registered symbol, so that two copies of this package understand each other's middleware. */
const authenticating = Symbol.for('volant.authenticating')

/** Gives what makes a middleware an authentication; undefined for any other. */
export function authenticatingOf(layer: object): Authenticating | undefined {
  return (layer as { [authenticating]?: Authenticating })[authenticating]
}

/** Makes the middleware. */
export function authenticationOf<Credentials>(
  authenticators: readonly Authenticator<Credentials>[],
  required: boolean,
  errors: DeclaredErrors = {},
): Authentication<never, never> {
  const all: Authenticating = {
    authenticators: authenticators as readonly Authenticator<never>[] as readonly Authenticator[],
    required,
    errors,
  }
  const alternatives: SecuritySchemes[] = all.authenticators.map(({ scheme, security }) => ({
    [scheme]: security,
  }))
  const layer = gateOf((ctx) => run(ctx, all, 0, []), {
    errors: { ...declaredErrors, ...errors },
    security: required ? alternatives : [...alternatives, {}],
    exposes: ['WWW-Authenticate'],
    beforeBody: true,
  })
  return Object.assign(layer, { [authenticating]: all }) as unknown as Authentication<never, never>
}

const challengeField = { 'WWW-Authenticate': 'The ways to authenticate (RFC 9110 §11.6.1).' }

const declaredErrors: DeclaredErrors = {
  E_UNAUTHORIZED: {
    status: 401,
    description: errorTable.E_UNAUTHORIZED.meaning,
    headers: challengeField,
  },
  E_CREDENTIALS_MALFORMED: {
    status: 400,
    description: errorTable.E_CREDENTIALS_MALFORMED.meaning,
    headers: challengeField,
  },
}

/** The declaration of the refusal of guards. */
export const forbidden: DeclaredErrors = {
  E_FORBIDDEN: { status: 403, description: errorTable.E_FORBIDDEN.meaning, headers: challengeField },
}

/** An alternative whose credentials came and were not accepted. */
interface Tried {
  readonly authenticator: Authenticator
  /** The refusal, or what `verify` threw. */
  readonly outcome: Refusal | { readonly thrown: unknown }
}

/** Asks the authenticators one by one from `at` on. */
function run(ctx: RequestContext, all: Authenticating, at: number, tried: readonly Tried[]): unknown {
  let refused = tried
  for (let index = at; index < all.authenticators.length; index++) {
    const authenticator = all.authenticators[index] as Authenticator
    const credentials = authenticator.read(ctx)
    if (credentials === null) continue
    if (credentials instanceof Refusal) {
      refused = [...refused, { authenticator, outcome: credentials }]
      continue
    }
    let verdict: Verdict<unknown> | PromiseLike<Verdict<unknown>>
    try {
      verdict = authenticator.verify(credentials, ctx)
    } catch (thrown) {
      refused = [...refused, { authenticator, outcome: { thrown } }]
      continue
    }
    if (isThenable(verdict)) return later(ctx, all, index, refused, verdict)
    if (pass(ctx, authenticator, verdict)) return tellOfErrors(ctx, refused)
    refused = [...refused, { authenticator, outcome: verdict ?? authenticator.unknown }]
  }
  return conclude(ctx, all, refused)
}

async function later(
  ctx: RequestContext,
  all: Authenticating,
  index: number,
  tried: readonly Tried[],
  promise: PromiseLike<Verdict<unknown>>,
): Promise<unknown> {
  const authenticator = all.authenticators[index] as Authenticator
  let outcome: Tried['outcome']
  try {
    const verdict = await promise
    if (pass(ctx, authenticator, verdict)) return tellOfErrors(ctx, tried)
    outcome = verdict ?? authenticator.unknown
  } catch (thrown) {
    outcome = { thrown }
  }
  return run(ctx, all, index + 1, [...tried, { authenticator, outcome }])
}

function pass(
  ctx: RequestContext,
  authenticator: Authenticator,
  verdict: Verdict<unknown>,
): verdict is Identity<unknown> {
  if (verdict === null || verdict instanceof Refusal) return false
  ctx.state['user'] = verdict.user
  ctx.state['auth'] = new KnownAuth(authenticator, verdict)
  return true
}

/** Reports what alternatives threw, where another one accepted the request. */
function tellOfErrors(ctx: RequestContext, tried: readonly Tried[]): undefined {
  for (const { outcome } of tried) {
    if (outcome instanceof Refusal || outcome.thrown instanceof HTTPError) continue
    requestOf(ctx)?.app.report(outcome.thrown, ctx)
  }
}

function conclude(ctx: RequestContext, all: Authenticating, tried: readonly Tried[]): undefined {
  if (tried.length > 0) throw refusalOf(all, tried)
  if (all.required) throw unauthorized(all)
  ctx.state['user'] = null
  ctx.state['auth'] = null
  const request = requestOf(ctx)
  if (request !== null) anonymous.set(request, all)
  return undefined
}

/** The authentications that requests without credentials passed. */
const anonymous = new WeakMap<RequestContext, Authenticating>()

/** Makes the 401 for a request that passed an optional authentication without credentials. */
export function credentialsNeeded(ctx: RequestContext): HTTPError | null {
  const request = requestOf(ctx)
  const all = request === null ? undefined : anonymous.get(request)
  return all === undefined ? null : unauthorized(all)
}

/** RFC 6750 §3.1: the challenge has no error code where the request has no credentials. */
function unauthorized(all: Authenticating): HTTPError {
  return refusal('E_UNAUTHORIZED', undefined, { 'www-authenticate': challengesOf(all, []) })
}

/** What was thrown comes first, since the credentials may be good. Then comes the refusal that got furthest. */
function refusalOf(all: Authenticating, tried: readonly Tried[]): unknown {
  let best: Refusal | null = null
  for (const { outcome } of tried) {
    if (!(outcome instanceof Refusal)) return outcome.thrown
    if (best === null || ranks[outcome.status] > ranks[best.status]) best = outcome
  }
  const { status, detail, cause } = best as Refusal
  return refusal(codes[status], detail, { 'www-authenticate': challengesOf(all, tried) }, cause)
}

const ranks = { 400: 0, 401: 1, 403: 2 } as const
const codes = { 400: 'E_CREDENTIALS_MALFORMED', 401: 'E_UNAUTHORIZED', 403: 'E_FORBIDDEN' } as const

/** Writes the challenges of all alternatives; those that were tried say what was wrong. */
function challengesOf({ authenticators }: Authenticating, tried: readonly Tried[]): string {
  // Several places of the same token have one challenge.
  const texts = new Map<Challenge, string>()
  for (const each of authenticators) {
    const outcome = tried.find(({ authenticator }) => authenticator === each)?.outcome
    const params = outcome instanceof Refusal ? outcome.params : undefined
    if (params !== undefined || !texts.has(each.challenge)) {
      texts.set(each.challenge, challengeText(each.challenge, params))
    }
  }
  return [...new Set(texts.values())].join(', ')
}

/** The credentials that were accepted. */
class KnownAuth implements Auth {
  readonly scheme: string
  readonly scopes: readonly string[]
  readonly roles: readonly string[]
  readonly claims: unknown
  readonly #challenge: Challenge

  constructor({ scheme, challenge }: Authenticator, identity: Identity<unknown>) {
    this.scheme = scheme
    this.scopes = identity.scopes ?? none
    this.roles = identity.roles ?? none
    this.claims = identity.claims
    this.#challenge = challenge
  }

  static challengeOf(auth: object): Challenge | null {
    return #challenge in auth ? auth.#challenge : null
  }
}

const none: readonly string[] = []

/** Gives the challenge of the scheme that a request passed; null where another middleware made its `auth`. */
export const challengeOf = KnownAuth.challengeOf

/** Gives the request of a context; null for a direct call of a procedure, which has none. */
export function requestOf(ctx: RequestContext): RequestContext | null {
  return 'source' in ctx ? (ctx.source as RequestContext | null) : ctx
}

/** Gives a field of the request, also for a call of a procedure. */
export function fieldOf(ctx: RequestContext, name: string): string | undefined {
  return 'source' in ctx ? ctx.headers[name] : ctx.exchange.header(name)
}
