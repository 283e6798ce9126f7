/**
 * The schemas of a document. What is used in one place stands there; what is used in several, what has a name of its
 * own and what refers to itself stands in `components/schemas` and is referred to. Which of these holds is known once
 * all routes were seen: until then every use is an empty object, which `finish` fills in.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Hole } from '../schema/holes.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types.ts'
import type { JSONSchemaObject } from './document.ts'
import { Fingerprints } from './fingerprint.ts'
import { assignNames, baseOfKey, baseOfText } from './names.ts'
import { type Resolve, resolverOf, type Target } from './references.ts'
import { withoutSafeBounds } from './safe-bounds.ts'
import { isObject, mapSubschemas } from './subschemas.ts'

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
  readonly raw: JSONSchemaObject
  /** What its references are relative to. */
  readonly root: Root
  /** Of use in one place as well as in several: a scalar is not worth a name. */
  readonly shareable: boolean
  /** A component even if it is used once. */
  kept: boolean
  /** Of the error whose data it is in all its uses; null if there is no such one, undefined before the first. */
  code: string | null | undefined
  /** Null before it is needed. */
  body: JSONSchemaObject | null
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
  readonly #later: (() => void)[] = []
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
      return direction === 'output' ? withoutSafeBounds(result.schema) : result.schema
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

  /** The properties of an object schema; null for one that is none, or whose properties depend on each other. */
  properties(schema: Schema, direction: Direction, where: string): Property[] | null {
    const raw = this.raw(schema, direction, where)
    if (raw === null) return null
    const root = rootOf(raw, direction, where)
    const found = propertiesOf(raw, root, 0)
    if (found === null) return null
    return [...found.properties].map(([name, each]) => {
      const { description: _, deprecated: __, ...rest } = each
      const slot = {}
      this.#later.push(() => this.#convertInto(slot, rest, root))
      return { name, required: found.required.has(name), raw: each, schema: slot }
    })
  }

  /** Fills in every use; gives what `components/schemas` is, by name. */
  finish(): Record<string, JSONSchemaObject> {
    for (const resource of this.#resources) {
      if (!resource.shareable) continue
      const said = this.#said(resource)
      if (!this.#shareable.has(said)) this.#shareable.set(said, resource)
      this.#shareableTexts.add(this.#fingerprints.text(resource.raw))
    }
    for (const work of this.#later) work()
    // Grows while definitions are found.
    for (let at = 0; at < this.#resources.length; at++) this.#bodyOf(this.#resources[at] as Resource)
    const shared = this.#resources.filter(
      ({ kept, shareable, slots }) => kept || (shareable && slots.length > 1),
    )
    this.#callByCodes(shared)
    const names = assignNames(shared, Object.keys(this.#fixed))
    for (const [resource, name] of names) {
      for (const slot of resource.slots) slot['$ref'] = `#/components/schemas/${name}`
    }
    // After those above: what stands in one place may itself be a reference.
    for (const resource of this.#resources) {
      if (names.has(resource)) continue
      for (const slot of resource.slots) Object.assign(slot, this.#bodyOf(resource))
    }
    const components = [...names].map(([resource, name]) => [name, this.#bodyOf(resource)] as const)
    return Object.fromEntries(
      [...Object.entries(this.#fixed), ...components].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
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
    return (root.whole ??= this.#resource(raw, root, base, direction, {
      shareable,
      kept: shareable && typeof raw['title'] === 'string',
      isNamed: !root.isHinted,
    }))
  }

  #resource(
    raw: JSONSchemaObject,
    root: Root,
    base: string,
    direction: Direction,
    { shareable, kept, isNamed }: Pick<Resource, 'shareable' | 'kept' | 'isNamed'>,
  ): Resource {
    const key = `${base}\n${this.#fingerprints.of(raw, root.resolve)}`
    const known = this.#known.get(key)
    if (known !== undefined) {
      known.isNamed ||= isNamed
      return known
    }
    const resource: Resource = {
      base,
      isNamed,
      direction,
      raw,
      root,
      shareable,
      kept,
      code: undefined,
      body: null,
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
    else same.slots.push(target)
    return target
  }

  #refer(target: JSONSchemaObject, ref: string, root: Root): void {
    const found = root.resolve(ref)
    if (found === null) {
      // What is elsewhere may be there; in the document it is not.
      if (!ref.startsWith('#')) target['$ref'] = ref
    } else if (found.schema === root.raw) this.#kept(root).slots.push(target)
    else if (found.schema === false) target['not'] = {}
    else if (found.schema !== true) this.#part(found.schema, found, root).slots.push(target)
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
    const isTitled = typeof title === 'string' && (unnamed || !isDefinition)
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

function rootOf(raw: JSONSchemaObject, direction: Direction, hint: string): Root {
  const { title, $id } = raw
  const base =
    typeof title === 'string'
      ? baseOfText(title)
      : typeof $id === 'string'
        ? baseOfKey($id.slice($id.search(/[^/#]*#?$/)).replace(/(\.schema)?\.json$|#$/g, ''))
        : baseOfText(hint)
  const isHinted = typeof title !== 'string' && typeof $id !== 'string'
  return { raw, direction, base, isHinted, resolve: resolverOf(raw), whole: null }
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
