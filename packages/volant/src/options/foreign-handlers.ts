/** Refuses functions written for other frameworks when they are registered, rather than at each request. */
import { VolantError } from '../errors/errors.ts'

/** Throws `E_BAD_HANDLER` for a function of a request and a response; `what` names it in the message. */
export function refuseForeign(value: unknown, what: string): void {
  if (typeof value !== 'function') return
  const { length } = value
  // The source of a bound function does not show its parameters.
  const names = length < 2 ? [] : (parameters.exec(String(value))?.[1]?.split(',') ?? []).map(nameOf)
  if (length < 3 && !isApp(value) && !replies.test(names[1] ?? '')) return
  const fastify = names[1] === 'reply'
  const form = length === 4 ? 'write onError((error, ctx) => …)' : own
  throw new VolantError(
    'E_BAD_HANDLER',
    `${what} ${describe(value, names, fastify)}: ${form}. ${fastify ? '' : asItIs(value)}docs/migrate/${fastify ? 'fastify' : 'express'}.md has the counterparts`,
  )
}

const own = 'here a handler takes (ctx) and middleware (ctx, next)'

/** Express gives `res` its own methods in an app: middleware seldom needs them, and handlers and routers mostly do. */
function asItIs(value: Function): string {
  const runs = "fromConnect(…) of 'volant/connect' runs it as it is"
  if (isApp(value) ? 'set' in value : value.length > 2) return `${runs}, and `
  return `${runs}; if it uses res.json, res.send or the like, put it into an Express app and give it that. `
}

function describe(value: Function, names: readonly string[], fastify: boolean): string {
  if (isApp(value)) return 'is an app or router of Express'
  const taken = names.length === value.length ? `(${names.join(', ')})` : `${value.length} parameters`
  const kind = value.length === 2 ? 'handlers' : value.length === 4 ? 'error handlers' : 'middleware'
  return `takes ${taken}, as ${fastify ? 'hooks and handlers' : kind} of ${fastify ? 'Fastify' : 'Express'} do`
}

/** Apps and routers of Express are functions. */
function isApp(value: Function): boolean {
  const { handle, set, stack } = value as { handle?: unknown; set?: unknown; stack?: unknown }
  return typeof handle === 'function' && (typeof set === 'function' || Array.isArray(stack))
}

/** Gives the list of parameters of a function's source, if it has no brackets of its own. */
const parameters = /^[^()]*\(([^()]*)\)/
/** Matches names of the second parameter by which a function with two parameters is recognized. */
const replies = /^_?(?:res|response|reply)$/

function nameOf(parameter: string): string {
  return parameter.replace(/=[^]*/, '').trim()
}

/** Throws `E_BAD_HANDLER` for a plugin of Fastify, which names itself by the symbols of fastify-plugin. */
export function refusePlugin(value: object): void {
  const symbols = value as Record<symbol, unknown>
  const name = symbols[Symbol.for('fastify.display-name')]
  if (typeof name !== 'string' && symbols[Symbol.for('skip-override')] === undefined) return
  throw new VolantError(
    'E_BAD_HANDLER',
    `register was given ${typeof name === 'string' ? name : 'a function'}, a plugin of Fastify, which needs the instance of Fastify. docs/migrate/fastify.md has the counterparts`,
  )
}
