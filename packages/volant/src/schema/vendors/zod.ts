/** Describes Zod 4 and its small edition, as far as they show themselves in `_zod`; Zod 3 has none. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { briefValue } from '../../errors/brief-value.ts'
import { isThenable } from '../../types/thenable.ts'
import type { Side } from '../json-schema.ts'
import { isLarge } from '../check/large.ts'
import { anyInput, openedIntersection, saysType, takesText, unmarked, unsaid } from '../unrepresentable.ts'
import {
  date,
  deepest,
  file,
  isFileClass,
  isIssue,
  itemsOf,
  type VendorIssue,
  joined,
  mostFaults,
  mostNamed,
  type SchemaParts,
  pointerOf,
  propertiesOf,
  type Props,
  type Result,
  type Vendor,
} from './vendor.ts'

export const zod: Vendor = {
  wrapper: 'z.object',
  copies: true,
  advice: {
    text: {
      number: 'z.coerce.number<number>()',
      integer: 'z.coerce.number<number>().int()',
      boolean: 'z.stringbool()',
      date: 'z.iso.datetime().pipe(z.coerce.date())',
      bigint: 'z.string().regex(/^-?\\d+$/).transform(BigInt)',
      other: 'z.string() with a transform',
    },
    input:
      'Use z.iso.datetime() for text, z.coerce.date() for a Date, z.string().transform(BigInt) for a bigint',
    output: 'Send text: .transform(String).pipe(z.string())',
    typed: 'Add .pipe(z.string()) or the like after a transform, .meta({ type }) elsewhere',
  },
  conversion: (io) => ({ unrepresentable: 'any', override: (part: ZodPart) => override(part, io) }),
  expectation,
  withFirstFaults: (schema, props) => (isZod(schema) ? firstFaults(schema, props) : props),
  membersOf,
  isVoid: (schema) => ['void', 'undefined'].includes(defOf(schema)?.type ?? ''),
  partsOf,
}

interface Def {
  readonly type: string
  readonly coerce?: boolean
  readonly shape?: object
  readonly catchall?: object
  readonly innerType?: object
  readonly in?: object
  readonly [part: string]: unknown
}

function defOf(schema: object): Def | undefined {
  return (schema as { _zod?: { def?: Def } })._zod?.def
}

/** These schemas are around an object and take the same members. */
const around = new Set(['optional', 'default', 'prefault', 'nonoptional', 'readonly'])

function membersOf(schema: object): readonly string[] | null {
  const { type, shape, catchall, innerType, in: before } = defOf(schema) ?? { type: '' }
  if (type === 'pipe' && before !== undefined) return membersOf(before)
  if (around.has(type) && innerType !== undefined) return membersOf(innerType)
  if (type !== 'object' || shape === undefined) return null
  return catchall === undefined || defOf(catchall)?.type === 'never' ? Object.keys(shape) : null
}

function partsOf(schema: object, opensGetters: boolean): SchemaParts {
  const def = defOf(schema)
  const parts = (name: string, pointer = ''): [string, unknown][] =>
    [def?.[name]].flat().map((part) => [pointer, part])
  switch (def?.type) {
    case 'file':
      return { isFile: true }
    case 'custom':
      return { isFile: isFileClass((schema as { _zod: { bag?: VendorIssue } })._zod.bag?.['Class']) }
    case 'object':
      return { within: propertiesOf(shapeOf(def), opensGetters), others: parts('catchall', '/*') }
    case 'array':
      return { within: parts('element', '/*') }
    case 'tuple':
      return { within: itemsOf(def['items']), others: parts('rest', '/*') }
    case 'record':
      return { within: parts('valueType', '/*'), others: parts('keyType', '/*') }
    case 'union':
      return { choices: parts('options').map(([, part]) => part) }
    case 'intersection':
      return { within: [...parts('left'), ...parts('right')] }
    case 'pipe': {
      const isCodec = typeof def['reverseTransform'] === 'function'
      return { isCodec, within: parts('in'), others: parts('out') }
    }
    default:
      return { within: parts('innerType') }
  }
}

