/** What a document cannot show, and what is odd in it: each is named once, on stderr. */
import { createRequire } from 'node:module'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { notice } from '../notice.ts'
import type { RouteInfo } from '../route-info.ts'
import type { Hole } from '../schema/holes.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types.ts'
import type { Direction, Opaque, Partly } from './components.ts'

/** Schemas, and parts of one, that are named. */
const most = 10

export class Omissions {
  readonly #schemas = new WeakSet<Schema>()
  readonly #parts = new WeakSet<readonly Hole[]>()
  readonly #sentences = new Set<string>()

  schema({ schema, where, reason }: Opaque): void {
    if (this.#schemas.has(schema)) return
    this.#schemas.add(schema)
    notice(`volant: ${where} has no JSON Schema, and the API's document cannot show it: ${reason}`)
  }

  /** Of a schema that has some JSON Schema those parts which have none. */
  parts(all: readonly Partly[]): void {
    const untold = all.filter(({ holes }) => !this.#parts.has(holes))
    for (const [at, { where, direction, vendor, holes }] of untold.entries()) {
      this.#parts.add(holes)
      if (at >= most) continue
      const impossible = holes.filter(({ isImpossible }) => isImpossible)
      const { typed, ...instead } = Object.hasOwn(advice, vendor) ? (advice[vendor] as Advice) : general
      const unsaid = holes.filter(({ isImpossible }) => !isImpossible)
      if (impossible.length > 0)
        notice(
          `volant: ${where}: no JSON is what it asks for at ${listed(impossible)}: ${instead[direction]}`,
        )
      if (unsaid.length > 0)
        notice(`volant: ${where}: the API's document cannot say what is at ${listed(unsaid)}: ${typed}`)
    }
    if (untold.length > most) notice(`volant: and so it is with ${untold.length - most} more schemas`)
  }

  say(sentence: string): void {
    if (this.#sentences.has(sentence)) return
    this.#sentences.add(sentence)
    notice(`volant: ${sentence}`)
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

/** What to write where no JSON fits, and where nothing is said. */
type Advice = Readonly<Record<Direction | 'typed', string>>

const general: Advice = {
  input: 'take text, or make it of text',
  output: 'send text',
  typed: 'a schema of what a transform makes, after it, says it',
}

const advice: Readonly<Record<string, Advice>> = {
  zod: {
    input:
      'take text, as z.iso.datetime() does, or make it of text, as z.coerce.date() and z.string().transform(BigInt) do',
    output: 'send text, as .transform(String).pipe(z.string()) does',
    typed: '.pipe(z.string()) after a transform says it, and .meta({ type }) elsewhere',
  },
  valibot: {
    input:
      'take text, as v.pipe(v.string(), v.isoTimestamp()) does, or make it of text, as v.toDate() and v.toBigint() after v.string() do',
    output: 'send text, as v.toString() at the end of a pipe does',
    typed: 'v.string() after v.transform() says it, as would another schema',
  },
  arktype: {
    input: "take text, as 'string.date.iso' does, or make it of text, as 'string.date.parse' does",
    output: "send text, as .pipe(String).to('string') does",
    typed: ".to('string') after a .pipe() says it, as would another type",
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
