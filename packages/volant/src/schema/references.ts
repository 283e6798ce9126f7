/**
 * References of one JSON Schema, made pointers of it: what `$id` and `$anchor` name is found here, once, so that nobody
 * after has to know of base URIs. Nothing is ever loaded.
 */

/** What references begin at: the nearest `$id` around them. */
export interface Base {
  readonly uri: string
  /** Where it stood, as a pointer. */
  readonly pointer: string
}

/** A `$ref`, and where it was found. */
export interface Reference {
  readonly at: string
  readonly to: string
  readonly base: Base
  /** The copy that is to have it. */
  readonly schema: Record<string, unknown>
}

/** A schema that can be referred to. */
interface Place {
  /** Where it stood, and where it stands now. */
  readonly from: string
  readonly to: string
  readonly schema: object | boolean
}

export class References {
  readonly #places: Place[] = []
  /** Where `$id`s stood, by URI. */
  readonly #resources = new Map<string, string>()
  /** Where anchors stood, by URI and `#name`. */
  readonly #anchors = new Map<string, string>()
  readonly #found: Reference[] = []
  /** What a schema with `$ref` means. */
  readonly #targets = new Map<object, object>()

  /** What references inside a schema with this `$id` begin at. */
  enter(id: string, outer: Base, from: string): Base {
    const uri = resolved(id, outer.uri).replace(/#$/, '')
    this.#resources.set(uri, from).set(id.replace(/#$/, ''), from)
    // Draft-07 wrote anchors so.
    if (id.startsWith('#') && id.length > 1) {
      this.#anchors.set(`${outer.uri}${id}`, from)
      return outer
    }
    return { uri, pointer: from }
  }

  add(place: Place): void {
    this.#places.push(place)
  }

  anchor(name: unknown, base: Base, from: string): void {
    if (typeof name === 'string') this.#anchors.set(`${base.uri}#${name}`, from)
  }

  refer(reference: Reference): void {
    this.#found.push(reference)
  }

  /** Writes them all as pointers into the copy. Those that lead nowhere are given back. */
  resolve(): Reference[] {
    if (this.#found.length === 0) return []
    const places = new Map(this.#places.map((place) => [place.from, place]))
    return this.#found.filter((reference) => {
      const place = places.get(this.#find(reference) ?? '')
      if (place === undefined) return true
      reference.schema.$ref = fragmentOf(place.to)
      if (typeof place.schema === 'object') this.#targets.set(reference.schema, place.schema)
      return false
    })
  }

  /** True if a schema refers, over others or not, to one that contains it. */
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

  /** Where the target stood. */
  #find({ to, base }: Reference): string | undefined {
    const at = to.indexOf('#')
    const name = at === -1 ? to : to.slice(0, at)
    const fragment = at === -1 ? '' : to.slice(at + 1)
    const uri = name === '' ? base.uri : this.#resources.has(name) ? name : resolved(name, base.uri)
    const start = name === '' ? base.pointer : this.#resources.get(uri)
    if (start === undefined) return undefined
    if (fragment === '') return start
    return fragment.startsWith('/') ? `${start}${decoded(fragment)}` : this.#anchors.get(`${uri}#${fragment}`)
  }
}

function resolved(uri: string, base: string): string {
  try {
    return new URL(uri, base === '' ? undefined : base).href
  } catch {
    return uri
  }
}

/** RFC 6901 §6; what RFC 3986 §3.5 allows in a fragment stays as it is, as all who look for `#/$defs/` expect. */
function fragmentOf(pointer: string): string {
  return `#${encodeURI(pointer.slice(1)).replaceAll('#', '%23')}`
}

/** RFC 6901 §6. */
function decoded(fragment: string): string {
  try {
    return decodeURIComponent(fragment)
  } catch {
    return fragment
  }
}
