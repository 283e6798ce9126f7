/**
 * The schemas of a document. What is used in one place stands there; what is used in several, what has a name of its
 * own and what refers to itself stands in `components/schemas` and is referred to. Which of these holds is known once
 * all routes were seen: until then every use is an empty object, which `finish` fills in.
 */
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types.ts'
import type { JSONSchemaObject } from './document.ts'
import { assignNames, baseOfKey, baseOfText } from './names.ts'
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
  readonly base: string
  readonly direction: Direction
  readonly raw: JSONSchemaObject
  /** What its references are relative to. */
  readonly root: Root
  /** Of use in one place as well as in several: a scalar is not worth a name. */
  readonly shareable: boolean
  /** A component even if it is used once. */
  kept: boolean
  /** Null before it is needed. */
  body: JSONSchemaObject | null
  readonly slots: { readonly slot: JSONSchemaObject; readonly suffix: string }[]
}

/** What references in one JSON Schema are relative to. */
interface Root {
  readonly raw: JSONSchemaObject
  readonly direction: Direction
  readonly base: string
  /** Definitions by whatever refers to them. */
  readonly definitions: Map<string, JSONSchemaObject>
  whole: Resource | null
}

export class Components {
  readonly opaque: Opaque[] = []
  readonly #resources: Resource[] = []
  /** By what it says, definitions included, under its base name. */
  readonly #known = new Map<string, Resource>()
  readonly #uses = new Map<Schema, Map<Direction, Resource>>()
  /** By what it says, for the same object inside others. */
  readonly #byText = new Map<string, Resource>()
  readonly #later: (() => void)[] = []
  readonly #fixed: Readonly<Record<string, JSONSchemaObject>>

  /** `fixed` are components that are there in any case. */
  constructor(fixed: Readonly<Record<string, JSONSchemaObject>>) {
    this.#fixed = fixed
  }

  /** The JSON Schema, null if there is none: said once for each schema. */
  raw(schema: Schema, direction: Direction, where: string): JSONSchemaObject | null {
    const result = jsonSchemaOf(schema, direction)
    if ('schema' in result) return result.schema
    if (!this.opaque.some((each) => each.schema === schema)) {
      this.opaque.push({ schema, where, reason: result.opaque })
    }
    return null
  }

