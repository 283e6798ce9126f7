/** Prints what a document cannot show, and mistakes in what routes declare, each once, on stderr. */
import type { RouteInfo } from '../app/route-info.ts'
import { printLine } from '../report/print-line.ts'
import { hasConverter, jsonSchemaOf } from '../schema/json-schema.ts'
import { warnTextless } from '../schema/check/textless.ts'
import type { Unrepresentable } from '../schema/unrepresentable.ts'
import { vendorNamed } from '../schema/vendors/vendor-of.ts'
import type { Schema } from '../types/parts.ts'
import type { Direction, PartlyDescribed, Undescribed } from './components.ts'
import type { BuiltDocument } from './document.ts'

/** The most schemas that are named, and the most parts of one schema. */
const most = 10

export class DocumentWarnings {
  readonly #schemas = new WeakSet<Schema>()
  readonly #holes = new WeakSet<readonly Unrepresentable[]>()
  readonly #sentences = new Set<string>()

  /** Prints what is wrong with a document. */
  print({ undescribed, partlyDescribed, warnings }: Omit<BuiltDocument, 'document'>): void {
    for (const each of undescribed) this.#undescribed(each)
    this.#partlyDescribed(partlyDescribed)
    for (const sentence of warnings) {
      if (this.#sentences.has(sentence)) continue
      this.#sentences.add(sentence)
      printLine(`volant: ${sentence}`)
    }
  }

  /** Names parts of `params`, `query`, `headers` and `cookies` that no text fits, in the first schema they meet. */
  textless(route: RouteInfo): void {
    for (const part of ['params', 'query', 'headers', 'cookies'] as const) {
      const first = [...route.checks, route.schemas].find((each) => each[part] !== undefined)?.[part]
      if (first !== undefined) warnTextless(first, `${route.method} ${route.path}: ${part}`)
    }
  }

  /** Names schemas whose library has no JSON Schema at all. Nothing is converted to find them. */
  unconvertible(routes: readonly RouteInfo[]): void {
    for (const { schema, where, direction } of usesOf(routes)) {
      if (hasConverter(schema)) continue
      const result = jsonSchemaOf(schema, direction)
      if ('opaque' in result) this.#undescribed({ schema, where, reason: result.opaque })
    }
  }

  #undescribed({ schema, where, reason }: Undescribed): void {
    if (this.#schemas.has(schema)) return
    this.#schemas.add(schema)
    printLine(`volant: ${where} has no JSON Schema, and the API's document cannot show it: ${reason}`)
  }

  #partlyDescribed(all: readonly PartlyDescribed[]): void {
    const untold = all.filter(({ holes }) => !this.#holes.has(holes))
    for (const [at, { where, direction, vendor, holes }] of untold.entries()) {
      this.#holes.add(holes)
      if (at >= most) continue
      const { typed, ...instead } = vendorNamed(vendor).advice ?? general
      const impossible = holes.filter(({ isImpossible }) => isImpossible)
      const untyped = holes.filter(({ isImpossible }) => !isImpossible)
      if (impossible.length > 0)
        printLine(
          `volant: ${where}: JSON cannot carry the value at ${listed(impossible)}: ${outcome[direction]}. ${instead[direction]}`,
        )
      if (untyped.length > 0)
        printLine(`volant: ${where}: the API's document has no type for ${listed(untyped)}. ${typed}`)
    }
    const others = untold.length - most
    if (others === 1) printLine('volant: 1 more schema has the same problem')
    else if (others > 1) printLine(`volant: ${others} more schemas have the same problem`)
  }
}

/** The consequence for clients if JSON cannot carry a value. */
const outcome: Readonly<Record<Direction, string>> = {
  input: 'every request that has one is refused',
  output: 'no client can get one',
}

/** The advice for libraries that are not known. */
const general = {
  input: 'Take text, and convert it in the schema if you need to',
  output: 'Send text',
  typed: 'Add a schema after the transform',
}

function listed(holes: readonly Unrepresentable[]): string {
  const named = holes.slice(0, most).map(({ pointer, kind }) => `${pointer} (${kind})`)
  return named.join(', ') + (holes.length > most ? ` and ${holes.length - most} more` : '')
}

interface UsedSchema {
  readonly schema: Schema
  readonly where: string
  readonly direction: Direction
}

function* usesOf(routes: readonly RouteInfo[]): Generator<UsedSchema> {
  for (const { method, path, schemas, checks, responses, errors, messages } of routes) {
    const all = [
      ...[...checks, schemas].flatMap((each) =>
        Object.entries(each).map((part) => [...part, 'input'] as const),
      ),
      ...Object.entries(responses ?? {}).map(
        ([status, each]) => [`response ${status}`, each, 'output'] as const,
      ),
      ['in', messages?.in, 'input'] as const,
      ['out', messages?.out, 'output'] as const,
      ...Object.entries(errors).map(([code, { data }]) => [`errors.${code}.data`, data, 'output'] as const),
    ]
    for (const [part, schema, direction] of all)
      if (schema !== null && schema !== undefined)
        yield { schema, where: `${method} ${path}: ${part}`, direction }
  }
}
