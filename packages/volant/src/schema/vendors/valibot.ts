/** Describes Valibot, whose JSON Schema comes from a package of its own. */
import type { Side } from '../json-schema.ts'
import { isLarge } from '../check/large.ts'
import { saysType, unsaid } from '../unrepresentable.ts'
import {
  date,
  file,
  isFileClass,
  type VendorIssue,
  itemsOf,
  type SchemaParts,
  propertiesOf,
  type Props,
  type Result,
  type Vendor,
} from './vendor.ts'

export const valibot: Vendor = {
  wrapper: 'v.object',
  copies: true,
  advice: {
    text: {
      number: 'v.pipe(v.string(), v.toNumber())',
      integer: 'v.pipe(v.string(), v.toNumber(), v.integer())',
      boolean: "v.pipe(v.picklist(['true', 'false']), v.transform((text) => text === 'true'))",
      date: 'v.pipe(v.string(), v.isoTimestamp(), v.toDate())',
      bigint: 'v.pipe(v.string(), v.regex(/^-?\\d+$/), v.toBigint())',
      other: 'v.string() with a transform',
    },
    input:
      'Use v.pipe(v.string(), v.isoTimestamp()) for text, v.pipe(v.string(), v.toDate()) for a Date, v.pipe(v.string(), v.toBigint()) for a bigint',
    output: 'Send text: v.toString() at the end of the pipe',
    typed: 'Add v.string() or another schema after v.transform()',
  },
  conversion,
  expectation,
  withFirstFaults: (schema, props) => (isValibot(schema) ? firstFaults(schema, props) : props),
  membersOf,
  isVoid: (schema) => {
    const { kind, type } = schema as VendorIssue
    return kind === 'schema' && (type === 'void' || type === 'undefined') && !('pipe' in schema)
  },
  partsOf,
}

function membersOf(schema: object): readonly string[] | null {
  const { type, entries, wrapped } = schema as { type: string; entries?: object; wrapped?: object }
  if (type === 'optional' && wrapped !== undefined) return membersOf(wrapped)
  return (type === 'object' || type === 'strict_object') && entries !== undefined
    ? Object.keys(entries)
    : null
}

function partsOf(schema: object): SchemaParts {
  const { type, entries, item, items, value, wrapped, options, pipe, class: made } = schema as VendorIssue
  // The first schema of a pipe is the one that sees the input.
  if (Array.isArray(pipe) && pipe[0] !== schema) return { within: [['', pipe[0]]] }
  if (type === 'file' || type === 'blob') return { isFile: true }
  if (type === 'instance') return { isFile: isFileClass(made) }
  if (type === 'union' || type === 'variant') return { choices: (options as readonly unknown[]) ?? [] }
  if (type === 'intersect') return { within: itemsOf(options).map(([, each]) => ['', each]) }
  if (type === 'record') return { within: [['/*', value]] }
  return { within: [...propertiesOf(entries), ...itemsOf(items), ['/*', item], ['', wrapped]] }
}

interface ValibotPart {
  readonly valibotSchema: { readonly type: string; readonly class?: unknown }
  readonly jsonSchema: object
  readonly errors?: readonly string[]
}

interface ValibotAction {
  readonly valibotAction: { readonly type: string; readonly requirement?: unknown }
  readonly jsonSchema: object
}

function conversion(io: Side): Record<string, unknown> {
  return {
    errorMode: 'ignore',
    overrideSchema: ({ valibotSchema: { type, class: made }, jsonSchema, errors }: ValibotPart) => {
      if (type === 'file' || type === 'blob' || (type === 'instance' && isFileClass(made))) return { ...file }
      if (type === 'date') return io === 'input' ? unsaid({ ...date }, type, io) : { ...date }
      const isUnsaid = errors !== undefined && !/^(?:void|undefined)$/.test(type) && !saysType(jsonSchema)
      return isUnsaid ? unsaid({ ...jsonSchema }, type, io) : undefined
    },
    overrideAction: ({ valibotAction: { type, requirement }, jsonSchema }: ValibotAction) => {
      if (type === 'mime_type' && Array.isArray(requirement))
        return {
          ...jsonSchema,
          anyOf: requirement.map((contentMediaType: unknown) => ({ contentMediaType })),
        }
      if (Object.hasOwn(converted, type)) return { ...converted[type] }
      return transforms.has(type) ? unsaid({}, type, io) : undefined
    },
  }
}

const converted: Readonly<Record<string, object>> = {
  stringify_json: { type: 'string' },
  to_boolean: { type: 'boolean' },
  to_date: date,
  to_number: { type: 'number' },
  to_string: { type: 'string' },
}

/** These actions have an output with nothing of the type of their input. */
const transforms: ReadonlySet<string> = new Set([
  'find_item',
  'map_items',
  'parse_json',
  'raw_transform',
  'reduce_items',
  'to_bigint',
  'transform',
])

/** The author of a `rawCheck` may quote the value in what it expects. */
function expectation({ kind, type, expected, path, received }: VendorIssue): string {
  if (typeof type !== 'string') return 'not as declared'
  if (typeof expected !== 'string' || type.startsWith('raw_')) return type
  const last: unknown = Array.isArray(path) ? path.at(-1) : undefined
  const isKey = typeof last === 'object' && last !== null && (last as { origin?: unknown }).origin === 'key'
  // Objects report a missing member in the same way as records report a key.
  const isObject = /^(?:loose_|strict_)?object(?:_with_rest)?$/.test(type)
  if (isKey && isObject && received === 'undefined') return 'not there'
  const words = kind === 'schema' ? `expected ${expected}` : `${type}, expected ${expected}`
  return isKey && !isObject ? `its name: ${words}` : words
}

interface Valibot {
  readonly async: boolean
  '~run'(dataset: { value: unknown }, config: object): Result | Promise<Result>
}

function isValibot(schema: object): schema is Valibot {
  return typeof (schema as Partial<Valibot>)['~run'] === 'function'
}

/** It has the members of Valibot's own configuration in their order, so that V8 sees one shape. */
const firstFault = { lang: undefined, message: undefined, abortEarly: true, abortPipeEarly: undefined }

function firstFaults(schema: Valibot, props: Props): Props {
  const settle = (result: Result, value: unknown): Result | Promise<Result> =>
    result.issues === undefined || isLarge(value) ? result : props.validate(value)
  const now = (value: unknown): Result | Promise<Result> =>
    settle(schema['~run']({ value }, firstFault) as Result, value)
  const later = async (value: unknown): Promise<Result> =>
    settle(await schema['~run']({ value }, firstFault), value)
  return { version: 1, vendor: props.vendor, validate: schema.async ? later : now }
}
