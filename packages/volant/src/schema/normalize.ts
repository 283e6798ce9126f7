/**
 * Plain JSON Schema, checked and copied: whatever draft it was written in, the copy is of draft 2020-12, refers to its
 * own parts by pointers alone, and is nobody else's. A mistake in it is found when the route is registered, by a walk
 * of microseconds; to compile the draft's own meta-schema would cost 50 ms of start-up.
 */
import { VolantError } from '../errors/errors.ts'
import { nearest } from '../options/option-names.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { JSONSchemaObject } from './document.ts'
import { escapeKey } from './json-pointer.ts'
import { keywords, misfit, notAsserting, regularExpression } from './keywords.ts'
import { type Base, References } from './references.ts'

/** A schema that can be compiled, and what of it decides how. */
export interface Draft {
  /** Of draft 2020-12. */
  readonly schema: JSONSchemaObject
  /** It has a `default` somewhere. */
  readonly hasDefaults: boolean
  /** It names a property that every object inherits, as `constructor`. */
  readonly namesInherited: boolean
  /** It refers to what contains it, so that values may be as deep as they like. */
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

/** Throws `E_BAD_SCHEMA` with the place of what is wrong; `where` names the schema itself. */
export function readDraft(given: object, where: string): Draft {
  return new Reader(where).read(given)
}

type Members = Record<string, unknown>

/** Where a schema stood and where it stands in the copy, as pointers; and what its references begin at. */
interface Place {
  readonly from: string
  readonly to: string
  readonly base: Base
}

const drafts = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12|draft\/2019-09|draft-0[67])\/schema#?$/

class Reader {
  readonly #where: string
  readonly #references = new References()
  readonly #above = new Set<object>()
  #hasDefaults = false
  #namesInherited = false
  /** It has a `$dynamicRef`, which may lead anywhere. */
  #isDynamic = false

  constructor(where: string) {
    this.#where = where
  }

  read(given: object): Draft {
    const { $schema } = given as Members
    if ($schema !== undefined && !(typeof $schema === 'string' && drafts.test($schema))) {
      this.#refuse('#/$schema', `is draft 2020-12, 2019-09, 07 or 06, not ${briefValue($schema)}`)
    }
    const schema = this.#schema(given, { from: '#', to: '#', base: { uri: '', pointer: '#' } }) as Members
    const [lost] = this.#references.resolve()
    if (lost !== undefined) {
      this.#refuse(`${lost.at}/$ref`, `leads nowhere, and nothing is loaded: ${briefValue(lost.to)}`)
    }
    return {
      schema,
      hasDefaults: this.#hasDefaults,
      namesInherited: this.#namesInherited,
      isRecursive: this.#isDynamic || this.#references.areRecursive(schema),
    }
  }

  #schema(given: unknown, place: Place): unknown {
    if (typeof given === 'boolean') {
      this.#references.add({ from: place.from, to: place.to, schema: given })
      return given
    }
    if (typeof given !== 'object' || given === null || Array.isArray(given)) {
      return this.#refuse(place.from, `takes a schema, not ${briefValue(given)}`)
    }
    if ('~standard' in given) {
      this.#refuse(place.from, 'is of another library; one library makes the whole of a schema')
    }
    this.#refuseFunctions(given, place.from)
    if (this.#above.has(given)) this.#refuse(place.from, 'contains itself; refer to it by $ref')
    this.#above.add(given)
    const copy = this.#copy(given as Members, place)
    this.#above.delete(given)
    return copy
  }

