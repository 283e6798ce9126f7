/**
 * The one form of JSON Schema that the other files read: a frozen copy of draft 2020-12, whose references are pointers
 * into the copy. Plain JSON Schema is checked on the way, so a mistake is found when the route is registered, by a walk of
 * microseconds; compiling the meta-schema of the draft would cost 50 ms of start-up.
 */
import { VolantError } from '../errors/errors.ts'
import { nearest } from '../options/option-names.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { JSONSchemaObject } from './document.ts'
import { escapeKey } from './json-pointer.ts'
import { type KeywordKind, keywords, misfit, notAsserting, regularExpression } from './keywords.ts'
import { type Base, References } from './references.ts'

/** A plain JSON Schema in the normal form, with what decides how it is compiled. */
export interface NormalSchema {
  readonly schema: JSONSchemaObject
  /** The schema for Ajv: `schema`, but with `$dynamicRef` where a repeated anchor makes it differ from `$ref`. */
  readonly compiled: JSONSchemaObject
  /** True where it has a `default` somewhere. */
  readonly hasDefaults: boolean
  /** True where it names a property that every object inherits, such as `constructor`. */
  readonly namesInherited: boolean
  /** True where it refers to a schema that contains it, so values may be nested without limit. */
  readonly isRecursive: boolean
}

/**
 * True for a plain object with a keyword of JSON Schema that can refuse a value. What every value passes is a schema only
 * if TypeBox made it: elsewhere it is the shape of another framework, and would switch the check off without a word.
 */
export function isPlainSchema(given: unknown): given is object {
  if (typeof given !== 'object' || given === null) return false
  const prototype: unknown = Object.getPrototypeOf(given)
  // An object of another realm is one, too.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return false
  if (Object.entries(given).some(asserts)) return true
  return '~kind' in given || symbolsOf(given).includes('TypeBox.Kind')
}

function asserts([name, value]: [string, unknown]): boolean {
  return value !== undefined && keywords.has(name) && !notAsserting.has(name)
}

/** Throws `E_BAD_SCHEMA` with the pointer of a mistake; `where` names the schema itself. */
export function normalize(given: object, where: string): NormalSchema {
  const { $schema } = given as Keywords
  const refuse = (at: string, why: string): never => {
    throw new VolantError('E_BAD_SCHEMA', `${where}: ${at} ${why}`)
  }
  if ($schema !== undefined && !(typeof $schema === 'string' && drafts.test($schema))) {
    refuse('#/$schema', `is draft 2020-12, 2019-09, 07 or 06, not ${briefValue($schema)}`)
  }
  const normalizer = new Normalizer(refuse, true)
  const normal = normalizer.normalize(given)
  if (!normalizer.isDynamic) return normal
  const compiled = new Normalizer(refuse, true, true).normalize(given).schema
  return { ...normal, compiled, isRecursive: true }
}

/**
 * Gives the normal form of a JSON Schema that a library made. Only what decides the meaning of a schema is checked:
 * unknown references and keywords stay as they are. Throws an Error that names the part which is no JSON Schema.
 */
export function normalizeMade(made: unknown): JSONSchemaObject {
  const refuse = (at: string): never => {
    throw new Error(`its library gives what is no JSON Schema: ${at}`)
  }
  if (typeof made === 'boolean') refuse('#')
  return new Normalizer(refuse, false).normalize(made).schema
}

type Keywords = Record<string, unknown>

/** The pointers to where a schema stood and where it stands in the copy; and the base of its references. */
interface Position {
  readonly from: string
  readonly to: string
  readonly base: Base
}

const drafts = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft\/2019-09|draft-0[67])\/schema#?$/

/** The kinds of values that decide what a schema means to those who walk it. */
const structural: ReadonlySet<KeywordKind> = new Set(['type', 'names', 'lists'])

class Normalizer {
  readonly #refuse: (at: string, why: string) => never
  /** False for a schema that a library made. */
  readonly #isStrict: boolean
  readonly #keepsDynamic: boolean
  readonly #dynamicAnchors = new Set<unknown>()
  #hasDynamicRef = false
  #repeatsDynamicAnchor = false
  readonly #references = new References()
  readonly #above = new Set<object>()
  #hasDefaults = false
  #namesInherited = false

  constructor(refuse: (at: string, why: string) => never, isStrict: boolean, keepsDynamic = false) {
    this.#refuse = refuse
    this.#isStrict = isStrict
    this.#keepsDynamic = keepsDynamic
  }

  /** True where an anchor of a `$dynamicRef` stands twice, so that it may lead elsewhere than `$ref` would. */
  get isDynamic(): boolean {
    return this.#hasDynamicRef && this.#repeatsDynamicAnchor
  }

