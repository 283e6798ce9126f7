/** Which properties and items a schema declares at one place of a value, worked out once for each place. */
import { isSchema, type JSONSchema, type JSONSchemaObject } from './document.ts'
import { fits } from './may-match.ts'
import { type Reading, SchemaDocument, itemsOf, record } from './alternatives.ts'
import { tagOf } from './discriminator.ts'

/** At most so many union branches are told apart; above it they are merged, which only lets more through. */
const mostReadings = 64

/** The place of a whole value. Nothing is worked out before it is asked for. */
export function placeOf(schema: JSONSchemaObject): Place {
  let place = roots.get(schema)
  if (place === undefined) {
    const document = new SchemaDocument(schema)
    place = new Places(document).at([document.reading([schema])])
    roots.set(schema, place)
  }
  return place
}

/** The branches of a union by the value of one property. */
export interface Tagged {
  readonly name: string
  readonly places: ReadonlyMap<unknown, Place>
}

const roots = new WeakMap<JSONSchemaObject, Place>()

/** The places of one schema: the same readings are the same place, so that recursive schemas have few. */
class Places {
  readonly document: SchemaDocument
  /** For all that can lose nothing. */
  readonly idle: Place
  readonly #known = new Map<string, Place>()

  constructor(document: SchemaDocument) {
    this.document = document
    this.idle = new Place(this, [document.reading([])])
  }

  at(readings: readonly Reading[]): Place {
    if (readings.every((reading) => reading.idle)) return this.idle
    const each = [...new Set(readings)].sort((a, b) => a.id - b.id)
    const key = each.map((reading) => reading.id).join()
    let place = this.#known.get(key)
    if (place === undefined) {
      place = new Place(this, each)
      this.#known.set(key, place)
    }
    return place
  }
}

/** The alternatives that hold where the value is; one of them, unless it is in a union. */
export class Place {
  /** True if nothing here or beneath can be undeclared. */
  readonly idle: boolean
  /** True if any property is let through as it is. Holds once branches are decided. */
  readonly opensObject: boolean
  /** True if any item is let through as it is. Holds once branches are decided. */
  readonly opensArray: boolean
  /** True if the same holds of every value that comes here: no branches. */
  readonly isDecided: boolean
  /** Names of properties in the schema, in its order. */
  readonly names: readonly string[]
  /** True if properties of other names can be declared. */
  readonly hasOthers: boolean
  /** Items after these are all alike. */
  readonly firstItems: number
  readonly #places: Places
  readonly #readings: readonly Reading[]
  readonly #decided = new Map<string, Place>()
  /** Those with a name in the schema; undefined until asked for. */
  readonly #properties = new Map<string, Place | null | undefined>()
  #tagged: { found: Tagged | null } | null = null
  readonly #positions = new Map<string, number>()
  readonly #byPatterns = new Map<string, Place | null>()
  readonly #patterns: RegExp[]
  readonly #items: (Place | undefined)[] = []
  readonly #inOrder: (Place | undefined)[] = []

  constructor(places: Places, readings: readonly Reading[]) {
    this.#places = places
    this.#readings = readings
    this.isDecided = readings.length === 1 && readings[0]?.groups.length === 0
    this.idle = readings.every((reading) => reading.idle)
    this.opensObject = readings.some((reading) => !reading.closesObject)
    this.opensArray = readings.some((reading) => !reading.closesArray)
    const parts = readings.flatMap((reading) => reading.parts)
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

  /** Where one property tells the branches apart: the place that each of its values decides for. */
  get tagged(): Tagged | null {
    this.#tagged ??= { found: this.#findTag() }
    return this.#tagged.found
  }

  /** This place, with the branches that fit this value. */
  decide(value: object): Place {
    if (this.isDecided) return this
    const { tagged } = this
    const chosen = tagged?.places.get((value as Record<string, unknown>)[tagged.name])
    return chosen === undefined ? this.#decideByFit(value) : chosen.decide(value)
  }

  #decideByFit(value: object): Place {
    const { document } = this.#places
    let readings = this.#fitting(value, this.#readings)
    while (readings.some((reading) => reading.groups.length > 0)) {
      readings = readings.flatMap((reading) => combine(value, reading, document))
    }
    readings = this.#fitting(value, readings)
    const key = readings.map((reading) => reading.id).join()
    let place = this.#decided.get(key)
    if (place === undefined) {
      place = this.#places.at(readings)
      this.#decided.set(key, place)
    }
    return place
  }

