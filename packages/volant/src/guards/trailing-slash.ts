/** `trailingSlash()` redirects a path that no route takes to the same path with, or without, a slash at its end. */
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { checkChoice, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import type { FittingMiddleware } from '../types/parts.ts'

/** The options of `trailingSlash`. */
export interface TrailingSlashOptions {
  /** The status of the redirect. Default 308. */
  status?: 301 | 302 | 307 | 308 | undefined
}

/**
 * Redirects GET and HEAD for paths that no route takes, with 308:
 *
 *     app.use(trailingSlash('remove'))
 *
 * With `'remove'` `/a/` goes to `/a`, with `'add'` `/a` to `/a/`, unless its last segment has a dot, as names of files
 * have. The query stays. What a route takes stays as it is, folders of `app.static` and paths of wildcards too.
 *
 * Throws `E_BAD_OPTION`.
 */
export function trailingSlash(
  policy: 'add' | 'remove',
  options: TrailingSlashOptions = {},
): FittingMiddleware {
  checkChoice('trailingSlash', policy, ['add', 'remove'])
  checkNames('trailingSlash', options, ['status'], foreignNames.trailingSlash)
  const status = checkChoice('trailingSlash: status', options.status ?? 308, [301, 302, 307, 308])
  const change = policy === 'add' ? added : removed
  return gateOf(
    (ctx) => {
      // The methods that `allow` has are those of routes for this very path.
      if (ctx.pattern !== null || ctx.allow !== 0 || (ctx.method !== 'GET' && ctx.method !== 'HEAD')) return
      const { path, exchange } = ctx
      const to = change(path)
      if (to !== path) ctx.redirect(exchange.query === '' ? to : `${to}?${exchange.query}`, status)
    },
    { isOfRequest: true },
  )
}

hintMisuse(trailingSlash, "app.use(trailingSlash('remove'))")

function added(path: string): string {
  const last = path.slice(path.lastIndexOf('/') + 1)
  return last === '' || last.includes('.') ? path : onThisHost(`${path}/`)
}

function removed(path: string): string {
  if (!path.endsWith('/') || path === '/') return path
  return onThisHost(path.replace(/\/+$/, ''))
}

/** Two slashes at the start of a location, or what browsers take for them, begin the name of another host. */
function onThisHost(path: string): string {
  return `/${path.replace(/^[/\\]+/, '')}`
}