  normalize(given: unknown): NormalSchema {
    const schema = this.#schema(given, { from: '#', to: '#', base: { uri: '', pointer: '#' } }) as Keywords
    const [lost] = this.#references.resolve(this.#isStrict)
    if (lost !== undefined && this.#isStrict) {
      this.#refuse(lost.at, `leads nowhere, and nothing is loaded: ${briefValue(lost.to)}`)
    }
    frozen(schema)
    return {
      schema,
      compiled: schema,
      hasDefaults: this.#hasDefaults,
      namesInherited: this.#namesInherited,
      isRecursive: this.#references.areRecursive(schema),
    }
  }

  #schema(given: unknown, { from, to, base: outer }: Position): unknown {
    if (typeof given === 'boolean') {
      this.#references.add({ from, to, schema: given })
      return given
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return this.#refuse(from, `takes a schema, not ${briefValue(given)}`)
    }
    if (this.#isStrict) this.#refuseForeign(given, from)
    if (this.#above.has(given)) this.#refuse(from, 'contains itself; refer to it by $ref')
    this.#above.add(given)
    const { $id } = given as Keywords
    const base = typeof $id === 'string' ? this.#references.enter($id, outer, from) : outer
    const copy: Keywords = {}
    this.#references.add({ from, to, schema: copy })
    for (const [name, value] of Object.entries(given)) {
      if (value !== undefined && !dropped.has(name)) this.#keyword(copy, name, value, { from, to, base })
    }
    this.#refer(copy, given as Keywords, from, base)
    // The documents of an API name a schema by it.
    if (typeof $id === 'string' && !this.#isStrict && from === '#') copy.$id = $id
    modernise(copy)
    this.#above.delete(given)
    return copy
  }

  #keyword(copy: Keywords, name: string, value: unknown, { from, to, base }: Position): void {
    const kind = keywords.get(name)
    const inner = { from: `${from}/${escapeKey(name)}`, to: `${to}/${name}`, base }
    if (kind === undefined) this.#unknown(copy, name, value, inner.from)
    else if (kind === 'schema') this.#one(copy, name, value, inner)
    else if (kind === 'schemas') copy[name] = this.#list(value, inner)
    else if (kind === 'named') this.#named(copy, name, value, inner, to)
    else {
      if (value instanceof RegExp && /[^uv]/.test(value.flags)) {
        this.#refuse(inner.from, `has flags, which JSON Schema has not: ${value.flags}`)
      }
      const plain = value instanceof RegExp ? value.source : value
      const takes = this.#isStrict || structural.has(kind) ? misfit(kind, plain) : null
      if (takes !== null) this.#refuse(inner.from, `takes ${takes}, not ${briefValue(value)}`)
      if (name === '$anchor' || name === '$dynamicAnchor') this.#references.anchor(plain, base, from)
      else if (!references.includes(name)) copy[name] = this.#json(plain, inner.from)
      if (name === '$dynamicAnchor') {
        this.#repeatsDynamicAnchor ||= this.#dynamicAnchors.has(plain)
        this.#dynamicAnchors.add(plain)
        if (this.#keepsDynamic) copy.$dynamicAnchor = plain
      }
      if (name === 'default') this.#hasDefaults = true
      else if (name === 'required') this.#inherited(plain as readonly string[])
    }
  }

  /** `$recursiveRef`, and `$dynamicRef` to an anchor that stands once, mean the same as `$ref`. */
  #refer(copy: Keywords, given: Keywords, from: string, base: Base): void {
    for (const keyword of references) {
      const to = given[keyword]
      if (typeof to !== 'string') continue
      if (keyword === '$dynamicRef') this.#hasDynamicRef = true
      if (this.#keepsDynamic && keyword === '$dynamicRef') {
        copy.$dynamicRef = to
        continue
      }
      let schema = copy
      if (Object.hasOwn(copy, '$ref')) {
        schema = {}
        copy.allOf = [...((copy.allOf as unknown[] | undefined) ?? []), schema]
      }
      schema.$ref = to
      this.#references.refer({ at: `${from}/${keyword}`, to, base, schema })
    }
  }

  /** Copies `items` and `additionalItems` of drafts before 2020-12 as `prefixItems` and `items`. */
  #one(copy: Keywords, name: string, value: unknown, place: Position): void {
    if (name === 'items' && Array.isArray(value)) {
      copy.prefixItems = this.#list(value, { ...place, to: place.to.replace(/items$/, 'prefixItems') })
    } else {
      const to = place.to.replace(/additionalItems$/, 'items')
      copy[name] = this.#schema(value, { ...place, to })
    }
  }

  #list(value: unknown, { from, to, base }: Position): unknown[] {
    if (!Array.isArray(value) || (value.length === 0 && this.#isStrict)) {
      return this.#refuse(from, `takes an array of schemas, not ${briefValue(value)}`)
    }
    return value.map((each, index) =>
      this.#schema(each, { from: `${from}/${index}`, to: `${to}/${index}`, base }),
    )
  }

