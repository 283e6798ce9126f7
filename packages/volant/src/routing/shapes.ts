/** The paths that a pattern matches, as a text: two routes of one method and one shape conflict. */
import { methods, type RouterOptions } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { parsePattern, type Segment } from './path.ts'

export class RouteShapes {
  readonly #options: RouterOptions
  /** The patterns by method and shape. */
  readonly #taken = new Map<string, string>()

  constructor(options: RouterOptions) {
    this.#options = options
  }

  /**
   * Takes the shapes of a pattern: one, or several where its last segments are optional. Throws a `RoutePatternError`
   * for a malformed pattern, and a `RouteConflictError` where a shape is taken; then none is taken.
   */
  add(method: string, pattern: string): readonly Expansion[] {
    const { caseSensitive, ignoreTrailingSlash, methods: own } = this.#options
    if (!(methods as readonly string[]).includes(method) && !own.includes(method)) {
      throw new VolantError(
        'E_BAD_OPTION',
        `${method} ${pattern}: this app has no method ${method}; add it with createApp({ router: { methods: ['${method}'] } })`,
      )
    }
    const { segments, optional } = parsePattern(ignoreTrailingSlash ? withoutSlash(pattern) : pattern)
    const expansions: Expansion[] = []
    for (let count = segments.length - optional; count <= segments.length; count++) {
      expansions.push(expansion(segments.slice(0, count), caseSensitive))
    }
    for (const { shape } of expansions) {
      const existing = this.#taken.get(`${method} ${shape}`)
      if (existing !== undefined) throw new RouteConflictError(method, existing, pattern)
    }
    for (const { shape } of expansions) this.#taken.set(`${method} ${shape}`, pattern)
    return expansions
  }

  copy(): RouteShapes {
    const copy = new RouteShapes(this.#options)
    for (const [shape, pattern] of this.#taken) copy.#taken.set(shape, pattern)
    return copy
  }
}

/** Gives a path without the slash at its end; `/` stays. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path
}

/** The error for a second route with the same method and the same paths. Its `code` is `E_ROUTE_CONFLICT`. */
export class RouteConflictError extends VolantError {
  /** The method of both routes. */
  readonly method: string
  /** The pattern that was registered first. */
  readonly existing: string
  /** The pattern that was refused. */
  readonly pattern: string

  /** `by` names the call that registers a route for several methods. */
  constructor(method: string, existing: string, pattern: string, by?: 'all' | 'on') {
    super(
      'E_ROUTE_CONFLICT',
      `Route ${method} ${pattern} conflicts with ${method} ${existing}: both match the same paths. ` +
        (by === undefined ? '' : `The second comes from ${by}(), which registers ${method}, too. `) +
        'Remove one of them, or make their static text differ.',
    )
    this.name = 'RouteConflictError'
    this.method = method
    this.existing = existing
    this.pattern = pattern
  }
}

/** A static text and what follows it: a parameter with its suffix, a wildcard (null), or the end (undefined). */
export interface Part {
  readonly text: string
  readonly suffix: string | null | undefined
}

/** A pattern without optional segments. Two with the same shape match the same paths. No canonical text has a brace. */
export interface Expansion {
  readonly shape: string
  /** The parts; empty for a pattern without parameters, whose shape is its path. */
  readonly parts: readonly Part[]
}

function expansion(segments: readonly Segment[], caseSensitive: boolean): Expansion {
  const fold = (text: string): string => (caseSensitive ? text : text.toLowerCase())
  const parts: Part[] = []
  let shape = ''
  let text = ''
  for (const segment of segments) {
    text += '/'
    if (segment.kind === 'text') {
      text += fold(segment.text)
      shape += `/${fold(segment.text)}`
      continue
    }
    const suffix = segment.kind === 'param' ? fold(segment.suffix) : null
    shape += suffix === null ? '/{*}' : `/{}${suffix}`
    parts.push({ text, suffix })
    text = ''
  }
  if (parts.length > 0 && text !== '') parts.push({ text, suffix: undefined })
  return { shape: shape || '/', parts }
}
