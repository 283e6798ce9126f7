/** Schemas that have no JSON Schema: each is named once, with its route. */
import { notice } from '../notice.ts'
import type { RouteInfo } from '../route-info.ts'
import { jsonSchemaOf } from '../schema/json-schema.ts'
import type { Schema } from '../types.ts'
import type { Direction, Opaque } from './components.ts'

/** Milliseconds at a time for schemas nobody has asked for yet. */
const slice = 4

export class OpaqueSchemas {
  readonly #told = new WeakSet<Schema>()

  tell({ schema, where, reason }: Opaque): void {
    if (this.#told.has(schema)) return
    this.#told.add(schema)
    notice(`volant: ${where} has no JSON Schema, and the API's document cannot show it: ${reason}`)
  }

  /** Looks through all routes, in the pauses between requests. */
  find(routes: readonly RouteInfo[]): void {
    const uses = usesOf(routes)
    const look = (): void => {
      const until = performance.now() + slice
      for (let next = uses.next(); !next.done; next = uses.next()) {
        const { schema, where, direction } = next.value
        const result = jsonSchemaOf(schema, direction)
        if ('opaque' in result) this.tell({ schema, where, reason: result.opaque })
        if (performance.now() > until) return void setImmediate(look).unref()
      }
    }
    setImmediate(look).unref()
  }
}

function* usesOf(
  routes: readonly RouteInfo[],
): Generator<{ schema: Schema; where: string; direction: Direction }> {
  for (const { method, path, hidden, schemas, responses, errors } of routes) {
    if (hidden === true) continue
    const name = `${method} ${path}`
    for (const [part, schema] of Object.entries(schemas) as [string, Schema | undefined][]) {
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
