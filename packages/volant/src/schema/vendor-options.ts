/** How each library is told to make JSON Schema: they refuse the whole of a schema for one part that it cannot say. */
import type { StandardJSONSchemaV1 } from '@standard-schema/spec'
import { closed, marked, openedIntersection, saysType, takesText, unmarked } from './unrepresentable.ts'

type Side = 'input' | 'output'

/** What JSON.stringify writes for a Date. */
const date = { type: 'string', format: 'date-time' }

/** For libraries with `~standard.jsonSchema`. */
export function optionsOf(vendor: string, io: Side): StandardJSONSchemaV1.Options {
  const target = 'draft-2020-12'
  if (vendor === 'zod') {
    const override = (part: ZodPart): void => ofZod(part, io)
    return { target, libraryOptions: { unrepresentable: 'any', override } }
  }
  if (vendor === 'arktype') {
    return { target, libraryOptions: { fallback: (part: ArkTypePart) => ofArkType(part, io) } }
  }
  return vendor === 'valibot' ? { target, libraryOptions: valibotOptions(io) } : { target }
}

interface ZodPart {
  readonly zodSchema: {
    readonly _zod: {
      readonly def: { readonly type: string; readonly coerce?: boolean; readonly in?: ZodPart['zodSchema'] }
    }
  }
  readonly jsonSchema: object
}

const zodHoles: ReadonlySet<string> = new Set([
  'bigint',
  'custom',
  'function',
  'map',
  'nan',
  'set',
  'symbol',
  'transform',
])

/** A part takes over what is marked in the one it wraps. */
function ofZod({ zodSchema, jsonSchema }: ZodPart, io: Side): void {
  const { type, coerce, in: before } = zodSchema._zod.def
  if (io === 'input' && coerce === true) takesText(jsonSchema)
  if (type === 'date') {
    Object.assign(jsonSchema, date)
    if (io === 'input' && coerce !== true) marked(jsonSchema, type, io)
  } else if (type === 'intersection') openedIntersection(jsonSchema)
  else if (type === 'catch' && io === 'input') closed(jsonSchema)
  else if (type === 'pipe' && io === 'input' && before?._zod.def.type === 'transform') closed(jsonSchema)
  else if (zodHoles.has(type)) {
    if (saysType(jsonSchema)) unmarked(jsonSchema)
    else marked(jsonSchema, coerce === true && io === 'input' ? `coerced ${type}` : type, io)
  } else if (type === 'pipe' && io === 'output' && saysType(jsonSchema)) unmarked(jsonSchema)
}

interface ArkTypePart {
  readonly code: string
  readonly base: object
  readonly domain?: string
  readonly proto?: { readonly name: string }
}

function ofArkType({ code, base, domain, proto }: ArkTypePart, io: Side): object {
  if (code === 'date') return io === 'input' ? marked({ ...date }, code, io) : { ...date }
  const kind = code === 'domain' ? domain : code === 'proto' ? proto?.name.toLowerCase() : undefined
  return kind === undefined || saysType(base) ? base : marked({ ...base }, kind, io)
}

interface ValibotPart {
  readonly valibotSchema: { readonly type: string }
  readonly jsonSchema: object
  readonly errors?: readonly string[]
}

interface ValibotAction {
  readonly valibotAction: { readonly type: string }
}

/** For `toJsonSchema` of @valibot/to-json-schema. */
export function valibotOptions(io: Side): Record<string, unknown> {
  return {
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema: { type }, jsonSchema, errors }: ValibotPart) => {
      if (type === 'date') return io === 'input' ? marked({ ...date }, type, io) : { ...date }
      const isHole = errors !== undefined && !/^(?:void|undefined)$/.test(type) && !saysType(jsonSchema)
      return isHole ? marked({ ...jsonSchema }, type, io) : undefined
    },
    overrideAction: ({ valibotAction: { type } }: ValibotAction) => {
      if (Object.hasOwn(valibotMade, type)) return { ...valibotMade[type] }
      return valibotTransforms.has(type) ? marked({}, type, io) : undefined
    },
  }
}

const valibotMade: Readonly<Record<string, object>> = {
  stringify_json: { type: 'string' },
  to_boolean: { type: 'boolean' },
  to_date: date,
  to_number: { type: 'number' },
  to_string: { type: 'string' },
}

/** What comes out has nothing of the type that went in. */
const valibotTransforms: ReadonlySet<string> = new Set([
  'find_item',
  'map_items',
  'parse_json',
  'raw_transform',
  'reduce_items',
  'to_bigint',
  'transform',
])
