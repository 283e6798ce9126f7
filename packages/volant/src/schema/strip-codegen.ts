/**
 * `strip` as generated code, for what the places of a schema have fixed names: one object literal for each. JSON.stringify
 * of what that makes costs up to a tenth more than of the value itself, where the walk of `strip` costs as much again
 * (`lab/serializers.mjs`, docs/decisions/0009-serializers.md).
 */
import type { Place, Tagged } from './schema-node.ts'
import { stripAt } from './strip.ts'

/** Properties in generated code; what schemas have more of is walked. */
const mostNames = 2000

/** What `strip` makes of a value, as the text that JSON.stringify gives tells. */
export type Projection = (value: unknown) => unknown

/**
 * The projection of a place; null where nothing can be generated: the place has names that the schema does not know, or
 * branches that no property tells apart, or this process allows no generated code. A value that holds itself overflows the stack (RangeError).
 *
 * Of the schema, nothing comes into the code but names of properties and values of tags, as JSON.
 */
export function projectionOf(root: Place): Projection | null {
  if (!isGenerated(root)) return null
  const places = [root]
  const numbers = new Map([[root, 0]])
  const functions: string[] = []
  let names = 0
  const use = (place: Place, value: string, key: string) => {
    if (place.idle) return value
    let number = numbers.get(place)
    if (number === undefined) {
      number = places.push(place) - 1
      numbers.set(place, number)
    }
    return isGenerated(place)
      ? `f${number}(${value}, ${key})`
      : `strip(${value}, places[${number}], String(${key}))`
  }
  // The list grows while it is gone through.
  for (const [number, place] of places.entries()) {
    names += place.names.length
    if (names > mostNames) return null
    if (isFixed(place)) functions.push(functionOf(place, number, use))
    else if (place.tagged !== null) functions.push(choiceOf(place.tagged, number, use))
  }
  const code = `'use strict'\n${functions.join('\n')}\nreturn (value) => f0(value, '')`
  try {
    // oxlint-disable-next-line typescript/no-implied-eval, no-new-func -- all that is not written here is JSON
    const make = new Function('strip', 'places', 'protoOf', 'objects', 'arrays', code)
    return make(stripAt, places, Object.getPrototypeOf, Object.prototype, Array.prototype) as Projection
  } catch {
    // An EvalError, under --disallow-code-generation-from-strings.
    return null
  }
}

function isGenerated(place: Place): boolean {
  return isFixed(place) || place.tagged !== null
}

function isFixed(place: Place): boolean {
  return (
    place.isDecided && (place.opensObject || !place.hasOthers) && (place.opensArray || place.firstItems === 0)
  )
}

type Use = (place: Place, value: string, key: string) => string

/** What is no plain object or array, or has a `toJSON`, is walked. */
function functionOf(place: Place, number: number, use: Use): string {
  return `function f${number}(value, key) {
  if (typeof value !== 'object' || value === null) return value
  const proto = protoOf(value)
  if ((proto !== objects && proto !== arrays) || typeof value.toJSON === 'function') {
    return strip(value, places[${number}], String(key))
  }
  if (proto === objects) return ${place.opensObject ? 'value' : literal(place, use)}
  ${place.opensArray ? 'return value' : loop(place, use)}
}`
}

/** Of the branches that a property tells apart. */
function choiceOf({ name, places }: Tagged, number: number, use: Use): string {
  const cases = [...places].map(
    ([value, place]) => `case ${JSON.stringify(value)}: return ${use(place, 'value', 'key')}`,
  )
  return `function f${number}(value, key) {
  if (typeof value !== 'object' || value === null) return value
  if (protoOf(value) === objects && typeof value.toJSON !== 'function') switch (value[${JSON.stringify(name)}]) {
  ${cases.join('\n  ')}
  }
  return strip(value, places[${number}], String(key))
}`
}

function literal(place: Place, use: Use): string {
  const members = place.names.map((name) => {
    const text = JSON.stringify(name)
    return `${text}: ${use(place.property(name) as Place, `value[${text}]`, text)}`
  })
  return `{ ${members.join(', ')} }`
}

function loop(place: Place, use: Use): string {
  const item = use(place.item(0), 'value[at]', 'at')
  if (item === 'value[at]') return 'return value'
  return `const copy = new Array(value.length)
  for (let at = 0; at < copy.length; at++) copy[at] = ${item}
  return copy`
}
