/** What a document cannot show, and what is odd in it: each is named once, on stderr. */
import { createRequire } from 'node:module'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { printLine } from '../report/print-line.ts'
import type { RouteInfo } from '../app/route-info.ts'
import type { Hole } from '../schema/unrepresentable.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import { sayTextless } from '../schema/textless.ts'
import type { Schema } from '../types/parts.ts'
import type { Direction, PartlyDescribed, Undescribed } from './components.ts'

/** Schemas, and parts of one, that are named. */
const most = 10

export class Omissions {
  readonly #schemas = new WeakSet<Schema>()
  readonly #parts = new WeakSet<readonly Hole[]>()
  readonly #sentences = new Set<string>()

  schema({ schema, where, reason }: Undescribed): void {
    if (this.#schemas.has(schema)) return
    this.#schemas.add(schema)
    printLine(`volant: ${where} has no JSON Schema, and the API's document cannot show it: ${reason}`)
  }

  /** Of a schema that has some JSON Schema those parts which have none. */
  parts(all: readonly PartlyDescribed[]): void {
    const untold = all.filter(({ holes }) => !this.#parts.has(holes))
    for (const [at, { where, direction, vendor, holes }] of untold.entries()) {
      this.#parts.add(holes)
      if (at >= most) continue
      const impossible = holes.filter(({ isImpossible }) => isImpossible)
      const { typed, ...instead } = Object.hasOwn(advice, vendor) ? (advice[vendor] as Advice) : general
      const unsaid = holes.filter(({ isImpossible }) => !isImpossible)
      if (impossible.length > 0)
        printLine(
          `volant: ${where}: JSON cannot carry the value at ${listed(impossible)}${outcome[direction]}. ${instead[direction]}`,
        )
      if (unsaid.length > 0)
        printLine(`volant: ${where}: the API's document has no type for ${listed(unsaid)}. ${typed}`)
    }
    const others = untold.length - most
    if (others > 0)
      printLine(
        `volant: ${others} more ${others === 1 ? 'schema has' : 'schemas have'} parts that the API's document cannot show`,
      )
  }

  /** Looks only at the first schema a request meets: those behind it see what that one makes of the text. */
  texts(route: RouteInfo): void {
    for (const part of ['params', 'query', 'headers', 'cookies'] as const) {
      const first = [...route.checks, route.schemas].find((each) => each[part] !== undefined)?.[part]
      if (first !== undefined) sayTextless(first, `${route.method} ${route.path}: ${part}`)
    }
  }

  say(sentence: string): void {
    if (this.#sentences.has(sentence)) return
    this.#sentences.add(sentence)
    printLine(`volant: ${sentence}`)
  }

  /** Those schemas whose library has no JSON Schema at all: no other is converted before somebody asks for it. */
  find(routes: readonly RouteInfo[]): void {
    for (const { schema, where, direction } of usesOf(routes)) {
      if (isConverted(schema)) continue
      const result = jsonSchemaOf(schema, direction)
      if ('opaque' in result) this.schema({ schema, where, reason: result.opaque })
    }
  }
}

/** Says what follows for clients where JSON cannot carry a value. */
const outcome: Readonly<Record<Direction, string>> = {
  input: ': every request that has one is refused',
  output: ': no client can get one',
}

/** Says what to write where no JSON fits, and where there is no type. */
type Advice = Readonly<Record<Direction | 'typed', string>>

const general: Advice = {
  input: 'Take text, and convert it in the schema if need be',
  output: 'Send text',
  typed: 'Add a schema after the transform',
}

const advice: Readonly<Record<string, Advice>> = {
  zod: {
    input:
      'Use z.iso.datetime() for text, z.coerce.date() for a Date, z.string().transform(BigInt) for a bigint',
    output: 'Send text: .transform(String).pipe(z.string())',
    typed: 'Add .pipe(z.string()) or the like after a transform, .meta({ type }) elsewhere',
  },
  valibot: {
    input:
      'Use v.pipe(v.string(), v.isoTimestamp()) for text, v.pipe(v.string(), v.toDate()) for a Date, v.pipe(v.string(), v.toBigint()) for a bigint',
    output: 'Send text: v.toString() at the end of the pipe',
    typed: 'Add v.string() or another schema after v.transform()',
  },
  arktype: {
    input: "Use 'string.date.iso' for text, 'string.date.parse' for a Date",
    output: "Send text: .pipe(String).to('string')",
    typed: "Add .to('string') or another type after .pipe()",
  },
}

function listed(holes: readonly Hole[]): string {
  const named = holes.slice(0, most).map(({ pointer, kind }) => `${pointer} (${kind})`)
  return named.join(', ') + (holes.length > most ? ` and ${holes.length - most} more` : '')
}

function isConverted(schema: Schema): boolean {
  const props = (schema as Partial<StandardSchemaV1>)['~standard'] as
    | (StandardSchemaV1.Props & Partial<StandardJSONSchemaV1.Props>)
    | undefined
  if (props === undefined || typeof props.jsonSchema === 'object') return true
  return props.vendor === 'valibot' && (valibotConverts ??= findConverter())
}

let valibotConverts: boolean | null = null

/** Valibot keeps its JSON Schema in a package of its own. */
function findConverter(): boolean {
  try {
    createRequire(import.meta.url).resolve('@valibot/to-json-schema')
    return true
  } catch {
    return false
  }
}

function* usesOf(
  routes: readonly RouteInfo[],
): Generator<{ schema: Schema; where: string; direction: Direction }> {
  for (const { method, path, schemas, checks, responses, errors } of routes) {
    const name = `${method} ${path}`
    const parts = [...checks, schemas].flatMap((each) => Object.entries(each))
    for (const [part, schema] of parts as [string, Schema | undefined][]) {
      if (schema !== undefined) yield { schema, where: `${name}: ${part}`, direction: 'input' }
    }
    for (const [status, schema] of Object.entries(responses ?? {}) as [string, Schema | null][]) {
      if (schema !== null) yield { schema, where: `${name}: response ${status}`, direction: 'output' }
    }
    for (const [code, { data }] of Object.entries(errors)) {
      if (data !== undefined)
        yield { schema: data, where: `${name}: errors.${code}.data`, direction: 'output' }
    }
  }
}
