/** Describes ArkType, whose schemas are functions. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { Side } from '../json-schema.ts'
import { isLarge } from '../check/large.ts'
import { saysType, unsaid } from '../unrepresentable.ts'
import {
  date,
  deepest,
  file,
  isFileClass,
  isIssue,
  type VendorIssue,
  joined,
  mostFaults,
  type SchemaParts,
  pointerOf,
  type Props,
  type Result,
  type Vendor,
} from './vendor.ts'

export const arktype: Vendor = {
  wrapper: 'type',
  advice: {
    text: {
      number: "'string.numeric.parse'",
      integer: "'string.integer.parse'",
      boolean: "type(\"'true' | 'false'\").pipe((text) => text === 'true')",
      date: "'string.date.iso.parse'",
      bigint: "type('string.integer').pipe(BigInt)",
      other: "'string' with a pipe",
    },
    input: "Use 'string.date.iso' for text, 'string.date.parse' for a Date",
    output: "Send text: .pipe(String).to('string')",
    typed: "Add .to('string') or another type after .pipe()",
  },
  conversion: (io) => ({ fallback: (part: ArkTypePart) => fallback(part, io) }),
  expectation,
  withFirstFaults: (schema, props) => (isArkType(schema) ? firstFaults(schema, props) : props),
  membersOf: (schema) => membersIn((schema as { json?: unknown }).json),
  partsOf,
}

function membersIn(json: unknown): readonly string[] | null {
  if (!isIssue(json)) return null
  if ('in' in json) return membersIn(json['in'])
  if (json['domain'] !== 'object' || 'index' in json) return null
  const members = [json['required'], json['optional']].flatMap((each) => each ?? []) as { key: string }[]
  // Without members it is `object`, which takes any.
  return members.length === 0 ? null : members.map(({ key }) => key)
}

/** ArkType has all parts in one list, without their pointers, and does not tell which of them are alternatives. */
function partsOf(schema: object): SchemaParts {
  const { internal } = schema as { internal?: { references?: unknown } }
  if (!Array.isArray(internal?.references)) return {}
  const parts = internal.references as readonly { kind?: unknown; proto?: unknown }[]
  return {
    isFile: parts.some(({ proto }) => isFileClass(proto)) && parts.every(({ kind }) => kind !== 'union'),
  }
}

interface ArkTypePart {
  readonly code: string
  readonly base: object
  readonly domain?: string
  readonly proto?: Function
}

function fallback({ code, base, domain, proto }: ArkTypePart, io: Side): object {
  if (code === 'date') return io === 'input' ? unsaid({ ...date }, code, io) : { ...date }
  if (isFileClass(proto)) return { ...base, ...file }
  const kind = code === 'domain' ? domain : code === 'proto' ? proto?.name.toLowerCase() : undefined
  return kind === undefined || saysType(base) ? base : unsaid({ ...base }, kind, io)
}

/** Issues of the schema's own nodes have `meta`; those of a function have none, and may quote the value. */
function expectation(issue: VendorIssue, depth: number): string {
  const { code, errors } = issue
  if (typeof code !== 'string') return 'not as declared'
  if (code === 'union' || code === 'intersection') {
    const parts = Array.isArray(errors) && depth < deepest ? errors.filter(isIssue) : []
    return ofParts(issue, code, parts, depth)
  }
  const isOwn = Object.hasOwn(issue, 'meta')
  if (isOwn && typeof issue['expected'] === 'string') return `expected ${issue['expected']}`
  return code === 'predicate' ? `fails its ${code}` : code
}

/** ArkType's own text is made of messages, which quote the value. The paths of parts start at the root. */
function ofParts(whole: VendorIssue, code: string, parts: readonly VendorIssue[], depth: number): string {
  const between = code === 'union' ? ' or ' : ' and '
  const pointer = pointerOf(whole)
  const words = parts.map((part) => ({ at: pointerOf(part), said: expectation(part, depth + 1) }))
  if (words.length === 0) return `fails its ${code}`
  if (words.every(({ at, said }) => at === pointer && said.startsWith('expected '))) {
    const all = words.map(({ said }) => said.replace('expected ', ''))
    return `expected ${joined(all, between)}`
  }
  const all = words.map(({ at, said }) => (at === pointer ? said : `${at} ${said}`))
  return `fails its ${code}: ${joined(all, between)}`
}

interface ArkType {
  (value: unknown, ctx: ArkTypeContext): unknown
  readonly $: { type(definition: 'unknown'): { narrow(check: ArkTypeCheck): StandardSchemaV1 } }
  allows(value: unknown): boolean
  /** False if the schema gives the value itself. */
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

/** ArkType takes 8 µs and more for each issue, so its list of issues throws when it has enough. */
function firstFaults(schema: ArkType, props: Props): Props {
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
      // The issues hold the value.
      kept = []
    }
  }
  return {
    version: 1,
    vendor: props.vendor,
    validate: (value) => {
      // ArkType's own validation starts with `allows`, too.
      if (schema.includesTransform === false) return schema.allows(value) ? { value } : first(value)
      return isLarge(value) ? first(value) : props.validate(value)
    },
  }
}
