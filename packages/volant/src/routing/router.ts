/**
 * Maps a method and a canonical path to a route id and parameters: the twin of crates/route, for adapters without the
 * engine. Semantics, precedence and errors are documented there; both are tested with crates/route/cases/routes.json.
 */
import { type Method, methods, type Miss, type RouterOptions } from '@volant/engine'
import { type Part, RouteShapes, withoutSlash } from './shapes.ts'

/** The answer to a lookup. */
export interface Found {
  /** The route's id, or a `Miss`. */
  readonly id: number
  /** The methods that Allow names for 405 and OPTIONS, as a bit set by index in `methods`; else 0. */
  readonly allow: number
  /**
   * The values as they are in the path, still escaped, in the pattern's order. Absent optional ones are left out at the
   * end.
   */
  readonly params: readonly string[]
}

const indexes: Readonly<Record<Method, number>> = {
  GET: 0,
  HEAD: 1,
  POST: 2,
  PUT: 3,
  PATCH: 4,
  DELETE: 5,
  OPTIONS: 6,
  QUERY: 7,
}
const usual: ReadonlyMap<string, number> = new Map(Object.entries(indexes))
const slash = 0x2f
const get = 1 << indexes.GET
const head = 1 << indexes.HEAD
const options = 1 << indexes.OPTIONS

const notFound: typeof Miss.notFound = -1
const methodNotAllowed: typeof Miss.methodNotAllowed = -2
const optionsMiss: typeof Miss.options = -3
const nowhere: Found = { id: notFound, allow: 0, params: [] }

const nowheres: readonly Found[] = Array.from(usual, () => nowhere)

/** The routes of one set of paths: the answer by method index, shared by every lookup that needs no parameters. */
class Leaf {
  methods = 0
  readonly found: Found[] = nowheres.slice()

  answer(method: number): Found {
    return (this.methods & (1 << method) ? this.found[method] : this.found[indexes.GET]) ?? nowhere
  }
}

/** A node of the byte-wise prefix tree. After a `/` it may branch into parameters. */
class Node {
  /** The text that leads here from the parent; empty after a parameter. */
  prefix: string
  /** The methods of the leaves at and below this node. A walk for other methods passes by. */
  methods = 0
  leaf: Leaf | null = null
  firsts: number[] = []
  children: Node[] = []
  /** True where any of the three below is there. */
  branches = false
  /** The parameters with a suffix, the longest suffix first. */
  suffixes: { readonly text: string; readonly node: Node }[] = []
  param: Node | null = null
  wildcard: Leaf | null = null

  constructor(prefix: string) {
    this.prefix = prefix
  }
}

export class RouteTable {
  private readonly caseSensitive: boolean
  private readonly ignoreTrailingSlash: boolean
  private readonly indexOf: ReadonlyMap<string, number>
  private readonly statics = new Map<string, Leaf>()
  private readonly root = new Node('/')
  private readonly shapes: RouteShapes
  private methods = 0
  /** The state of a walk. It can be shared, since a lookup is synchronous and calls no code of the user. */
  private path = ''
  private wanted = 0
  private collecting = false
  private seen = 0
  private readonly starts: number[] = []
  private readonly ends: number[] = []
  private depth = 0

  constructor(policy: RouterOptions) {
    this.caseSensitive = policy.caseSensitive
    this.ignoreTrailingSlash = policy.ignoreTrailingSlash
    this.shapes = new RouteShapes(policy)
    const named = [...methods, ...policy.methods].map((name, index): [string, number] => [name, index])
    this.indexOf = policy.methods.length === 0 ? usual : new Map(named)
  }

  /** Adds a route whose lookup gives `id`. Throws what `RouteShapes` throws; the table is then as it was before. */
  add(method: string, pattern: string, id: number): void {
    const shapes = this.shapes.add(method, pattern)
    const index = this.indexOf.get(method) as number
    for (const { shape, parts } of shapes) {
      const leaf = parts.length === 0 ? this.staticLeaf(shape) : this.insert(parts, 1 << index)
      leaf.methods |= 1 << index
      leaf.found[index] = { id, allow: 0, params: [] }
    }
    this.methods |= 1 << index
  }

  /** Finds the route for a canonical path. */
  find(method: string, path: string): Found {
    const index = this.indexOf.get(method) ?? -1
    const wanted = index < 0 ? 0 : index === indexes.HEAD ? head | get : 1 << index
    const trimmed = this.ignoreTrailingSlash ? withoutSlash(path) : path
    const folded = this.caseSensitive ? trimmed : trimmed.toLowerCase()
    const fixed = this.statics.get(folded)
    if (fixed !== undefined && fixed.methods & wanted) return fixed.answer(index)
    this.path = folded
    this.wanted = wanted
    this.collecting = false
    this.depth = 0
    const leaf = this.walk(this.root, 1)
    if (leaf === null) return this.miss(index, folded, fixed?.methods ?? 0, wanted)
    const params: string[] = []
    for (let i = 0; i < this.depth; i++) params.push(trimmed.slice(this.starts[i], this.ends[i]))
    return { id: leaf.answer(index).id, allow: 0, params }
  }

  /** Gives the answer for a path that has routes for other methods alone, or none. */
  private miss(index: number, folded: string, fixed: number, wanted: number): Found {
    this.seen = fixed
    this.wanted = this.methods & ~(fixed | wanted)
    this.collecting = true
    this.depth = 0
    this.walk(this.root, 1)
    if (folded === '*' && index === indexes.OPTIONS) return miss(optionsMiss, this.methods)
    // CONNECT is about the server as well as `*`, and no route has it.
    if (folded === '*' && wanted === 0) return miss(methodNotAllowed, this.methods)
    if (this.seen === 0) return nowhere
    return miss(index === indexes.OPTIONS ? optionsMiss : methodNotAllowed, this.seen)
  }

