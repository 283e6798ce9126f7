/**
 * The schemas of a document. A schema with a title or an id, and one that a reference leads to, stands in
 * `components/schemas`; every other schema stands where it is used.
 */
import type { Unrepresentable } from '../schema/unrepresentable.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types/parts.ts'
import { discriminate } from './discriminator.ts'
import type { OpenAPISchema } from './types.ts'
import { assignNames, baseOfKey, baseOfText, nameIn } from './names.ts'
import { isObject, mapSubschemas, type Resolve, resolverOf, type Target } from '../schema/document.ts'
import { madeOnce } from '../schema/made-once.ts'
import { componentOf, type NamedSchema, sameSchemas } from './same-schemas.ts'
import { sortedByName } from './sorted.ts'
import { readable } from './wording.ts'

/** An `input` is sent by clients, an `output` is sent to them. */
export type Direction = 'input' | 'output'

/** A schema without JSON Schema, and the first place that uses it. */
export interface Undescribed {
  readonly schema: Schema
  /** The first use, such as `POST /users: body`. */
  readonly where: string
  readonly reason: string
}

/** A schema whose JSON Schema leaves parts out, and the first place that uses it. */
export interface PartlyDescribed {
  /** The first use, such as `POST /users: body`. */
  readonly where: string
  readonly direction: Direction
  /** The library that made it; empty if there is none. */
  readonly vendor: string
  /** The parts that are left out. One schema always has the same array. */
  readonly holes: readonly Unrepresentable[]
}

/** A JSON Schema as its library wrote it: its references are relative to it. */
interface SchemaSource {
  readonly raw: OpenAPISchema
  readonly direction: Direction
  /** The name from which parts without a name of their own get one. */
  readonly base: string
  readonly resolve: Resolve
  readonly named: Map<OpenAPISchema, FoundSchema>
}

interface FoundSchema extends NamedSchema {
  readonly raw: OpenAPISchema
  readonly source: SchemaSource
}

