/**
 * The schemas of a document. What is used in one place stands there; what is used in several, what has a name of its
 * own and what refers to itself stands in `components/schemas` and is referred to. Which of these holds is known once
 * all routes were seen: until then every use is an empty object, which `finish` fills in.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Hole } from '../schema/unrepresentable.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types/parts.ts'
import { discriminate } from './discriminator.ts'
import type { JSONSchemaObject } from './types.ts'
import { Fingerprints, Shapes } from './fingerprint.ts'
import { assignNames, baseOfKey, baseOfText, nameIn } from './names.ts'
import { isObject, mapSubschemas, type Resolve, resolverOf, type Target } from '../schema/document.ts'
import { readable, withDoubleIntegers } from './wording.ts'

/** `input`: what a client sends; `output`: what it is sent. */
export type Direction = 'input' | 'output'
/** A schema without JSON Schema, and who has it. */
export interface Opaque {
  readonly schema: Schema
  /** `POST /users: body`. */
  readonly where: string
  readonly reason: string
}

/** A schema whose JSON Schema says nothing of some parts, and who has it. */
export interface Partly {
  /** `POST /users: body`. */
  readonly where: string
  readonly direction: Direction
  /** The library it is of; '' for none. */
  readonly vendor: string
  /** The same array for the same schema. */
  readonly holes: readonly Hole[]
}

/** One property of an object. */
export interface Property {
  readonly name: string
  readonly required: boolean
  readonly raw: JSONSchemaObject
  /** Filled in by `finish`. */
  readonly schema: JSONSchemaObject
}

/** A JSON Schema with a place of its own in a document: a whole one, or one of its definitions. */
interface Resource {
  base: string
  /** By a title, an id or the key of a definition. */
  isNamed: boolean
  readonly direction: Direction
  /** Clients are sent it, be it the form of what they send. */
  isSent: boolean
  readonly raw: JSONSchemaObject
  /** What its references are relative to. */
  readonly root: Root
  /** True if it may become a component: a scalar is not worth a name. */
  readonly shareable: boolean
  /** A component even if it is used once. */
  kept: boolean
  /** Of the error whose data it is in all its uses; null if there is no such one, undefined before the first. */
  code: string | null | undefined
  /** Null before it is needed. */
  body: JSONSchemaObject | null
  /** That which stands for both, where there is one. */
  into: Resource | null
  readonly slots: JSONSchemaObject[]
}

/** What references in one JSON Schema are relative to. */
interface Root {
  readonly raw: JSONSchemaObject
  readonly direction: Direction
  readonly base: string
  /** The base is no name of its own. */
  readonly isHinted: boolean
  readonly resolve: Resolve
  whole: Resource | null
}

export class Components {
  readonly opaque: Opaque[] = []
  readonly #partly = new Map<readonly Hole[], Partly>()
  readonly #resources: Resource[] = []
  /** By what it says, definitions included, under its base name. */
  readonly #known = new Map<string, Resource>()
  readonly #uses = new Map<Schema, Map<Direction, Resource>>()
  /** By what it says, for the same object inside others. */
  readonly #shareable = new Map<string, Resource>()
  /** What those say without their definitions: most objects inside others say nothing of the kind. */
  readonly #shareableTexts = new Set<string>()
  readonly #fingerprints = new Fingerprints()
  readonly #shapes = new Shapes()
  readonly #later: (() => void)[] = []
  /** Schemas in the document with `oneOf` or `anyOf`. */
  readonly #unions: JSONSchemaObject[] = []
  readonly #fixed: Readonly<Record<string, JSONSchemaObject>>

  /** `fixed` are components that are there in any case. */
  constructor(fixed: Readonly<Record<string, JSONSchemaObject>>) {
    this.#fixed = fixed
  }

