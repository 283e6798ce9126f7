/** Makes and writes a document in slices: thousands of routes take seconds, and the server answers others meanwhile. */
import { isObject } from '../schema/document.ts'

/** The milliseconds of work before other requests run. A step may take longer: a library converts a schema at once. */
const slice = 5

/** Runs the steps, one slice at a time, and gives their result. */
export async function inSlices<T>(steps: Generator<void, T>): Promise<T> {
  for (;;) {
    const end = performance.now() + slice
    do {
      const step = steps.next()
      if (step.done === true) return step.value
    } while (performance.now() < end)
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** At this depth of a document its parts are small: operations and schemas. */
const deepest = 3

/** Gives the text that JSON.stringify gives, in steps. */
export function* jsonOf(value: unknown, depth = 0): Generator<void, string> {
  if (!isObject(value) || depth === deepest) {
    yield
    return JSON.stringify(value)
  }
  const members: string[] = []
  for (const [name, member] of Object.entries(value)) {
    if (member !== undefined) members.push(`${JSON.stringify(name)}:${yield* jsonOf(member, depth + 1)}`)
  }
  return `{${members.join()}}`
}

/** Gives the text that `stringify` of the package `yaml` gives, in steps. */
export function* yamlOf(value: object, stringify: Stringify): Generator<void, string> {
  const parts: string[] = []
  yield* yamlParts(value, stringify, 0, parts)
  return parts.join('')
}

function* yamlParts(value: object, stringify: Stringify, depth: number, parts: string[]): Generator<void> {
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    yield
    const isDivided = isObject(member) && Object.keys(member).length > 0 && depth < deepest - 1
    const options = { aliasDuplicateObjects: false, lineWidth: 0 }
    const text = stringify({ [name]: isDivided ? {} : member }, options)
    // Empty lines of a text stay empty.
    const indented = text.replaceAll(/^(?=.)/gm, '  '.repeat(depth))
    parts.push(isDivided ? indented.replace(/ \{\}\n$/, '\n') : indented)
    if (isDivided) yield* yamlParts(member, stringify, depth + 1, parts)
  }
}

type Stringify = (value: unknown, options: object) => string
