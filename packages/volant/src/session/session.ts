/** `session()` gives requests a session: values that a browser's requests share, kept in its cookie or in a store. */
import {
  type Auth,
  type Authentication,
  authenticationOf,
  type Identity,
  Refusal,
  requestOf,
} from '../auth/gate.ts'
import { identityOf } from '../auth/verdict.ts'
import { attach, gateOf, hintMisuse, metadataOf } from '../dispatch/declare.ts'
import { errorTable, VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { requestName } from '../reply/late-reply.ts'
import type { DeclaredErrors, FittingMiddleware } from '../types/parts.ts'
import type { Gate, RequestContext } from '../types/request.ts'
import { SessionCookie } from './cookie.ts'
import type { Sealer } from '../cookies/sealer.ts'
import type { Keeper } from './keeper.ts'
import { LiveSession } from './live-session.ts'
import { planOf, type SessionPlan, type SessionOptions } from './options.ts'
import { SealedKeeper } from './sealed.ts'
import { StoredKeeper } from './stored.ts'
import type { Frozen, Session } from './types.ts'

/** Sessions, as a middleware. */
export interface SessionMiddleware<Data extends object> extends FittingMiddleware<{
  state: { session: Session<Data> }
}> {
  /**
   * Makes an authentication for routes that need somebody who signed in: one whose session has a value of `key`, which
   * becomes `ctx.state.user`. Others are answered with 401 `E_UNAUTHORIZED`. The API's document has the cookie as the
   * route's security scheme, and `anyOf` of `volant/auth` takes it beside bearer tokens.
   */
  readonly signedIn: <K extends keyof Data & string>(
    key: K,
  ) => Authentication<Frozen<NonNullable<Data[K]>>, Auth<'session', undefined>>
}

/** The sessions that this package gave, so that nothing else is taken for one. */
export function sessionOf(ctx: RequestContext): LiveSession | null {
  const given = requestOf(ctx)?.rare?.session
  return given instanceof LiveSession ? given : null
}

/**
 * Gives each request a session in `ctx.state.session`: in a sealed cookie, or in a store:
 *
 *     const sessions = session<{ user: string; cart: number[] }>({ keys: [process.env.SESSION_KEY] })
 *     const shop = app.with(sessions)
 *     shop.post('/sign-in', async (ctx) => {
 *       ctx.state.session.signIn({ user: await userOf(ctx) })
 *       return ctx.redirect('/', 303)
 *     })
 *     shop.get('/cart', sessions.signedIn('user'), (ctx) => ctx.state.session.get('cart') ?? [])
 *
 * A sealed session is opened by the first `get` of a request. One in a store is read before the handler, where a request
 * has its cookie. What a request changed is written before its reply leaves; if that is impossible, the reply is 503
 * `E_SESSION_STORE`. A session that is used gets its idle time again, at most once a minute. A reply that sets the cookie
 * has `Cache-Control: no-store` unless it says `private`.
 *
 * Throws `E_BAD_OPTION`.
 */
export function session<Data extends object = Record<string, unknown>>(
  options: SessionOptions,
): SessionMiddleware<Data> {
  const plan = planOf(options)
  const cookie = new SessionCookie(plan.cookie)
  const { sealer, store } = plan
  const keeper =
    store === null ? new SealedKeeper(sealer as Sealer, cookie, plan) : new StoredKeeper(store, cookie, plan)
  const gate = gateFor(keeper, plan)
  const layer = gateOf(gate)
  attach(layer, {
    ...metadataOf(layer),
    errors: errorsOf(plan),
    sendConcerns: (ctx) => ctx.rare?.session?.isDue === true,
    onSend: (ctx, reply) => sessionOf(ctx as unknown as RequestContext)?.write(reply),
  })
  const signedIn = (key: string): Authentication => signedInBy(key, cookie.name)
  return Object.assign(layer, { signedIn }) as unknown as SessionMiddleware<Data>
}

hintMisuse(session, 'app.with(session({ keys: [process.env.SESSION_KEY] }))')

function gateFor(keeper: Keeper, { store, isLazy }: SessionPlan): Gate {
  const isStored = store !== null
  const begin = (ctx: RequestContext): LiveSession | null => {
    const { more } = ctx
    if (more.session !== null) {
      if (sessionOf(ctx)?.isOf(keeper) === true) return null
      throw new VolantError(
        'E_MIDDLEWARE_CONFLICT',
        `${requestName(ctx)} has two middlewares of session(), which would both be ctx.state.session: keep one of them`,
      )
    }
    const live = new LiveSession(ctx, keeper, isStored)
    more.session = live
    ctx.state['session'] = live
    return live
  }
  if (isStored && !isLazy) return (ctx) => begin(ctx)?.ready()
  return (ctx) => void begin(ctx)
}

/** Accepts the requests of those whose session has a value of `key`: it is their user. */
function signedInBy(key: unknown, cookie: string): Authentication<never, never> {
  if (typeof key !== 'string' || key === '')
    throw bad('signedIn', key, 'the key of a value that signIn() was given')
  const userOf = (live: LiveSession): Identity<unknown> | null => {
    const user: unknown = live.get(key)
    return identityOf('signedIn()', user)
  }
  return authenticationOf<LiveSession>(
    [
      {
        scheme: 'session',
        security: { type: 'apiKey', in: 'cookie', name: cookie },
        // Browsers leave schemes that they do not know to the page.
        challenge: { scheme: 'Cookie', params: { 'cookie-name': cookie } },
        unknown: new Refusal(401, 'Nobody has signed in'),
        read(ctx) {
          const live = sessionOf(ctx)
          if (live !== null) return live.isUnread || userOf(live) !== null ? live : null
          throw new VolantError(
            'E_SESSION_UNREAD',
            `signedIn() of ${requestName(ctx)} has no session in front of it: register it behind app.with(sessions)`,
          )
        },
        verify(live) {
          const loading = live.ready()
          return loading === undefined ? userOf(live) : loading.then(() => userOf(live))
        },
      },
    ],
    true,
  )
}

/** The errors of a scope that has sessions. */
function errorsOf({ store }: SessionPlan): DeclaredErrors {
  if (store === null) return {}
  return {
    E_SESSION_ENDED: { status: 409, description: errorTable.E_SESSION_ENDED.meaning },
    E_SESSION_STORE: {
      status: 503,
      description: errorTable.E_SESSION_STORE.meaning,
      headers: { 'Retry-After': 'The seconds after which to ask again.' },
    },
  }
}
