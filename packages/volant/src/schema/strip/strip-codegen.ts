/**
 * Generates the code of `strip` for schemas whose properties have fixed names: one object literal for each node. On
 * Node.js 26 a reply of five properties takes 2,700 instructions with it, 7,800 with the walk of `strip` and 2,500 with
 * JSON.stringify alone (`node lab/serializers.mjs --way walk`; times are in docs/decisions/0009-serializers.md).
 * Replies of Zod and Valibot need neither.
 */
import type { SchemaNode, Discriminated } from './schema-node.ts'
import { stripAt } from './strip.ts'

/** Schemas with more properties than this are walked. */
const mostNames = 2000

/** Makes a value of which JSON.stringify gives the same text as of the result of `strip`. */
export type CompiledStrip = (value: unknown) => unknown

/**
 * Gives null where no code can be made: the root node allows properties that the schema does not name, or has branches
 * without a discriminator, or this process forbids generated code. The function overflows the stack (RangeError) for a
 * value that holds itself.
 *
 * Only names of properties and values of discriminators come from the schema into the code, as JSON.
 */
export function compileStrip(root: SchemaNode): CompiledStrip | null {
  if (!isGenerated(root)) return null
  const nodes = [root]
  const numbers = new Map([[root, 0]])
  const functions: string[] = []
  let names = 0
  const use = (node: SchemaNode, value: string, key: string) => {
    if (node.keepsAll) return value
    let number = numbers.get(node)
    if (number === undefined) {
      number = nodes.push(node) - 1
      numbers.set(node, number)
    }
    return isGenerated(node)
      ? `f${number}(${value}, ${key})`
      : `strip(${value}, nodes[${number}], String(${key}))`
  }
  // The loop body adds to `nodes`.
  for (const [number, node] of nodes.entries()) {
    names += node.names.length
    if (names > mostNames) return null
    if (isFixed(node)) functions.push(functionOf(node, number, use))
    else if (node.discriminated !== null) functions.push(choiceOf(node.discriminated, number, use))
  }
  const code = `'use strict'\n${functions.join('\n')}\nreturn (value) => f0(value, '')`
  try {
    // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- all that is not written here is JSON
    const make = new Function('strip', 'nodes', 'protoOf', 'objects', 'arrays', code)
    return make(stripAt, nodes, Object.getPrototypeOf, Object.prototype, Array.prototype) as CompiledStrip
  } catch {
    // --disallow-code-generation-from-strings makes it an EvalError.
    return null
  }
}

function isGenerated(node: SchemaNode): boolean {
  return isFixed(node) || node.discriminated !== null
}

function isFixed(node: SchemaNode): boolean {
  return node.isDecided && (node.opensObject || !node.hasOthers) && (node.opensArray || node.firstItems === 0)
}

type Use = (node: SchemaNode, value: string, key: string) => string

/** Values that are no plain objects or arrays, or have a `toJSON`, are walked. */
function functionOf(node: SchemaNode, number: number, use: Use): string {
  return `function f${number}(value, key) {
  if (typeof value !== 'object' || value === null) return value
  const proto = protoOf(value)
  if ((proto !== objects && proto !== arrays) || typeof value.toJSON === 'function') {
    return strip(value, nodes[${number}], String(key))
  }
  if (proto === objects) return ${node.opensObject ? 'value' : literal(node, use)}
  ${node.opensArray ? 'return value' : loop(node, use)}
}`
}

/** Makes the function for a union with a discriminator. */
function choiceOf({ name, nodes }: Discriminated, number: number, use: Use): string {
  const cases = [...nodes].map(
    ([value, node]) => `case ${JSON.stringify(value)}: return ${use(node, 'value', 'key')}`,
  )
  return `function f${number}(value, key) {
  if (typeof value !== 'object' || value === null) return value
  if (protoOf(value) === objects && typeof value.toJSON !== 'function') switch (value[${JSON.stringify(name)}]) {
  ${cases.join('\n  ')}
  }
  return strip(value, nodes[${number}], String(key))
}`
}

function literal(node: SchemaNode, use: Use): string {
  const members = node.names.map((name) => {
    const text = JSON.stringify(name)
    return `${text}: ${use(node.property(name) as SchemaNode, `value[${text}]`, text)}`
  })
  return `{ ${members.join(', ')} }`
}

function loop(node: SchemaNode, use: Use): string {
  const item = use(node.item(0), 'value[at]', 'at')
  if (item === 'value[at]') return 'return value'
  return `const copy = new Array(value.length)
  for (let at = 0; at < copy.length; at++) copy[at] = ${item}
  return copy`
}
