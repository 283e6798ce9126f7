/** The URL of a request as a mounted middleware sees it: without the prefix that it is mounted at. */
import { refusal } from '../errors/errors.ts'
import type { PathPrefix } from '../routing/prefix.ts'
import type { Pair } from './pair.ts'

export interface Mount {
  enter(pair: Pair): void
  leave(pair: Pair): void
}

/** What middlewares that serve files decode once more: a path would have two readings. */
const ambiguous = /%(?:2F|5C|00)/

export function mountOf({ depth }: PathPrefix): Mount {
  return {
    enter: ({ ctx, req }) => {
      const { path } = ctx
      const at = endOfPrefix(path, depth)
      const rest = path.slice(at)
      // Middleware of a prefix also runs where only another reading of the path is under it.
      if (ambiguous.test(path) || path.slice(0, at + 1).includes('//')) throw refusal('E_NOT_FOUND')
      const { query } = ctx.exchange
      req.originalUrl = ctx.url
      req.baseUrl = path.slice(0, at)
      req.url = (rest === '' ? '/' : rest) + (query === '' ? '' : `?${query}`)
    },
    leave: ({ ctx, req }) => {
      req.baseUrl = ''
      req.url = ctx.url
    },
  }
}

/** Gives the end of the first `depth` segments. */
function endOfPrefix(path: string, depth: number): number {
  let at = 0
  for (let left = depth; left > 0; left--) {
    const next = path.indexOf('/', at + 1)
    if (next < 0) return path.length
    at = next
  }
  return at
}