  #copy(given: Members, { from, to, base: outer }: Place): Members {
    const copy: Members = {}
    const base = typeof given.$id === 'string' ? this.#references.enter(given.$id, outer, from) : outer
    this.#references.add({ from, to, schema: copy })
    for (const [name, value] of Object.entries(given)) {
      if (value === undefined || dropped.has(name)) continue
      const kind = keywords.get(name)
      const place = { from: `${from}/${escapeKey(name)}`, to: `${to}/${name}`, base }
      if (kind === undefined) this.#unknown(copy, name, value, place.from)
      else if (kind === 'schema') this.#one(copy, name, value, place)
      else if (kind === 'schemas') copy[name] = this.#list(value, place)
      else if (kind === 'named') this.#named(copy, name, value, place, to)
      else {
        const plain = value instanceof RegExp ? this.#source(value, place.from) : value
        const takes = misfit(kind, plain)
        if (takes !== null) this.#refuse(place.from, `takes ${takes}, not ${briefValue(value)}`)
        if (name === '$ref' || name === '$recursiveRef') {
          this.#references.refer({ at: from, to: plain as string, base, schema: copy })
        } else if (name !== '$anchor') copy[name] = this.#json(plain, place.from)
        if (name === 'default') this.#hasDefaults = true
        else if (name === '$dynamicRef') this.#isDynamic = true
        else if (name === '$anchor' || name === '$dynamicAnchor') this.#references.anchor(plain, base, from)
        else if (name === 'required') this.#inherited(plain as readonly string[])
      }
    }
    modernise(copy)
    return copy
  }

  /** Items by position are `prefixItems` now, and those after them `items`. */
  #one(copy: Members, name: string, value: unknown, place: Place): void {
    if (name === 'items' && Array.isArray(value)) {
      copy.prefixItems = this.#list(value, { ...place, to: place.to.replace(/items$/, 'prefixItems') })
    } else {
      const to = place.to.replace(/additionalItems$/, 'items')
      copy[name] = this.#schema(value, { ...place, to })
    }
  }

  #list(value: unknown, { from, to, base }: Place): unknown[] {
    if (!Array.isArray(value) || value.length === 0) {
      return this.#refuse(from, `takes an array of schemas, not ${briefValue(value)}`)
    }
    return value.map((each, index) =>
      this.#schema(each, { from: `${from}/${index}`, to: `${to}/${index}`, base }),
    )
  }

  #named(copy: Members, name: string, value: unknown, { from, base }: Place, to: string): void {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return this.#refuse(from, `takes schemas by name, not ${briefValue(value)}`)
    }
    const target = name === 'dependencies' ? 'dependentSchemas' : name
    const schemas: Members = {}
    for (const [key, each] of Object.entries(value)) {
      const place = { from: `${from}/${escapeKey(key)}`, to: `${to}/${target}/${escapeKey(key)}`, base }
      // No request can have it, and as a key of an object it is no key.
      if (key === '__proto__') this.#refuse(from, 'has a key __proto__')
      if (name === 'patternProperties' && regularExpression(key) === null) {
        this.#refuse(place.from, 'is no regular expression')
      }
      if (name === 'dependencies' && Array.isArray(each)) {
        if (misfit('names', each) !== null) this.#refuse(place.from, 'takes names of properties')
        copy.dependentRequired = { ...(copy.dependentRequired as Members | undefined), [key]: [...each] }
      } else schemas[key] = this.#schema(each, place)
    }
    if (name === 'properties') this.#inherited(Object.keys(schemas))
    if (target === name || Object.keys(schemas).length > 0) copy[target] = schemas
  }

  /**
   * What no draft knows is for others, unless it looks like a slip or holds a schema: the schema would check less than
   * was meant.
   */
  #unknown(copy: Members, name: string, value: unknown, at: string): void {
    const meant = /^[a-z]{6,}$/i.test(name) && !others.has(name) ? nearest(name, [...keywords.keys()]) : null
    if (meant !== null) this.#refuse(at, `is no keyword of JSON Schema; did you mean "${meant}"?`)
    if (!others.has(name) && /^(?!x-)\w/.test(name) && isSchema(value)) {
      this.#refuse(
        at,
        'holds a schema and is no keyword of JSON Schema: a property belongs into `properties`',
      )
    }
    const json = asJSON(value)
    if (json !== undefined && name !== '__proto__') copy[name] = json
  }

  #inherited(properties: readonly string[]): void {
    this.#namesInherited ||= properties.some((each) => each in Object.prototype)
  }

  #source(pattern: RegExp, at: string): string {
    const { flags, source } = pattern
    if (/[^uv]/.test(flags)) this.#refuse(at, `has flags, which JSON Schema has not: ${flags}`)
    return source
  }

  /** TypeBox keeps functions out of sight: they are no part of the JSON Schema and would never run. */
  #refuseFunctions(given: object, from: string): void {
    if ('~refine' in given || '~codec' in given || symbolsOf(given).includes('TypeBox.Transform')) {
      this.#refuse(from, 'has a refinement or a codec of TypeBox, which is no JSON Schema and would not run')
    }
  }

  #json(value: unknown, at: string): unknown {
    const json = asJSON(value)
    return json === undefined ? this.#refuse(at, `takes JSON, not ${briefValue(value)}`) : json
  }

  #refuse(at: string, why: string): never {
    throw new VolantError('E_BAD_SCHEMA', `${this.#where}: ${at} ${why}`)
  }
}

/** What older drafts, and OpenAPI 3.0, say in other words. */
function modernise(copy: Members): void {
  // Without items by position it says nothing.
  if (copy.additionalItems !== undefined && copy.prefixItems !== undefined) copy.items = copy.additionalItems
  delete copy.additionalItems
  if (copy.nullable === true && typeof copy.type === 'string') copy.type = [copy.type, 'null']
  delete copy.nullable
}

/** Of no use in the copy, whose references are pointers; `$async` would change what Ajv makes of it. */
const dropped: ReadonlySet<string> = new Set(['$schema', '$id', '$recursiveAnchor', '$vocabulary', '$async'])

/** Tells whether it is a schema of any library, or a plain one. */
function isSchema(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if ('~standard' in value) return true
  const fits = ([name, each]: [string, unknown]): boolean => {
    const kind = keywords.get(name)
    return kind === undefined || misfit(kind, each) === null
  }
  return isPlainSchema(value) && Object.entries(value).every(fits)
}

/** Keywords of others that are near to one of the drafts, or whose value may look like a schema. */
const others: ReadonlySet<string> = new Set(['example', 'errorMessage'])

/** A copy; undefined for what JSON cannot carry. */
function asJSON(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  try {
    const text = JSON.stringify(value) as string | undefined
    return text === undefined ? undefined : (JSON.parse(text) as unknown)
  } catch {
    return undefined
  }
}

/** TypeBox before 1.0 marked what it made so. */
function symbolsOf(given: object): (string | undefined)[] {
  return Object.getOwnPropertySymbols(given).map((symbol) => symbol.description)
}

/** `value` and all in it. */
export function frozen<T extends object>(value: T): T {
  for (const each of Object.values(value))
    if (typeof each === 'object' && each !== null) frozen(each as object)
  return Object.freeze(value)
}
