/** Declares what is known of a schema library beyond Standard Schema; each library has its file beside this one. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { escapeKey, fragmentOf } from '../json-pointer.ts'
import type { Side } from '../json-schema.ts'

export type Props = StandardSchemaV1.Props
export type Result = StandardSchemaV1.Result<unknown>
/** Users may write schemas whose issues are anything. */
export type VendorIssue = Readonly<Record<string, unknown>>

export interface Vendor {
  /** The function that makes a schema of an object's properties, quoted in messages. */
  readonly wrapper?: string
  /** True if `validate` makes a copy of the declared properties, and of no others. */
  readonly copies?: boolean
  readonly advice?: Advice
  /** The options for `~standard.jsonSchema`: libraries refuse a schema for one part that JSON Schema cannot say. */
  readonly conversion?: (io: Side) => Record<string, unknown>
  /** Says what the schema asks for where `issue` is, never quoting the value; `depth` counts unions in unions. */
  readonly expectation: (issue: VendorIssue, depth: number) => string
  /**
   * Gives the schema's own validation, for values of clients: of a large value it reports the first faults alone. A
   * library that looks for every fault of a long list holds the process for seconds, well within `maxBodySize`.
   */
  readonly withFirstFaults?: (schema: StandardSchemaV1, props: Props) => Props
  /** Gives the names of an object's members; null where others may be given, or where the schema does not show them. */
  readonly membersOf?: (schema: object) => readonly string[] | null
  /** True for a schema of nothing, which JSON Schema cannot say. */
  readonly isVoid?: (schema: object) => boolean
  /** Gives the parts of a schema that are looked at in search of one. */
  readonly partsOf?: (schema: object, opensGetters: boolean) => SchemaParts
}

/** The advice for a type that cannot be read from text (`text`) or that JSON cannot carry. */
export interface Advice {
  /** The advice by type in JSON Schema, or in the library; `other` for all others. */
  readonly text: Readonly<Record<string, string>>
  readonly input: string
  readonly output: string
  readonly typed: string
}

export interface SchemaParts {
  readonly isFile?: boolean
  /** True where it encodes as well as it decodes. */
  readonly isCodec?: boolean
  /** The parts of the input, by their pointers. */
  readonly within?: readonly (readonly [pointer: string, part: unknown])[]
  /** The alternatives, one of which the input fits. */
  readonly choices?: readonly unknown[]
  /** The parts that an input need not have, or that see the output of another part. */
  readonly others?: readonly (readonly [pointer: string, part: unknown])[]
}

/** The most faults of a large value that are reported, as many as a reply names. */
export const mostFaults = 100

/** The most alternatives that are named. */
export const mostNamed = 5
/** The most unions in unions that are described. */
export const deepest = 4

export function isIssue(issue: unknown): issue is VendorIssue {
  return typeof issue === 'object' && issue !== null
}

export function pointerOf({ path }: VendorIssue): string {
  return fragmentOf(Array.isArray(path) ? path : [])
}

/** Joins the first few, each once. */
export function joined(all: readonly string[], between: string): string {
  const distinct = [...new Set(all)]
  return distinct.slice(0, mostNamed).join(between) + (distinct.length > mostNamed ? `${between}others` : '')
}

/** Gives the properties of an object, with their pointers. A getter may be too early for what it refers to. */
export function propertiesOf(shape: unknown, opensGetters = false): [pointer: string, part: unknown][] {
  if (!isIssue(shape)) return []
  return Object.entries(Object.getOwnPropertyDescriptors(shape)).map(([name, { value }]) => [
    `/${escapeKey(name)}`,
    opensGetters ? shape[name] : (value as unknown),
  ])
}

export function itemsOf(items: unknown): [pointer: string, part: unknown][] {
  return Array.isArray(items) ? items.map((each, at) => [`/${at}`, each as unknown]) : []
}

export function isFileClass(value: unknown): boolean {
  return value !== undefined && (value === globalThis.File || value === Blob)
}

/** Describes a file, which only forms have. */
export const file = { type: 'string', format: 'binary' }

/** Describes what JSON.stringify writes for a Date. */
export const date = { type: 'string', format: 'date-time' }