/** The shape is made when it is first read, which may be before the schemas it refers to are there. */
function shapeOf(def: Def): unknown {
  try {
    return def.shape
  } catch {
    return {}
  }
}

interface ZodPart {
  readonly zodSchema: {
    readonly _zod: {
      readonly bag?: VendorIssue
      readonly def: { readonly type: string; readonly coerce?: boolean; readonly in?: ZodPart['zodSchema'] }
    }
  }
  readonly jsonSchema: object
}

const unsayable: ReadonlySet<string> = new Set([
  'bigint',
  'custom',
  'function',
  'map',
  'nan',
  'set',
  'symbol',
  'transform',
])

/** A part inherits the marks of the one it wraps. */
function override({ zodSchema, jsonSchema }: ZodPart, io: Side): void {
  const { type, coerce, in: before } = zodSchema._zod.def
  if (type === 'file' || isFileClass(zodSchema._zod.bag?.['Class'])) return asFile(jsonSchema)
  if (io === 'input' && coerce === true) takesText(jsonSchema)
  if (type === 'date') {
    Object.assign(jsonSchema, date)
    if (io === 'input' && coerce !== true) unsaid(jsonSchema, type, io)
  } else if (type === 'intersection') openedIntersection(jsonSchema)
  else if (type === 'catch' && io === 'input') anyInput(jsonSchema)
  else if (type === 'pipe' && io === 'input' && before?._zod.def.type === 'transform') anyInput(jsonSchema)
  else if (unsayable.has(type)) {
    if (saysType(jsonSchema)) unmarked(jsonSchema)
    else unsaid(jsonSchema, coerce === true && io === 'input' ? `coerced ${type}` : type, io)
  } else if (type === 'pipe' && io === 'output' && saysType(jsonSchema)) unmarked(jsonSchema)
}

/** Zod describes the text that bytes could be written as. */
function asFile(jsonSchema: object): void {
  for (const name of ['contentEncoding', 'minLength', 'maxLength'])
    delete (jsonSchema as Record<string, unknown>)[name]
  Object.assign(jsonSchema, file)
}

function expectation(issue: VendorIssue, depth: number): string {
  const { code, expected } = issue
  // With any other code `expected` is from the author of a check, who may quote the value.
  if (code === 'invalid_type' && typeof expected === 'string') return `expected ${expected}`
  if (typeof code !== 'string') return 'not as declared'
  const more = details(code, issue, depth)
  return more === '' ? code : `${code}, ${more}`
}

function details(code: string, issue: VendorIssue, depth: number): string {
  if (code === 'too_big') return bound(issue, 'maximum', 'less than', 'at most')
  if (code === 'too_small') return bound(issue, 'minimum', 'more than', 'at least')
  if (code === 'not_multiple_of') return `a multiple of ${briefValue(issue['divisor'])}`
  if (code === 'invalid_value') return oneOf(issue['values'])
  if (code === 'invalid_format') {
    const { format, prefix, suffix, includes, pattern } = issue
    if (typeof format !== 'string') return ''
    const part = prefix ?? suffix ?? includes ?? (format === 'regex' ? pattern : undefined)
    return typeof part === 'string' ? `${format} ${briefValue(part)}` : format
  }
  if (code !== 'invalid_union' || depth >= deepest) return ''
  if (Array.isArray(issue['options'])) return oneOf(issue['options'])
  const { errors } = issue
  const firsts = Array.isArray(errors)
    ? errors.map((each: unknown) => (Array.isArray(each) ? each[0] : null))
    : []
  return joined(
    firsts.filter(isIssue).map((each) => {
      const pointer = pointerOf(each)
      return `${pointer === '#' ? '' : `${pointer} `}${expectation(each, depth + 1)}`
    }),
    ' or ',
  )
}

