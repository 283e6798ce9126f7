/** `requestId()` gives every request an id, which is in its reply and in the logs. */
import type { Context } from '../types/context.ts'
import { bad } from '../options/bad-option.ts'
import { gateOf } from '../dispatch/declare.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import { checkFunction, checkNames, checkText } from '../options/checks.ts'
import { checkFieldName } from './header-option.ts'
import type { RequestContext } from '../types/request.ts'

/** The options of `requestId`. */
export interface RequestIdOptions {
  /** The header of the reply, and of the request where that is trusted; `false` sends none. Default `x-request-id`. */
  header?: string | false | undefined
  /**
   * True takes the id that the request has, if it is sound: 1 to 128 letters, digits and `. _ ~ + / = : @ -`. It is for
   * requests from a proxy that sets the header: anybody else can pass off their requests as others'. Default false.
   */
  trust?: boolean | ((ctx: Context) => boolean) | undefined
  /** Makes an id as sound as that. Default `ctx.id`, which is unique but tells how many requests there were. */
  generator?: ((ctx: Context) => string) | undefined
}

const sound = /^[\w.~+/=:@-]{1,128}$/

/**
 * Gives every request an id: `ctx.id` has it, and the reply in `X-Request-Id`.
 *
 *     app.use(requestId())
 *
 * Throws `E_BAD_OPTION`; a generator that makes an unsound id fails its request with it.
 */
export function requestId(options: RequestIdOptions = {}): FittingMiddleware {
  checkNames('requestId', options, ['header', 'trust', 'generator'])
  const { header = 'x-request-id', trust = false, generator } = options
  if (typeof trust !== 'boolean' && typeof trust !== 'function') {
    throw bad('requestId: trust', trust, 'true, false or a function')
  }
  checkFunction('requestId: generator', generator)
  const name = header === false ? null : checkFieldName('requestId: header', header)
  const make = generator === undefined ? null : (ctx: RequestContext) => checkId(generator(ctx as Context))
  if (trust === false) return gateOf((ctx) => assign(ctx, make === null ? ctx.id : make(ctx), name))
  const from = name ?? 'x-request-id'
  return gateOf((ctx) => {
    const given = trust === true || trust(ctx as Context) === true ? ctx.exchange.header(from) : undefined
    const id = given !== undefined && sound.test(given) ? given : make === null ? ctx.id : make(ctx)
    assign(ctx, id, name)
  })
}

// This runs for every request (lab/pair middleware).
function assign(ctx: RequestContext, id: string, header: string | null): undefined {
  ctx.identify(id)
  if (header !== null) ctx.place(header, header, id)
}

function checkId(id: unknown): string {
  return checkText(
    'requestId: the id of generator',
    id,
    sound,
    '1 to 128 letters, digits and . _ ~ + / = : @ -',
  )
}
