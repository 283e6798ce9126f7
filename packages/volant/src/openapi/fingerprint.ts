/** Whether two JSON Schemas say the same, wherever they stand. */
import type { JSONSchemaObject } from './document.ts'
import type { Resolve } from './references.ts'
import { mapSubschemas } from './subschemas.ts'

export class Fingerprints {
  /** Schemas are frozen; one is asked for wherever it is used. */
  readonly #texts = new WeakMap<JSONSchemaObject, string>()

  /** What the schema says, without what its references mean. */
  text(raw: JSONSchemaObject): string {
    let text = this.#texts.get(raw)
    if (text === undefined) {
      const { $schema: _, $id: __, $defs: ___, definitions: ____, ...rest } = raw
      text = JSON.stringify(rest)
      this.#texts.set(raw, text)
    }
    return text
  }

  /** What it says, with all that its references lead to. */
  of(raw: JSONSchemaObject, resolve: Resolve): string {
    const text = this.text(raw)
    if (!/"\$(?:dynamicR|r)ef"/.test(text)) return text
    const needed = new Map<string, string>()
    const visit = (node: JSONSchemaObject): JSONSchemaObject => {
      for (const ref of [node['$ref'], node['$dynamicRef']]) {
        if (typeof ref !== 'string' || needed.has(ref)) continue
        const target = resolve(ref)?.schema
        needed.set(ref, typeof target === 'object' ? this.text(target) : String(target))
        if (typeof target === 'object') visit(target)
      }
      const { $defs: _, definitions: __, ...rest } = node
      mapSubschemas(rest, visit)
      return node
    }
    visit(raw)
    return JSON.stringify([text, ...[...needed].toSorted(([a], [b]) => (a < b ? -1 : 1))])
  }
}
