/**
 * What a wrong request costs. A library that looks for every fault of a list of small faults holds the process for
 * seconds, well within `maxBodySize`, so those whose way to stop is known are made to: of a large value the first faults
 * are told, of any other all of them, up to as many as a reply names. A value that fits costs what it does without this.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { isThenable } from '../types/thenable.ts'
import { isLarge } from './large.ts'

type Props = StandardSchemaV1.Props
type Result = StandardSchemaV1.Result<unknown>

/** Faults that are told at most, as many as a reply names. */
const mostFaults = 100

/** `schema`'s own validation, for values of clients. Other libraries than Zod, Valibot and ArkType look for all they look for. */
export function withFirstFaults(schema: StandardSchemaV1): Props {
  const props = schema['~standard']
  const { vendor } = props
  if (vendor === 'zod' && isZod(schema)) return ofZod(schema, props)
  if (vendor === 'valibot' && isValibot(schema)) return ofValibot(schema, props)
  if (vendor === 'arktype' && isArkType(schema)) return ofArkType(schema, props)
  return props
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

function ofZod(schema: Zod, props: Props): Props {
  const { _zod } = schema
  let teller: (Zod & StandardSchemaV1) | null = null
  let telling: readonly object[] = []
  /** Zod makes the messages, which take most of its time, of these issues alone. */
  const told = (issues: readonly object[]): Result | Promise<Result> => {
    if (teller === null) {
      teller = schema.clone()
      teller._zod.run = () => ({ value: undefined, issues: telling })
    }
    telling = issues.slice(0, mostFaults)
    const result = teller['~standard'].validate(undefined)
    // They hold the value.
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
  // A schema that threw, as those do that are asynchronous, is not tried in vain for each value.
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

/** The faults of a list are handed on as arguments of one call, and for hundreds of thousands there is no room. */
function isOverflow(error: unknown): boolean {
  return error instanceof RangeError && error.message.includes('call stack')
}

function tooMany(error: unknown): Result {
  if (!isOverflow(error)) throw error
  return { issues: [{ message: 'has too many faults to name one of them' }] }
}

interface Valibot {
  readonly async: boolean
  '~run'(dataset: { value: unknown }, config: object): Result | Promise<Result>
}

function isValibot(schema: object): schema is Valibot {
  return typeof (schema as Partial<Valibot>)['~run'] === 'function'
}

/** Of the shape that Valibot's own configuration has, for the compiler of Node.js. */
const firstFault = { lang: undefined, message: undefined, abortEarly: true, abortPipeEarly: undefined }

function ofValibot(schema: Valibot, props: Props): Props {
  const settle = (result: Result, value: unknown): Result | Promise<Result> =>
    result.issues === undefined || isLarge(value) ? result : props.validate(value)
  const now = (value: unknown): Result | Promise<Result> =>
    settle(schema['~run']({ value }, firstFault) as Result, value)
  const later = async (value: unknown): Promise<Result> =>
    settle(await schema['~run']({ value }, firstFault), value)
  return { version: 1, vendor: props.vendor, validate: schema.async ? later : now }
}

interface ArkType {
  (value: unknown, ctx: ArkTypeContext): unknown
  readonly $: { type(definition: 'unknown'): { narrow(check: ArkTypeCheck): StandardSchemaV1 } }
  allows(value: unknown): boolean
  /** False where a value that is allowed is what the schema gives. */
  readonly includesTransform?: boolean
}

type ArkTypeCheck = (value: unknown, ctx: ArkTypeContext) => boolean

interface ArkTypeContext {
  readonly errors: StandardSchemaV1.FailureResult & {
    readonly count: number
    add(error: unknown): void
  }
}

function isArkType(schema: unknown): schema is ArkType {
  const { $, allows } = schema as Partial<ArkType>
  return typeof $?.type === 'function' && typeof allows === 'function'
}

/** An issue of ArkType takes 8 µs and more, and it counts them where it keeps them. */
function ofArkType(schema: ArkType, props: Props): Props {
  const enough = new Error('enough')
  let kept: readonly StandardSchemaV1.Issue[] = []
  const counting: ArkTypeCheck = (value, ctx) => {
    const { errors } = ctx
    const { add } = errors
    kept = errors.issues
    errors.add = (error) => {
      add.call(errors, error)
      if (errors.count >= mostFaults) throw enough
    }
    schema(value, ctx)
    return true
  }
  let counted: StandardSchemaV1 | null = null
  const first = (value: unknown): Result | Promise<Result> => {
    counted ??= schema.$.type('unknown').narrow(counting)
    try {
      return counted['~standard'].validate(value)
    } catch (error) {
      if (error !== enough) throw error
      return { issues: kept }
    } finally {
      // They hold the value.
      kept = []
    }
  }
  return {
    version: 1,
    vendor: props.vendor,
    validate: (value) => {
      // ArkType does this first, too.
      if (schema.includesTransform === false) return schema.allows(value) ? { value } : first(value)
      return isLarge(value) ? first(value) : props.validate(value)
    },
  }
}