  /**
   * Walks on from a node whose text ends at `from`. It recurses only where there is another choice to come back to: at
   * most twice for each segment of the deepest pattern.
   */
  private walk(start: Node, from: number): Leaf | null {
    const path = this.path
    let node = start
    let at = from
    if (!(start.methods & this.wanted) || path.charCodeAt(0) !== slash) return null
    for (;;) {
      if (at === path.length) return node.leaf === null ? null : this.accept(node.leaf)
      const child = this.childAt(node, at)
      if (!node.branches) {
        if (child === undefined) return null
        at += child.prefix.length
        node = child
        continue
      }
      const depth = this.depth
      if (child !== undefined) {
        const leaf = this.walk(child, at + child.prefix.length)
        if (leaf !== null) return leaf
        this.depth = depth
      }
      const end = segmentEnd(path, at)
      for (let i = 0; i < node.suffixes.length; i++) {
        const suffix = node.suffixes[i]!
        const valueEnd = end - suffix.text.length
        if (valueEnd <= at || !path.startsWith(suffix.text, valueEnd)) continue
        this.push(at, valueEnd)
        const leaf = this.walk(suffix.node, end)
        if (leaf !== null) return leaf
        this.depth = depth
      }
      if (node.param !== null && end > at) {
        this.push(at, end)
        if (node.wildcard === null) {
          node = node.param
          at = end
          continue
        }
        const leaf = this.walk(node.param, end)
        if (leaf !== null) return leaf
        this.depth = depth
      }
      if (node.wildcard === null) return null
      this.push(at, path.length)
      return this.accept(node.wildcard)
    }
  }

  /** Gives the child for the text at `at`; at most one begins with its first character. */
  private childAt(node: Node, at: number): Node | undefined {
    const first = this.path.charCodeAt(at)
    const { firsts, children } = node
    for (let i = 0; i < firsts.length; i++) {
      if (firsts[i] !== first) continue
      const child = children[i]!
      return child.methods & this.wanted && holds(this.path, child.prefix, at) ? child : undefined
    }
    return undefined
  }

  private accept(leaf: Leaf): Leaf | null {
    if (this.collecting) {
      this.seen |= leaf.methods
      return null
    }
    return leaf.methods & this.wanted ? leaf : null
  }

  private push(start: number, end: number): void {
    this.starts[this.depth] = start
    this.ends[this.depth++] = end
  }

  private staticLeaf(path: string): Leaf {
    let leaf = this.statics.get(path)
    if (leaf === undefined) this.statics.set(path, (leaf = new Leaf()))
    return leaf
  }

  private insert(parts: readonly Part[], method: number): Leaf {
    let node = this.root
    node.methods |= method
    for (const part of parts) {
      // The root is the position after the first `/`.
      node = grow(node, node === this.root ? part.text.slice(1) : part.text, method)
      if (part.suffix === undefined) continue
      if (part.suffix === null) {
        node.branches = true
        return (node.wildcard ??= new Leaf())
      }
      node = paramOf(node, part.suffix)
      node.methods |= method
    }
    return (node.leaf ??= new Leaf())
  }
}

/**
 * Does `path.startsWith(prefix, at)` for a first character that is known to be the same. Built-ins cost more than short
 * loops.
 */
function holds(path: string, prefix: string, at: number): boolean {
  if (prefix.length > 24) return path.startsWith(prefix, at)
  for (let i = 1; i < prefix.length; i++) {
    if (path.charCodeAt(at + i) !== prefix.charCodeAt(i)) return false
  }
  return true
}

function segmentEnd(path: string, from: number): number {
  for (let at = from; at < path.length; at++) {
    if (path.charCodeAt(at) === slash) return at
  }
  return path.length
}

function miss(id: number, methods: number): Found {
  return { id, allow: methods | options | (methods & get ? head : 0), params: [] }
}

/** Gives the node that `text` leads to from `node`. It is made, and others are split for it, where needed. */
function grow(start: Node, text: string, method: number): Node {
  let node = start
  let at = 0
  while (at < text.length) {
    const first = text.charCodeAt(at)
    const index = node.firsts.indexOf(first)
    const child = index < 0 ? undefined : node.children[index]
    if (child === undefined) {
      const leaf = new Node(text.slice(at))
      leaf.methods = method
      node.firsts.push(first)
      node.children.push(leaf)
      return leaf
    }
    let shared = 0
    while (shared < child.prefix.length && child.prefix[shared] === text[at + shared]) shared++
    node = shared < child.prefix.length ? split(node, index, shared) : child
    node.methods |= method
    at += shared
  }
  return node
}

/** Puts a new node with the first `length` characters of a child's prefix between parent and child. */
function split(parent: Node, index: number, length: number): Node {
  const lower = parent.children[index]!
  const upper = new Node(lower.prefix.slice(0, length))
  lower.prefix = lower.prefix.slice(length)
  upper.methods = lower.methods
  upper.firsts.push(lower.prefix.charCodeAt(0))
  upper.children.push(lower)
  parent.children[index] = upper
  return upper
}

function paramOf(node: Node, suffix: string): Node {
  node.branches = true
  if (suffix === '') return (node.param ??= new Node(''))
  const existing = node.suffixes.find(({ text }) => text === suffix)
  if (existing !== undefined) return existing.node
  const made = { text: suffix, node: new Node('') }
  const index = node.suffixes.findIndex(({ text }) => text.length < suffix.length)
  node.suffixes.splice(index < 0 ? node.suffixes.length : index, 0, made)
  return made.node
}
