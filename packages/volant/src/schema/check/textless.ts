/** Warns of properties of `params`, `query`, `headers` and `cookies` that refuse all text, such as `z.number()`. */
import { madeOnce } from '../made-once.ts'
import { printLine } from '../../report/print-line.ts'
import type { Schema } from '../../types/schema.ts'
import { type Resolve, resolverOf } from '../document.ts'
import { escapeKey } from '../json-pointer.ts'
import { jsonSchemaOf } from '../json-schema.ts'
import { vendorOf } from '../vendors/vendor-of.ts'

interface Textless {
  readonly name: string
  /** The type's name in JSON Schema, or in its library where JSON has no such type. */
  readonly type: string
  /** It refuses all JSON, too, as `z.date()` does. */
  readonly isImpossible: boolean
}

/**
 * Prints once for each schema what to write instead of such properties: of those for which `isWrong` holds, or without it
 * of all but those that the warnings of the API's document name. Nothing is printed for libraries that are not known,
 * which may convert text by themselves.
 */
export function warnTextless(schema: Schema, where: string, isWrong?: (name: string) => boolean): void {
  const members = madeOnce(known, schema, () => find(schema))
  if (members.length === 0 || warned.has(schema)) return
  const wrong = members.filter(({ name, isImpossible }) => isWrong?.(name) ?? !isImpossible)
  if (wrong.length === 0 && isWrong !== undefined) return
  warned.add(schema)
  const advice = vendorOf(schema).advice?.text ?? {}
  for (const { name, type } of wrong) {
    const instead = advice[type] ?? advice['other']
    printLine(
      `volant: ${where}: ${JSON.stringify(name)} is of type ${type}, but it comes as text: every request that has it is refused. Write ${instead}`,
    )
  }
}

const warned = new WeakSet<Schema>()
const known = new WeakMap<Schema, readonly Textless[]>()

function find(schema: Schema): Textless[] {
  if (vendorOf(schema).advice === undefined) return []
  const described = jsonSchemaOf(schema, 'input')
  if (!('schema' in described)) return []
  const { schema: root, texts, holes = [] } = described
  const resolve = resolverOf(root)
  const properties = Object.entries((root['properties'] ?? {}) as Record<string, unknown>)
  return properties.flatMap(([name, each]): Textless[] => {
    const pointer = `#/${escapeKey(name)}`
    const pointers = [pointer, `${pointer}/*`]
    if (pointers.some((each) => texts?.has(each) === true)) return []
    const hole = holes.find((part) => part.isImpossible && pointers.includes(part.pointer))
    if (hole !== undefined) return [{ name, type: hole.kind, isImpossible: true }]
    return takesText(each, resolve, 0) ? [] : [{ name, type: typeOf(each, resolve), isImpossible: false }]
  })
}

/** References may go in circles. */
const deepest = 16

function takesText(schema: unknown, resolve: Resolve, depth: number): boolean {
  if (typeof schema !== 'object' || schema === null || depth > deepest) return schema !== false
  const { $ref, type, anyOf, oneOf, allOf, items, prefixItems, ...rest } = schema as Record<string, unknown>
  const inside = (each: unknown): boolean => takesText(each, resolve, depth + 1)
  if ('const' in rest) return typeof rest['const'] === 'string'
  if (Array.isArray(rest['enum'])) return rest['enum'].some((value) => typeof value === 'string')
  if (typeof $ref === 'string' && !inside(resolve($ref)?.schema)) return false
  if (Array.isArray(allOf) && !allOf.every(inside)) return false
  const choices = anyOf ?? oneOf
  if (Array.isArray(choices) && !choices.some(inside)) return false
  const types = [type].flat()
  if (type === undefined || types.includes('string')) return true
  return types.includes('array') && inside(Array.isArray(prefixItems) ? prefixItems[0] : items)
}

function typeOf(schema: unknown, resolve: Resolve): string {
  const { $ref, type, anyOf, items, ...rest } = schema as Record<string, unknown>
  if (typeof $ref === 'string') return typeOf(resolve($ref)?.schema ?? {}, resolve)
  const [first] = [type].flat().filter((each) => each !== 'null')
  if (first === 'array') return typeOf(items ?? {}, resolve)
  if (typeof first === 'string') return first
  if (Array.isArray(anyOf)) return typeOf(anyOf[0], resolve)
  const [value] = [rest['const'] ?? rest['enum']].flat()
  return value === undefined ? 'null' : typeof value
}
