/**
 * Rewrites the references of one JSON Schema as pointers: `$id` and anchors are looked up here, so nothing else has to
 * know of base URIs. Nothing is ever loaded. json-schema-ref-parser
 * knows no anchors (`node lab/library-differences.mjs`).
 */
import { decodeFragment, encodeFragment, escapeKey } from './json-pointer.ts'

/** The base of references: the nearest `$id` around them. */
export interface Base {
  readonly uri: string
  /** A pointer to the schema with the `$id`. */
  readonly pointer: string
}

/** A reference, and where it was found. */
export interface Reference {
  readonly at: string
  readonly to: string
  readonly base: Base
  /** The copy whose `$ref` it is. */
  readonly schema: Record<string, unknown>
}

/** A schema that can be referred to. */
interface Candidate {
  /** The pointers to where it stood, and to where it stands in the copy. */
  readonly from: string
  readonly to: string
  readonly schema: object | boolean
}

export class References {
  readonly #candidates = new Map<string, Candidate>()
  /** The pointers to schemas with `$id`, by URI. */
  readonly #resources = new Map<string, string>()
  /** The pointers to schemas with an anchor, by URI and `#name`. */
  readonly #anchors = new Map<string, string>()
  readonly #found: Reference[] = []
  /** The schema that each schema with `$ref` refers to. */
  readonly #targets = new Map<object, object>()

  /** Gives the base of references inside a schema with this `$id`. */
  enter(id: string, outer: Base, from: string): Base {
    const uri = absolute(id, outer.uri).replace(/#$/, '')
    this.#resources.set(uri, from).set(id.replace(/#$/, ''), from)
    // Draft 07 wrote anchors so.
    if (id.startsWith('#') && id.length > 1) {
      this.#anchors.set(`${outer.uri}${id}`, from)
      return outer
    }
    return { uri, pointer: from }
  }

  add(candidate: Candidate): void {
    this.#candidates.set(candidate.from, candidate)
  }

  anchor(name: unknown, base: Base, from: string): void {
    if (typeof name === 'string') this.#anchors.set(`${base.uri}#${name}`, from)
  }

  refer(reference: Reference): void {
    this.#found.push(reference)
  }

  /** Writes all references as pointers into the copy; gives back those that lead nowhere. */
  resolve(isStrict: boolean): Reference[] {
    return this.#found.filter((reference) => {
      const exact = this.#candidates.get(this.#pointerOf(reference) ?? '')
      const target = exact ?? (isStrict ? undefined : this.#unescaped(reference.to))
      if (target === undefined) return true
      reference.schema.$ref = encodeFragment(target.to)
      if (typeof target.schema === 'object') this.#targets.set(reference.schema, target.schema)
      return false
    })
  }

  /** True if a schema refers, directly or through others, to one that contains it. */
  areRecursive(root: object): boolean {
    if (this.#found.length === 0) return false
    const above = new Set<object>()
    const done = new Set<object>()
    const visit = (schema: unknown): boolean => {
      if (typeof schema !== 'object' || schema === null || done.has(schema)) return false
      if (above.has(schema)) return true
      above.add(schema)
      const target = this.#targets.get(schema)
      const is = visit(target) || Object.values(schema).some(visit)
      above.delete(schema)
      done.add(schema)
      return is
    }
    return visit(root)
  }

  /** Gives a pointer to where the target stood. */
  #pointerOf({ to, base }: Reference): string | undefined {
    const at = to.indexOf('#')
    const name = at === -1 ? to : to.slice(0, at)
    const fragment = at === -1 ? '' : to.slice(at + 1)
    const uri = name === '' ? base.uri : this.#resources.has(name) ? name : absolute(name, base.uri)
    const start = name === '' ? base.pointer : this.#resources.get(uri)
    if (start === undefined) return undefined
    if (fragment === '') return start
    return fragment.startsWith('/')
      ? `${start}${decodeFragment(fragment)}`
      : this.#anchors.get(`${uri}#${fragment}`)
  }

  /** Some libraries write a pointer without its escapes, or the bare key of a definition. */
  #unescaped(to: string): Candidate | undefined {
    const [, keyword = '', ...keys] = to.split('/')
    const key = keys.join('/')
    const names = to.startsWith('#/')
      ? [to, `#/${keyword}/${escapeKey(decodeFragment(key))}`, `#/${keyword}/${escapeKey(key)}`]
      : [`#/$defs/${escapeKey(to)}`, `#/definitions/${escapeKey(to)}`]
    return names.map((name) => this.#candidates.get(name)).find((each) => each !== undefined)
  }
}

function absolute(uri: string, base: string): string {
  try {
    return new URL(uri, base === '' ? undefined : base).href
  } catch {
    return uri
  }
}
