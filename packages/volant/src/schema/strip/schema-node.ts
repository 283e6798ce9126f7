/**
 * Finds which properties and items a schema declares at one point of a value. A node stands for all schemas that can
 * hold at such a point; it is made when a value first gets there.
 */
import { madeOnce } from '../made-once.ts'
import { isSchema, type AnySchema, type JSONSchemaObject } from '../document.ts'
import { regularExpression } from '../keywords.ts'
import { mayMatch } from './may-match.ts'
import { type Alternative, SchemaDocument, itemsOf, record } from './alternatives.ts'
import { discriminatorOf } from './discriminator.ts'

/** At most this many union branches are tried separately; above it they are merged, which only lets more through. */
const mostAlternatives = 64

/** Gives the node of a whole value; `schema` is in the normal form. */
export function rootNodeOf(schema: JSONSchemaObject): SchemaNode {
  return madeOnce(roots, schema, () => {
    const document = new SchemaDocument(schema)
    return new SchemaNodes(document).at([document.alternative([schema])])
  })
}

/** The branches of a union, by the value of the property that tells them apart. */
export interface Discriminated {
  readonly name: string
  readonly nodes: ReadonlyMap<unknown, SchemaNode>
}

const roots = new WeakMap<JSONSchemaObject, SchemaNode>()

/** The nodes of one schema. The same alternatives have the same node, so recursive schemas have few. */
class SchemaNodes {
  readonly document: SchemaDocument
  /** The node of values that are not looked at, since every property of theirs is declared. */
  readonly keepsAll: SchemaNode
  readonly #known = new Map<string, SchemaNode>()

  constructor(document: SchemaDocument) {
    this.document = document
    this.keepsAll = new SchemaNode(this, [document.alternative([])])
  }

  at(alternatives: readonly Alternative[]): SchemaNode {
    if (alternatives.every((alternative) => alternative.keepsAll)) return this.keepsAll
    const each = [...new Set(alternatives)].sort((a, b) => a.id - b.id)
    const key = each.map((alternative) => alternative.id).join()
    return madeOnce(this.#known, key, () => new SchemaNode(this, each))
  }
}

/** The alternatives that may hold at one point of a value: several in a union, else one. */
export class SchemaNode {
  /** True if no property can be undeclared, here or further inside. */
  readonly keepsAll: boolean
  /** True if any property is let through as it is. Valid once branches are decided. */
  readonly opensObject: boolean
  /** True if any item is let through as it is. Valid once branches are decided. */
  readonly opensArray: boolean
  /** True if there are no branches to choose from. */
  readonly isDecided: boolean
  /** The names of properties in the schema, in its order. */
  readonly names: readonly string[]
  /** True if properties of other names can be declared. */
  readonly hasOthers: boolean
  /** Items after these are all alike. */
  readonly firstItems: number
  readonly #nodes: SchemaNodes
  readonly #alternatives: readonly Alternative[]
  /** The nodes by names in the schema; undefined until a value has the property. */
  readonly #properties = new Map<string, SchemaNode | null | undefined>()
  #discriminated: { found: Discriminated | null } | null = null
  readonly #positions = new Map<string, number>()
  readonly #byPatterns = new Map<string, SchemaNode | null>()
  readonly #patterns: RegExp[]
  readonly #items: (SchemaNode | undefined)[] = []

  constructor(nodes: SchemaNodes, alternatives: readonly Alternative[]) {
    this.#nodes = nodes
    this.#alternatives = alternatives
    this.isDecided = alternatives.length === 1 && alternatives[0]?.groups.length === 0
    this.keepsAll = alternatives.every((alternative) => alternative.keepsAll)
    this.opensObject = alternatives.some((alternative) => !alternative.closesObject)
    this.opensArray = alternatives.some((alternative) => !alternative.closesArray)
    const parts = alternatives.flatMap((alternative) => alternative.parts)
    this.firstItems = Math.max(0, ...parts.map((part) => itemsOf(part).first.length))
    const named = parts.flatMap((part) => Object.keys(record(part.properties)))
    this.names = [...new Set(named)].filter((name) => name !== '__proto__')
    for (const [at, name] of this.names.entries()) {
      this.#properties.set(name, undefined)
      this.#positions.set(name, at)
    }
    const patterns = parts.flatMap((part) => Object.keys(record(part.patternProperties)))
    this.#patterns = [...new Set(patterns)].map(patternOf)
    this.hasOthers = patterns.length > 0 || parts.some((part) => restOf(part) !== null)
  }

  /** Gives null where no single property tells the branches apart. */
  get discriminated(): Discriminated | null {
    this.#discriminated ??= { found: this.#findDiscriminator() }
    return this.#discriminated.found
  }

  /** Gives the node of the branches that fit this value. */
  decide(value: object): SchemaNode {
    if (this.isDecided) return this
    const { discriminated } = this
    const chosen = discriminated?.nodes.get((value as Record<string, unknown>)[discriminated.name])
    return chosen === undefined ? this.#decideByFit(value) : chosen.decide(value)
  }