  /** `schema` in one place; `hint` names it where it has no name itself. */
  use(schema: Schema, direction: Direction, hint: string, where: string): JSONSchemaObject {
    const raw = this.raw(schema, direction, where)
    if (raw === null) {
      return { description: 'Checked by the server with a schema that JSON Schema cannot express.' }
    }
    const uses = this.#uses.get(schema) ?? new Map<Direction, Resource>()
    this.#uses.set(schema, uses)
    const resource = uses.get(direction) ?? this.#first(rootOf(raw, direction, hint), uses)
    uses.set(direction, resource)
    const slot = {}
    resource.slots.push({ slot, suffix: '' })
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
      if (resource.shareable && !this.#byText.has(textOf(resource.raw))) {
        this.#byText.set(textOf(resource.raw), resource)
      }
    }
    for (const work of this.#later) work()
    // Grows while definitions are found.
    for (let at = 0; at < this.#resources.length; at++) this.#bodyOf(this.#resources[at] as Resource)
    const shared = this.#resources.filter(
      ({ kept, shareable, slots }) => kept || (shareable && slots.length > 1),
    )
    const names = assignNames(shared, Object.keys(this.#fixed))
    for (const [resource, name] of names) {
      for (const { slot, suffix } of resource.slots) slot['$ref'] = `#/components/schemas/${name}${suffix}`
    }
    // After those above: what stands in one place may itself be a reference.
    for (const resource of this.#resources) {
      if (names.has(resource)) continue
      for (const { slot } of resource.slots) Object.assign(slot, this.#bodyOf(resource))
    }
    const components = [...names].map(([resource, name]) => [name, this.#bodyOf(resource)] as const)
    return Object.fromEntries(
      [...Object.entries(this.#fixed), ...components].toSorted(([a], [b]) => (a < b ? -1 : 1)),
    )
  }

  /** One for both directions where the schema says the same of them. */
  #first(root: Root, others: ReadonlyMap<Direction, Resource>): Resource {
    const said = fingerprint(root.raw, root)
    return [...others.values()].find((each) => fingerprint(each.raw, each.root) === said) ?? this.#whole(root)
  }

  #whole(root: Root): Resource {
    const { raw, base, direction } = root
    const shareable = isShareable(raw)
    return (root.whole ??= this.#resource(raw, root, base, direction, {
      shareable,
      kept: shareable && typeof raw['title'] === 'string',
    }))
  }

  #resource(
    raw: JSONSchemaObject,
    root: Root,
    base: string,
    direction: Direction,
    { shareable, kept }: Pick<Resource, 'shareable' | 'kept'>,
  ): Resource {
    const key = `${base}\n${fingerprint(raw, root)}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const resource: Resource = { base, direction, raw, root, shareable, kept, body: null, slots: [] }
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
    const { $schema: _, $id: __, $defs: ___, definitions: ____, $ref, ...rest } = raw
    Object.assign(
      target,
      mapSubschemas(rest, (each) => this.#nested(each, root)),
    )
    if (typeof $ref !== 'string') return
    const found = this.#target($ref, root)
    if (found === null) target['$ref'] = $ref
    else found.resource.slots.push({ slot: target, suffix: found.suffix })
  }

  #nested(raw: JSONSchemaObject, root: Root): JSONSchemaObject {
    const target = {}
    const same = isShareable(raw) ? this.#byText.get(textOf(raw)) : undefined
    if (same === undefined) this.#convertInto(target, raw, root)
    else same.slots.push({ slot: target, suffix: '' })
    return target
  }

  /** What a reference leads to; null outside the schema. */
  #target(ref: string, root: Root): { resource: Resource; suffix: string } | null {
    const definition = root.definitions.get(ref)
    if (definition !== undefined) return { resource: this.#definition(ref, definition, root), suffix: '' }
    if (ref === '#' || ref === root.raw['$id']) return { resource: this.#kept(root), suffix: '' }
    for (const [key, each] of root.definitions) {
      if (ref.startsWith(`${key}/`)) {
        return { resource: this.#definition(key, each, root), suffix: ref.slice(key.length) }
      }
    }
    return ref.startsWith('#/') ? { resource: this.#kept(root), suffix: ref.slice(1) } : null
  }

  #kept(root: Root): Resource {
    const resource = this.#whole(root)
    resource.kept = true
    return resource
  }

  #definition(ref: string, raw: JSONSchemaObject, root: Root): Resource {
    const key = decodeURIComponent(ref.slice(ref.lastIndexOf('/') + 1))
    const title = raw['title']
    // Zod numbers definitions that have no name.
    const unnamed = key.startsWith('__')
    const base = unnamed
      ? typeof title === 'string'
        ? baseOfText(title)
        : `${root.base}Part`
      : baseOfKey(key)
    return this.#resource(raw, root, base, root.direction, { shareable: true, kept: true })
  }
}

function rootOf(raw: JSONSchemaObject, direction: Direction, hint: string): Root {
  const { title, $id } = raw
  const base =
    typeof title === 'string'
      ? baseOfText(title)
      : typeof $id === 'string'
        ? baseOfKey($id.slice($id.search(/[^/#]*#?$/)).replace(/(\.schema)?\.json$|#$/g, ''))
        : baseOfText(hint)
  const definitions = new Map<string, JSONSchemaObject>()
  collectDefinitions(raw, definitions)
  return { raw, direction, base, definitions, whole: null }
}

function collectDefinitions(raw: JSONSchemaObject, into: Map<string, JSONSchemaObject>): void {
  for (const keyword of ['$defs', 'definitions']) {
    if (!isObject(raw[keyword])) continue
    for (const [key, each] of Object.entries(raw[keyword])) {
      if (!isObject(each)) continue
      into.set(`#/${keyword}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`, each)
      // TypeBox refers to definitions by their key, others by their id.
      if (!into.has(key)) into.set(key, each)
      if (typeof each['$id'] === 'string') into.set(each['$id'], each)
    }
  }
  mapSubschemas(raw, (each) => {
    collectDefinitions(each, into)
    return each
  })
}

/** What a schema says, with the definitions it needs. */
function fingerprint(raw: JSONSchemaObject, { definitions }: Root): string {
  const needed = new Map<string, string>()
  const visit = (node: JSONSchemaObject): JSONSchemaObject => {
    const ref = node['$ref']
    const target = typeof ref === 'string' ? definitions.get(ref) : undefined
    if (target !== undefined && !needed.has(ref as string)) {
      needed.set(ref as string, textOf(target))
      visit(target)
    }
    const { $defs: _, definitions: __, ...rest } = node
    mapSubschemas(rest, visit)
    return node
  }
  visit(raw)
  return JSON.stringify([textOf(raw), ...[...needed].toSorted(([a], [b]) => (a < b ? -1 : 1))])
}

function textOf(raw: JSONSchemaObject): string {
  const { $schema: _, $id: __, $defs: ___, definitions: ____, ...rest } = raw
  return JSON.stringify(rest)
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
  if (typeof $ref === 'string') parts.push(root.definitions.get($ref))
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