export class Components {
  readonly undescribed: Undescribed[] = []
  readonly #partlyDescribed = new Map<readonly Unrepresentable[], PartlyDescribed>()
  readonly #sources = {
    input: new Map<OpenAPISchema, SchemaSource>(),
    output: new Map<OpenAPISchema, SchemaSource>(),
  }
  readonly #named: FoundSchema[] = []
  /** The schemas behind the objects that become references. */
  readonly #targets = new Map<OpenAPISchema, NamedSchema>()
  /** The schemas with `oneOf` or `anyOf`. */
  readonly #unions: OpenAPISchema[] = []
  readonly #fixed: Readonly<Record<string, OpenAPISchema>>

  /** `fixed` are components that every document has. */
  constructor(fixed: Readonly<Record<string, OpenAPISchema>>) {
    this.#fixed = fixed
  }

  get partlyDescribed(): readonly PartlyDescribed[] {
    return [...this.#partlyDescribed.values()]
  }

  /** Gives the JSON Schema as its library wrote it, or null if there is none. */
  raw(schema: Schema, direction: Direction, where: string): OpenAPISchema | null {
    const result = jsonSchemaOf(schema, direction)
    if ('schema' in result) {
      const { holes } = result
      if (holes !== undefined && !this.#partlyDescribed.has(holes))
        this.#partlyDescribed.set(holes, { where, direction, vendor: libraryOf(schema), holes })
      return readable(result.schema)
    }
    if (!this.undescribed.some((each) => each.schema === schema))
      this.undescribed.push({ schema, where, reason: result.opaque })
    return null
  }

  /** Gives the schema as it stands in one part of the document; `hint` names its parts if it has no name itself. */
  use(schema: Schema, direction: Direction, hint: string, where: string): OpenAPISchema {
    const raw = this.raw(schema, direction, where)
    if (raw === null)
      return { description: 'Checked by the server with a schema that JSON Schema cannot express.' }
    return this.part(raw, raw, direction, hint)
  }

  /** Gives a part of `raw`, as it stands in the document. */
  part(part: OpenAPISchema, raw: OpenAPISchema, direction: Direction, hint: string): OpenAPISchema {
    const source = madeOnce(this.#sources[direction], raw, () => {
      const base = ownName(raw) ?? baseOfText(hint)
      return { raw, direction, base, resolve: resolverOf(raw), named: new Map() }
    })
    return this.#inPlace(part, source)
  }

  /** Fills in the references, and gives `components/schemas`. Runs in steps of one schema. */
  *finish(): Generator<void, Record<string, OpenAPISchema>> {
    // The list grows meanwhile: a schema with a name may contain others.
    for (const each of this.#named) {
      each.body = this.#copy(each.raw, each.source)
      yield
    }
    const groups = yield* sameSchemas(this.#named, this.#targets)
    const schemas = new Map(Object.entries(this.#fixed))
    for (const [group, name] of assignNames(groups, Object.keys(this.#fixed))) {
      const component = componentOf(group, prefix + name)
      // Generators call types by their titles: two of one title would be two types of one name.
      if (typeof component['title'] === 'string' && baseOfText(component['title']) !== name)
        component['title'] = name
      schemas.set(name, component)
      yield
    }
    for (const union of this.#unions) {
      discriminate(union, (reference) => schemas.get(reference.slice(prefix.length)))
      yield
    }
    return sortedByName(schemas)
  }

  #inPlace(raw: OpenAPISchema, source: SchemaSource): OpenAPISchema {
    const name = ownName(raw)
    if (name !== null && isObjectOrUnion(raw))
      return this.#refer({}, this.#namedSchema(raw, source, name, true))
    const copy = this.#copy(raw, source)
    const itself = source.named.get(raw)
    return itself === undefined ? copy : this.#refer({}, itself)
  }

  /** Gives a copy in which references and schemas with a name are references to components. */
  #copy(raw: OpenAPISchema, source: SchemaSource): OpenAPISchema {
    const said = Object.fromEntries(Object.entries(raw).filter(([keyword]) => !identifying.has(keyword)))
    const copy = mapSubschemas(said, (each) => this.#inPlace(each, source))
    if (copy['oneOf'] !== undefined || copy['anyOf'] !== undefined) this.#unions.push(copy)
    const reference = raw['$ref']
    if (typeof reference !== 'string') return copy
    const found = source.resolve(reference)
    if (found === null) {
      // It leads out of the schema, and the document does not have it.
      if (!reference.startsWith('#')) copy['$ref'] = reference
    } else if (found.schema === false) copy['not'] = {}
    else if (found.schema !== true && Object.keys(found.schema).length > 0)
      this.#refer(copy, this.#target(found as Target & { schema: OpenAPISchema }, source))
    return copy
  }

  #target(
    { schema, key, isDefinition }: Target & { schema: OpenAPISchema },
    source: SchemaSource,
  ): NamedSchema {
    // Zod numbers definitions that have no name.
    const hasKey = isDefinition && key !== '' && !key.startsWith('__')
    const name = hasKey ? baseOfKey(key) : ownName(schema)
    const base = schema === source.raw ? source.base : `${source.base}Part`
    return this.#namedSchema(schema, source, name ?? base, name !== null)
  }

  #namedSchema(raw: OpenAPISchema, source: SchemaSource, base: string, isNamed: boolean): FoundSchema {
    return madeOnce(source.named, raw, () => {
      const { direction } = source
      const named: FoundSchema = { raw, source, base, isNamed, direction, body: {}, references: [] }
      this.#named.push(named)
      return named
    })
  }

  #refer(reference: OpenAPISchema, named: NamedSchema): OpenAPISchema {
    named.references.push(reference)
    this.#targets.set(reference, named)
    return reference
  }
}

const prefix = '#/components/schemas/'

/** These keywords name a schema or refer to one: a component has another name and other references. */
const identifying = new Set(['$id', '$defs', 'definitions', '$ref'])

function libraryOf(schema: Schema): string {
  return (schema as { '~standard'?: { vendor?: string } })['~standard']?.vendor ?? ''
}

/** Gives the title, else the last part of `$id`; null if neither has a letter or digit that names can have. */
function ownName({ title, $id }: OpenAPISchema): string | null {
  const titled = typeof title === 'string' ? nameIn(title) : ''
  if (titled !== '') return titled
  if (typeof $id !== 'string') return null
  return baseOfKey($id.slice($id.search(/[^/#]*#?$/)).replace(/(\.schema)?\.json$|#$/g, ''))
}

/** A scalar and a reference are as short as a reference to them. */
function isObjectOrUnion({ properties, anyOf, oneOf, allOf }: OpenAPISchema): boolean {
  return isObject(properties) || [anyOf, oneOf, allOf].some((each) => Array.isArray(each) && each.length > 1)
}