  /** The place of that property, or null if it is not declared. */
  property(name: string): Place | null {
    const known = this.#properties.get(name)
    if (known !== undefined) return known
    if (name === '__proto__') return null
    if (!this.#properties.has(name)) return this.#unnamed(name)
    const place = this.#child((part) => propertyOf(part, name))
    this.#properties.set(name, place)
    return place
  }

  /** `property(name)`, soon where the properties of a value are in the order of the schema: it is the `at`-th of them. */
  propertyAt(at: number, name: string): Place | null {
    if (this.names[at] !== name) return this.property(name)
    return (this.#inOrder[at] ??= this.property(name) as Place)
  }

  /** Where among its siblings that property is written: as in the schema, and what is not in it last. */
  positionOf(name: string): number {
    return this.#positions.get(name) ?? this.names.length
  }

  /** The place of that item. */
  item(at: number): Place {
    const kept = Math.min(at, this.firstItems)
    let place = this.#items[kept]
    if (place === undefined) {
      place = this.#child((part) => itemOf(part, kept)) ?? this.#places.idle
      this.#items[kept] = place
    }
    return place
  }

  #findTag(): Tagged | null {
    const [reading] = this.#readings
    const [group, other] = reading?.groups ?? []
    if (reading === undefined || this.#readings.length > 1 || group === undefined || other !== undefined)
      return null
    const { document } = this.#places
    const tag = tagOf(group.map((branch) => document.reading([branch])))
    if (tag === null) return null
    const places = group.map((branch) => this.#places.at([document.choose(reading, [branch])]))
    return { name: tag.name, places: new Map(tag.values.map((value, at) => [value, places[at] as Place])) }
  }

  #fitting(value: object, readings: readonly Reading[]): readonly Reading[] {
    if (readings.length === 1) return readings
    const { document } = this.#places
    const each = readings.filter((reading) => reading.parts.every((part) => fits(value, part, document)))
    return each.length === 0 ? readings : each
  }

  #unnamed(name: string): Place | null {
    const key = this.#patterns.map((pattern) => (pattern.test(name) ? '1' : '0')).join('')
    let place = this.#byPatterns.get(key)
    if (place === undefined) {
      place = this.#child((part) => propertyOf(part, name))
      this.#byPatterns.set(key, place)
    }
    return place
  }

  /** All alternatives that declare it; what holds together in one of them holds together beneath. */
  #child(schemasOf: (part: JSONSchemaObject) => readonly JSONSchema[]): Place | null {
    const { document } = this.#places
    const each = this.#readings
      .map(({ parts }) => parts.flatMap(schemasOf))
      .filter(({ length }) => length > 0)
    if (each.length === 0) return null
    if (each.flat().every((schema) => document.isIdle(schema))) return this.#places.idle
    return this.#places.at(each.map((schemas) => document.reading(schemas)))
  }
}

/** What a value can be that is `reading`: one branch of each group, of those that fit. */
function combine(value: object, reading: Reading, document: SchemaDocument): Reading[] {
  let choices: JSONSchema[][] = [[]]
  for (const group of reading.groups) {
    const fitting = group.filter((branch) => fits(value, branch, document))
    const branches = fitting.length === 0 ? group : fitting
    if (choices.length * branches.length > mostReadings)
      choices = choices.map((each) => [...each, ...branches])
    else choices = choices.flatMap((each) => branches.map((branch) => [...each, branch]))
  }
  return choices.map((chosen) => document.choose(reading, chosen))
}

/** What one schema says about a property: nothing if it does not declare it. */
function propertyOf(part: JSONSchemaObject, name: string): JSONSchema[] {
  const found: JSONSchema[] = []
  const properties = record(part.properties)
  if (Object.hasOwn(properties, name)) found.push(properties[name] as JSONSchema)
  for (const [source, schema] of Object.entries(record(part.patternProperties))) {
    if (patternOf(source).test(name)) found.push(schema as JSONSchema)
  }
  if (found.length > 0) return found
  const rest = restOf(part)
  return rest === null ? [] : [rest]
}

/** The schema of properties that are not named; null if there are to be none. */
function restOf(part: JSONSchemaObject): JSONSchema | null {
  const rest = part.additionalProperties ?? part.unevaluatedProperties
  return isSchema(rest) && rest !== false ? rest : null
}

function itemOf(part: JSONSchemaObject, at: number): JSONSchema[] {
  const { first, rest } = itemsOf(part)
  const of = first[at] ?? rest
  return of === null ? [] : [of]
}

/** A pattern that is none matches nothing. */
function patternOf(source: string): RegExp {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(source, flags)
    } catch {}
  }
  return /(?!)/
}