  #named(copy: Keywords, name: string, value: unknown, { from, base }: Position, to: string): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#refuse(from, `takes schemas by name, not ${briefValue(value)}`)
    }
    const target = name === 'dependencies' ? 'dependentSchemas' : name
    const schemas: [string, unknown][] = []
    for (const [key, each] of Object.entries(value)) {
      const place = { from: `${from}/${escapeKey(key)}`, to: `${to}/${target}/${escapeKey(key)}`, base }
      // No request can have such a property.
      if (key === '__proto__' && this.#isStrict) this.#refuse(from, 'has a key __proto__')
      if (this.#isStrict && name === 'patternProperties' && regularExpression(key) === null) {
        this.#refuse(place.from, 'is no regular expression')
      }
      if (name === 'dependencies' && Array.isArray(each)) {
        if (misfit('names', each) !== null) this.#refuse(place.from, 'takes names of properties')
        copy.dependentRequired = { ...(copy.dependentRequired as Keywords | undefined), [key]: [...each] }
      } else schemas.push([key, this.#schema(each, place)])
    }
    if (name === 'properties') this.#inherited(schemas.map(([key]) => key))
    if (target === name || schemas.length > 0) copy[target] = Object.fromEntries(schemas)
  }

  /** Unknown keywords are copied, unless one looks like a typo or holds a schema: nothing would check by it. */
  #unknown(copy: Keywords, name: string, value: unknown, at: string): void {
    if (name === '__proto__') return
    if (!this.#isStrict) {
      copy[name] = value
      return
    }
    const meant = /^[a-z]{6,}$/i.test(name) && !others.has(name) ? nearest(name, [...keywords.keys()]) : null
    if (meant !== null) this.#refuse(at, `is no keyword of JSON Schema; did you mean "${meant}"?`)
    if (!others.has(name) && /^(?!x-)\w/.test(name) && looksLikeSchema(value)) {
      this.#refuse(
        at,
        'holds a schema and is no keyword of JSON Schema: a property belongs into `properties`',
      )
    }
    const json = asJSON(value)
    if (json !== undefined) copy[name] = json
  }

  #inherited(properties: readonly string[]): void {
    this.#namesInherited ||= properties.some((each) => each in Object.prototype)
  }

  /** TypeBox hides functions from JSON: they would never run. */
  #refuseForeign(given: object, from: string): void {
    if ('~standard' in given) {
      this.#refuse(from, 'is of another library; one library makes the whole of a schema')
    }
    if ('~refine' in given || '~codec' in given || symbolsOf(given).includes('TypeBox.Transform')) {
      this.#refuse(from, 'has a refinement or a codec of TypeBox, which is no JSON Schema and would not run')
    }
  }

  #json(value: unknown, at: string): unknown {
    if (!this.#isStrict) return value
    const json = asJSON(value)
    return json === undefined ? this.#refuse(at, `takes JSON, not ${briefValue(value)}`) : json
  }
}

const references: readonly string[] = ['$ref', '$dynamicRef', '$recursiveRef']

/** Writes keywords of older drafts, and of OpenAPI 3.0, as draft 2020-12 does. */
function modernise(copy: Keywords): void {
  // Without items by position `additionalItems` has no meaning.
  if (copy.additionalItems !== undefined && copy.prefixItems !== undefined) copy.items = copy.additionalItems
  delete copy.additionalItems
  if (copy.nullable === true && typeof copy.type === 'string') copy.type = [copy.type, 'null']
  delete copy.nullable
}

/** The references of the copy are pointers, so these have no use; `$async` would change what Ajv makes of it. */
const dropped: ReadonlySet<string> = new Set(['$schema', '$id', '$recursiveAnchor', '$vocabulary', '$async'])

/** True for a schema of any library, and for plain JSON Schema. */
function looksLikeSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('~standard' in value) return true
  const fits = ([name, each]: [string, unknown]): boolean => {
    const kind = keywords.get(name)
    return kind === undefined || misfit(kind, each) === null
  }
  return isPlainSchema(value) && Object.entries(value).every(fits)
}

/** These are keywords of other tools that are near to one of the drafts, or whose value may look like a schema. */
const others: ReadonlySet<string> = new Set(['example', 'errorMessage'])

/** Gives a copy; undefined for what JSON cannot carry. */
function asJSON(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  try {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** TypeBox before 1.0 marked its schemas with symbols. */
function symbolsOf(given: object): (string | undefined)[] {
  return Object.getOwnPropertySymbols(given).map((symbol) => symbol.description)
}

/** Freezes `value` and all that it contains. */
export function frozen<T extends object>(value: T): T {
  for (const each of Object.values(value))
    if (typeof each === 'object' && each !== null) frozen(each as object)
  return Object.freeze(value)
}