const units: Readonly<Record<string, string>> = {
  string: ' characters',
  array: ' items',
  set: ' items',
  map: ' entries',
  file: ' bytes',
}

/** The bounds of a date are in milliseconds. */
function bound(issue: VendorIssue, name: string, without: string, including: string): string {
  const { origin, inclusive, exact } = issue
  const limit = issue[name]
  if (typeof limit !== 'number' && typeof limit !== 'bigint' && !(limit instanceof Date)) return ''
  const date = origin === 'date' ? new Date(Number(limit)) : null
  const text = date === null ? String(limit) : Number.isNaN(date.getTime()) ? '' : date.toISOString()
  const words = exact === true ? 'exactly' : inclusive === false ? without : including
  const unit = typeof origin === 'string' && Object.hasOwn(units, origin) ? units[origin] : ''
  return `${words} ${text}${unit}`
}

function oneOf(values: unknown): string {
  if (!Array.isArray(values)) return ''
  if (values.length === 1) return `expected ${briefValue(values[0])}`
  return values.length > mostNamed
    ? `one of ${values.length} values`
    : `one of ${values.map(briefValue).join(', ')}`
}

/** The internals that `~standard` of Zod 4 calls, too. */
interface Zod {
  readonly _zod: { run: (payload: ZodPayload, ctx: ZodContext) => ZodPayload | PromiseLike<ZodPayload> }
  clone(): Zod & StandardSchemaV1
}

interface ZodPayload {
  readonly value: unknown
  readonly issues: readonly object[]
}

/** With `abortEarly`, which came with Zod 4.6, containers stop at the first member that does not fit. */
interface ZodContext {
  readonly async: boolean
  readonly abortEarly: true
}

function isZod(schema: object): schema is Zod {
  const { _zod, clone } = schema as Partial<Zod>
  return typeof _zod?.run === 'function' && typeof clone === 'function'
}

function firstFaults(schema: Zod, props: Props): Props {
  const { _zod } = schema
  let teller: (Zod & StandardSchemaV1) | null = null
  let telling: readonly object[] = []
  /** Has Zod make messages, which take most of its time, of the first issues alone. */
  const told = (issues: readonly object[]): Result | Promise<Result> => {
    if (teller === null) {
      teller = schema.clone()
      teller._zod.run = () => ({ value: undefined, issues: telling })
    }
    telling = issues.slice(0, mostFaults)
    const result = teller['~standard'].validate(undefined)
    // The issues hold the value.
    telling = []
    return result
  }
  const settle = (payload: ZodPayload, value: unknown): Result | Promise<Result> => {
    if (payload.issues.length === 0) return { value: payload.value }
    return isLarge(value) ? told(payload.issues) : props.validate(value)
  }
  const later = async (value: unknown): Promise<Result> => {
    try {
      return await settle(await _zod.run({ value, issues: [] }, { async: true, abortEarly: true }), value)
    } catch (error) {
      return tooMany(error)
    }
  }
  // An asynchronous schema throws when it is run synchronously, which is tried once.
  let isSynchronous = true
  const validate = (value: unknown): Result | Promise<Result> => {
    if (isSynchronous) {
      try {
        const payload = _zod.run({ value, issues: [] }, { async: false, abortEarly: true })
        if (!isThenable(payload)) return settle(payload, value)
        payload.then(undefined, () => {})
      } catch (error) {
        if (isLarge(value) && isOverflow(error)) return tooMany(error)
      }
      isSynchronous = false
    }
    return isLarge(value) ? later(value) : props.validate(value)
  }
  return { version: 1, vendor: props.vendor, validate }
}

/** Zod passes the issues of a list as arguments of one call, and hundreds of thousands overflow the stack. */
function isOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

function tooMany(error: unknown): Result {
  if (!isOverflow(error)) throw error
  return { issues: [{ message: 'has too many faults to name one of them' }] }
}