  /** In the order they were found. */
  get partly(): readonly Partly[] {
    return [...this.#partly.values()]
  }

  /** The JSON Schema, null if there is none: said once for each schema. */
  raw(schema: Schema, direction: Direction, where: string): JSONSchemaObject | null {
    const result = jsonSchemaOf(schema, direction)
    if ('schema' in result) {
      const { holes } = result
      if (holes !== undefined && !this.#partly.has(holes))
        this.#partly.set(holes, { where, direction, vendor: vendorOf(schema), holes })
      return readable(result.schema)
    }
    if (!this.opaque.some((each) => each.schema === schema)) {
      this.opaque.push({ schema, where, reason: result.opaque })
    }
    return null
  }

  /**
   * `schema` in one place; `hint` names it where it has no name itself, and so does `code` where all places have it.
   */
  use(
    schema: Schema,
    direction: Direction,
    hint: string,
    where: string,
    code: string | null = null,
  ): JSONSchemaObject {
    const raw = this.raw(schema, direction, where)
    if (raw === null) {
      return { description: 'Checked by the server with a schema that JSON Schema cannot express.' }
    }
    const uses = this.#uses.get(schema) ?? new Map<Direction, Resource>()
    this.#uses.set(schema, uses)
    const resource = uses.get(direction) ?? this.#first(rootOf(raw, direction, hint), uses)
    uses.set(direction, resource)
    resource.code = resource.code === undefined || resource.code === code ? code : null
    const slot = {}
    resource.slots.push(slot)
    return slot
  }

  /**
   * The properties of an object schema for text of a request's head; null for one that is none, or whose properties
   * depend on each other.
   */
  properties(schema: Schema, where: string): Property[] | null {
    const raw = this.raw(schema, 'input', where)
    if (raw === null) return null
    const root = rootOf(raw, 'input', where)
    const found = propertiesOf(raw, root, 0)
    if (found === null) return null
    return [...found.properties].map(([name, each]) => {
      const { description: _, deprecated: __, ...rest } = each
      const slot = {}
      this.#later.push(() => this.#convertInto(slot, withDoubleIntegers(rest), root))
      return { name, required: found.required.has(name), raw: each, schema: slot }
    })
  }

  /** Fills in every use, in steps of one schema; gives what `components/schemas` is, by name. */
  *finish(): Generator<void, Record<string, JSONSchemaObject>> {
    for (const resource of this.#resources) {
      if (!resource.shareable) continue
      yield
      const said = this.#said(resource)
      if (!this.#shareable.has(said)) this.#shareable.set(said, resource)
      this.#shareableTexts.add(this.#fingerprints.text(resource.raw))
    }
    // The operations come first: a schema inside an operation that is left out is used nowhere.
    yield* this.#merge()
    for (const work of this.#later) {
      work()
      yield
    }
    // Grows while definitions are found.
    for (let at = 0; at < this.#resources.length; at++) {
      const resource = this.#resources[at] as Resource
      if (resource.into === null) this.#bodyOf(resource)
      yield
    }
    yield* this.#merge()
    const left = this.#resources.filter(({ into }) => into === null)
    const shared = left.filter(({ kept, shareable, slots }) => kept || (shareable && slots.length > 1))
    yield
    this.#callByCodes(shared)
    yield
    const names = assignNames(shared, Object.keys(this.#fixed))
    for (const [resource, name] of names) {
      yield
      for (const slot of resource.slots) slot['$ref'] = referenceTo(name)
    }
    const bodies = new Map([...names].map(([resource, name]) => [referenceTo(name), this.#bodyOf(resource)]))
    for (const union of this.#unions) {
      discriminate(union, (ref) => bodies.get(ref))
      yield
    }
    // After those above: what stands in one place may itself be a reference.
    for (const resource of left) {
      if (names.has(resource)) continue
      for (const slot of resource.slots) Object.assign(slot, this.#bodyOf(resource))
      yield
    }
    const components = Object.entries(this.#fixed)
    for (const [resource, name] of names) {
      const body = this.#bodyOf(resource)
      // Generators call types by their titles: two of one title would be two types of one name.
      if (typeof body['title'] === 'string' && baseOfText(body['title']) !== name) body['title'] = name
      components.push([name, body])
    }
    yield
    return Object.fromEntries(components.toSorted(([a], [b]) => (a < b ? -1 : 1)))
  }

  /**
   * One resource where several can be: of what is sent and received under one name or by one schema, and of parts without
   * a name that refer to themselves.
   */
  *#merge(): Generator<void> {
    const groups = new Map<unknown, Resource[]>()
    const put = (key: unknown, resource: Resource): void => {
      const group = groups.get(key) ?? []
      groups.set(key, group)
      group.push(resource)
    }
    for (const resource of this.#resources) {
      if (resource.into !== null) continue
      if (resource.isNamed) put(resource.base, resource)
      else if (resource.kept) put(this.#shapes.text(resource), resource)
      yield
    }
    for (const [schema, uses] of this.#uses)
      for (const resource of uses.values()) put(schema, standing(resource))
    for (const group of groups.values()) {
      yield
      // Inputs come first: their form holds for the outputs of the group.
      const [...all] = group.toSorted(
        (a, b) => Number(a.direction === 'output') - Number(b.direction === 'output'),
      )
      for (const [at, each] of all.entries()) {
        if (each.into !== null) continue
        for (const other of all.slice(at + 1)) {
          if (other !== each && other.into === null && this.#shapes.covers(each, other)) merge(each, other)
        }
      }
    }
  }

  /** Where nothing else is called so: what an error's code calls does not depend on the order of routes. */
  #callByCodes(shared: readonly Resource[]): void {
    const bases = new Map<Resource, string>()
    const uses = new Map(Object.keys(this.#fixed).map((name) => [name, 1]))
    for (const resource of shared) {
      const { code, raw, root, base } = resource
      const isCalled = typeof code === 'string' && root.isHinted && raw === root.raw
      const wanted = isCalled ? baseOfText(code.toLowerCase()) : base
      if (isCalled) bases.set(resource, wanted)
      uses.set(wanted, (uses.get(wanted) ?? 0) + 1)
    }
    for (const [resource, base] of bases) if (uses.get(base) === 1) resource.base = base
  }

  /** One for both directions where the schema says the same of them. */
  #first(root: Root, others: ReadonlyMap<Direction, Resource>): Resource {
    const said = this.#fingerprints.of(root.raw, root.resolve)
    return [...others.values()].find((each) => this.#said(each) === said) ?? this.#whole(root)
  }

  #said({ raw, root }: Resource): string {
    return this.#fingerprints.of(raw, root.resolve)
  }

  #whole(root: Root): Resource {
    const { raw, base, direction } = root
    const shareable = isShareable(raw)
    root.whole ??= this.#resource(raw, root, base, direction, {
      shareable,
      kept: shareable && typeof raw['title'] === 'string',
      isNamed: !root.isHinted,
    })
    return standing(root.whole)
  }

  #resource(
    raw: JSONSchemaObject,
    root: Root,
    base: string,
    direction: Direction,
    { shareable, kept, isNamed }: Pick<Resource, 'shareable' | 'kept' | 'isNamed'>,
  ): Resource {
    const key = `${base}\n${this.#fingerprints.of(raw, root.resolve)}`
    const before = this.#known.get(key)
    if (before !== undefined) {
      const known = standing(before)
      known.isNamed ||= isNamed
      return known
    }
    const resource: Resource = {
      base,
      isNamed,
      direction,
      isSent: direction === 'output',
      raw,
      root,
      shareable,
      kept,
      code: undefined,
      body: null,
      into: null,
      slots: [],
    }
    this.#known.set(key, resource)
    this.#resources.push(resource)
    return resource
  }

  #bodyOf(resource: Resource): JSONSchemaObject {
    if (resource.body !== null) return resource.body
    resource.body = {}
    this.#convertInto(resource.body, resource.raw, resource.root)
    return resource.body
  }

  #convertInto(target: JSONSchemaObject, raw: JSONSchemaObject, root: Root): void {
    const { $schema: _, $id: __, $defs: ___, definitions: ____, $ref, $dynamicRef, ...all } = raw
    const { $anchor: _____, $dynamicAnchor: ______, ...rest } = all
    Object.assign(
      target,
      mapSubschemas(rest, (each) => this.#nested(each, root)),
    )
    if (rest['oneOf'] !== undefined || rest['anyOf'] !== undefined) this.#unions.push(target)
    const ref = $ref ?? $dynamicRef
    if (typeof ref === 'string') this.#refer(target, ref, root)
  }

  #nested(raw: JSONSchemaObject, root: Root): JSONSchemaObject {
    const target = {}
    const same =
      isShareable(raw) && this.#shareableTexts.has(this.#fingerprints.text(raw))
        ? this.#shareable.get(this.#fingerprints.of(raw, root.resolve))
        : undefined
    if (same === undefined) this.#convertInto(target, raw, root)
    else standing(same).slots.push(target)
    return target
  }

  #refer(target: JSONSchemaObject, ref: string, root: Root): void {
    const found = root.resolve(ref)
    if (found === null) {
      // What is elsewhere may be there; in the document it is not.
      if (!ref.startsWith('#')) target['$ref'] = ref
    } else if (found.schema === root.raw) this.#kept(root).slots.push(target)
    else if (found.schema === false) target['not'] = {}
    // Anything, as `true` is.
    else if (found.schema !== true && Object.keys(found.schema).length > 0) {
      this.#part(found.schema, found, root).slots.push(target)
    }
  }

  #kept(root: Root): Resource {
    const resource = this.#whole(root)
    resource.kept = true
    return resource
  }

  #part(raw: JSONSchemaObject, { key, isDefinition }: Target, root: Root): Resource {
    const title = raw['title']
    // Zod numbers definitions that have no name.
    const unnamed = key === '' || key.startsWith('__')
    const isTitled = typeof title === 'string' && nameIn(title) !== '' && (unnamed || !isDefinition)
    const base = isTitled
      ? baseOfText(title)
      : unnamed
        ? `${root.base}Part`
        : isDefinition
          ? baseOfKey(key)
          : `${root.base}${baseOfText(key)}`
    return this.#resource(raw, root, base, root.direction, {
      shareable: true,
      kept: true,
      isNamed: isTitled || (isDefinition && !unnamed),
    })
  }
}

function vendorOf(schema: Schema): string {
  return (schema as Partial<StandardSchemaV1>)['~standard']?.vendor ?? ''
}

function referenceTo(name: string): string {
  return `#/components/schemas/${name}`
}

/** The one that stands for it. */
function standing(resource: Resource): Resource {
  let at = resource
  while (at.into !== null) at = at.into
  return at
}

function merge(into: Resource, from: Resource): void {
  from.into = into
  into.slots.push(...from.slots)
  into.kept ||= from.kept
  into.isSent ||= from.isSent
  if (into.code !== from.code) into.code = null
}

function rootOf(raw: JSONSchemaObject, direction: Direction, hint: string): Root {
  const { title, $id } = raw
  const own =
    typeof title === 'string' && nameIn(title) !== ''
      ? nameIn(title)
      : typeof $id === 'string'
        ? baseOfKey($id.slice($id.search(/[^/#]*#?$/)).replace(/(\.schema)?\.json$|#$/g, ''))
        : null
  const base = own ?? baseOfText(hint)
  return { raw, direction, base, isHinted: own === null, resolve: resolverOf(raw), whole: null }
}

/** Objects and choices; a scalar, and a reference, is as short as a reference to it. */
function isShareable(raw: JSONSchemaObject): boolean {
  if (isObject(raw['properties'])) return true
  return [raw['anyOf'], raw['oneOf'], raw['allOf']].some((each) => Array.isArray(each) && each.length > 1)
}

/** Deeper than this nobody nests an intersection; references may go in circles. */
const deepest = 16

interface Found {
  readonly properties: Map<string, JSONSchemaObject>
  readonly required: Set<string>
}

function propertiesOf(raw: JSONSchemaObject, root: Root, depth: number): Found | null {
  if (depth > deepest) return null
  if (['anyOf', 'oneOf', 'not', 'if', 'patternProperties'].some((each) => raw[each] !== undefined))
    return null
  const { $ref, allOf, properties, additionalProperties, required } = raw
  const found: Found = {
    properties: new Map(isObject(properties) ? Object.entries(properties).filter(hasSchema) : []),
    required: new Set(Array.isArray(required) ? (required as string[]) : []),
  }
  const parts: unknown[] = Array.isArray(allOf) ? [...allOf] : []
  if (typeof $ref === 'string') parts.push(root.resolve($ref)?.schema)
  for (const part of parts) {
    const inside = isObject(part) ? propertiesOf(part, root, depth + 1) : null
    if (inside === null) return null
    for (const [name, each] of inside.properties) {
      const before = found.properties.get(name)
      found.properties.set(name, before === undefined ? each : { allOf: [before, each] })
    }
    for (const name of inside.required) found.required.add(name)
  }
  // An object of any names has no properties to list.
  const listed = found.properties.size > 0 || additionalProperties === false || raw['type'] === undefined
  return listed || additionalProperties === undefined ? found : null
}

function hasSchema(entry: [string, unknown]): entry is [string, JSONSchemaObject] {
  return isObject(entry[1])
}