  #decideByFit(value: object): SchemaNode {
    const { document } = this.#nodes
    let alternatives = this.#fitting(value, this.#alternatives)
    while (alternatives.some((alternative) => alternative.groups.length > 0)) {
      alternatives = alternatives.flatMap((alternative) => combine(value, alternative, document))
    }
    alternatives = this.#fitting(value, alternatives)
    return this.#nodes.at(alternatives)
  }

  /** Gives the node of a property, null if it is not declared. */
  property(name: string): SchemaNode | null {
    const known = this.#properties.get(name)
    if (known !== undefined) return known
    if (name === '__proto__') return null
    if (!this.#properties.has(name)) return this.#unnamed(name)
    const node = this.#child((part) => propertyOf(part, name))
    this.#properties.set(name, node)
    return node
  }

  /** Gives the position at which a property is written: the one in the schema, or after all of those. */
  positionOf(name: string): number {
    return this.#positions.get(name) ?? this.names.length
  }

  item(at: number): SchemaNode {
    const kept = Math.min(at, this.firstItems)
    let node = this.#items[kept]
    if (node === undefined) {
      node = this.#child((part) => itemOf(part, kept)) ?? this.#nodes.keepsAll
      this.#items[kept] = node
    }
    return node
  }

  #findDiscriminator(): Discriminated | null {
    const [alternative, another] = this.#alternatives
    const [group, other] = alternative?.groups ?? []
    if (alternative === undefined || group === undefined || (another ?? other) !== undefined) return null
    const { document } = this.#nodes
    const tag = discriminatorOf(group.map((branch) => document.alternative([branch])))
    if (tag === null) return null
    const nodes = group.map((branch) => this.#nodes.at([document.choose(alternative, [branch])]))
    return { name: tag.name, nodes: new Map(tag.values.map((value, at) => [value, nodes[at] as SchemaNode])) }
  }

  #fitting(value: object, alternatives: readonly Alternative[]): readonly Alternative[] {
    if (alternatives.length === 1) return alternatives
    const { document } = this.#nodes
    const each = alternatives.filter((alternative) =>
      alternative.parts.every((part) => mayMatch(value, part, document)),
    )
    return each.length === 0 ? alternatives : each
  }

  #unnamed(name: string): SchemaNode | null {
    const key = this.#patterns.map((pattern) => (pattern.test(name) ? '1' : '0')).join('')
    return madeOnce(this.#byPatterns, key, () => this.#child((part) => propertyOf(part, name)))
  }

  /** Gives the node of a part, by the schemas that each alternative has for it; null if none has one. */
  #child(schemasOf: (part: JSONSchemaObject) => readonly AnySchema[]): SchemaNode | null {
    const { document } = this.#nodes
    const each = this.#alternatives
      .map(({ parts }) => parts.flatMap(schemasOf))
      .filter(({ length }) => length > 0)
    if (each.length === 0) return null
    return this.#nodes.at(each.map((schemas) => document.alternative(schemas)))
  }
}

/** Chooses one branch of each group, in every combination of those that the value may match. */
function combine(value: object, alternative: Alternative, document: SchemaDocument): Alternative[] {
  let choices: AnySchema[][] = [[]]
  for (const group of alternative.groups) {
    const fitting = group.filter((branch) => mayMatch(value, branch, document))
    const branches = fitting.length === 0 ? group : fitting
    if (choices.length * branches.length > mostAlternatives)
      choices = choices.map((each) => [...each, ...branches])
    else choices = choices.flatMap((each) => branches.map((branch) => [...each, branch]))
  }
  return choices.map((chosen) => document.choose(alternative, chosen))
}

/** Gives the schemas that one schema has for a property; none if it does not declare it. */
function propertyOf(part: JSONSchemaObject, name: string): AnySchema[] {
  const found: AnySchema[] = []
  const properties = record(part.properties)
  if (Object.hasOwn(properties, name)) found.push(properties[name] as AnySchema)
  for (const [source, schema] of Object.entries(record(part.patternProperties))) {
    if (patternOf(source).test(name)) found.push(schema as AnySchema)
  }
  if (found.length > 0) return found
  const rest = restOf(part)
  return rest === null ? [] : [rest]
}

/** Gives the schema of properties that are not named; null if there may be none. */
function restOf(part: JSONSchemaObject): AnySchema | null {
  const rest = part.additionalProperties ?? part.unevaluatedProperties
  return isSchema(rest) && rest !== false ? rest : null
}

function itemOf(part: JSONSchemaObject, at: number): AnySchema[] {
  const { first, rest } = itemsOf(part)
  const of = first[at] ?? rest
  return of === null ? [] : [of]
}

/** An invalid pattern matches nothing. */
function patternOf(source: string): RegExp {
  return regularExpression(source) ?? /(?!)/
}
