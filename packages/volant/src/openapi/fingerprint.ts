/** Whether two JSON Schemas say the same, wherever they stand. */
import type { JSONSchemaObject } from './types.ts'
import { isObject, mapSubschemas, type Resolve } from '../schema/document.ts'

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

/** A schema with all that its references lead to, whatever definitions are called. */
interface Shape {
  readonly text: string
  /** Tells for each object, in the order they are met, whether it refuses undeclared properties: the text does not. */
  readonly closed: readonly boolean[]
}

function shapeOf(raw: JSONSchemaObject, resolve: Resolve): Shape {
  const met = [raw]
  const closed: boolean[] = []
  const numberOf = (target: JSONSchemaObject): number => {
    const at = met.indexOf(target)
    return at < 0 ? met.push(target) - 1 : at
  }
  const visit = (node: JSONSchemaObject): JSONSchemaObject => {
    const { $schema: _, $id: __, $defs: ___, definitions: ____, $anchor: _____, ...said } = node
    const { $dynamicAnchor: ______, additionalProperties: others, ...rest } = said
    closed.push(others === false)
    const made = mapSubschemas(
      others === undefined || others === false ? rest : { ...rest, additionalProperties: others },
      visit,
    )
    for (const name of ['$ref', '$dynamicRef']) {
      const target = typeof made[name] === 'string' ? resolve(made[name])?.schema : undefined
      if (target !== undefined) made[name] = isObject(target) ? numberOf(target) : target
    }
    return made
  }
  // Grows while references are met.
  const texts: string[] = []
  for (let at = 0; at < met.length; at++) texts.push(JSON.stringify(visit(met[at] as JSONSchemaObject)))
  return { text: texts.join('\n'), closed }
}

/** A schema as it stands in a document. */
interface Standing {
  readonly direction: 'input' | 'output'
  readonly raw: JSONSchemaObject
  readonly root: { readonly resolve: Resolve }
}

/** Which schemas can be one component. */
export class Shapes {
  readonly #shapes = new WeakMap<Standing, Shape>()

  text(schema: Standing): string {
    return this.#of(schema).text
  }

  /**
   * Whether `schema` holds for all that `other` describes: they say the same, or `schema` is what clients send, `other`
   * is what they are sent, and they differ by objects that are closed in the latter alone.
   */
  covers(schema: Standing, other: Standing): boolean {
    const [a, b] = [this.#of(schema), this.#of(other)]
    if (a.text !== b.text) return false
    const isOpened = schema.direction === 'input' && other.direction === 'output'
    return a.closed.every((closed, at) => closed === b.closed[at] || (isOpened && !closed))
  }

  #of(schema: Standing): Shape {
    const shape = this.#shapes.get(schema) ?? shapeOf(schema.raw, schema.root.resolve)
    this.#shapes.set(schema, shape)
    return shape
  }
}
