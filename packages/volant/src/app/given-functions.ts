/** The functions that a scope is given: middleware, plugins, handlers and hooks, checked when they are registered. */
import { metadataOf, usageOf } from '../dispatch/declare.ts'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { refuseForeign, refusePlugin } from '../options/foreign-handlers.ts'
import type { Layer } from '../types/request.ts'
import type { Registry } from './registry.ts'

/** Checks a middleware, and registers what it does when the app closes, once. */
export function asLayer(value: unknown, { hooks }: Registry): Layer {
  const layer = asFunction(value, 'middleware') as Layer
  refuseForeign(layer, 'middleware')
  refuseFactory(layer, 'a middleware by itself')
  const { onClose } = metadataOf(layer)
  if (onClose !== undefined && !hooks.close.includes(onClose)) hooks.close.push(onClose)
  return layer
}

/** Checks a plugin. */
export function asPlugin(value: unknown): (scope: unknown, options: unknown) => unknown {
  const run = asFunction(value, 'a plugin') as (scope: unknown, options: unknown) => unknown
  if (!usageOf(run)?.startsWith('app.register(')) refuseFactory(run, 'a plugin')
  refusePlugin(run)
  if (run.length > 2) {
    throw new VolantError(
      'E_BAD_HANDLER',
      `a plugin takes (scope, options), not ${run.length} parameters: one that has to wait is async, and has no done()`,
    )
  }
  return run
}

/** Gives the value if it is a function. Throws `E_BAD_HANDLER`, which names it by `what`. */
export function asFunction(value: unknown, what: string): unknown {
  if (typeof value === 'function') return value
  const usage = typeof value === 'object' && value !== null ? usageOf(value) : undefined
  const list = Array.isArray(value) ? ': give each by itself' : ''
  const remedy = usage === undefined ? list : `: write ${usage}`
  throw new VolantError('E_BAD_HANDLER', `${what} is not a function but ${briefValue(value)}${remedy}`)
}

/** Throws `E_BAD_HANDLER` for a function that makes a middleware; `wanted` says what it was taken for. */
function refuseFactory(value: { readonly name: string }, wanted: string): void {
  const usage = usageOf(value)
  if (usage === undefined) return
  throw new VolantError('E_BAD_HANDLER', `${value.name} is not ${wanted}: write ${usage}`)
}
