/** Checks examples of a route's bodies, as the document shows them. */
import { bad } from '../options/bad-option.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { isObject } from '../schema/document.ts'
import type { Contract } from '../types/parts.ts'

/** Checks examples. Throws `E_BAD_OPTION` for a malformed example, and for a value that JSON cannot carry. */
export function checkExamples(where: string, given: NonNullable<Contract['examples']>): void {
  const place = `${where}: examples`
  if (!isObject(given)) throw bad(place, given, '{ body, response }')
  checkOptionNames(place, given, ['body', 'response'])
  const { body, response } = given
  if (body !== undefined) checkNamed(`${place}.body`, body)
  if (response === undefined) return
  if (!isObject(response)) throw bad(`${place}.response`, response, 'examples by status')
  for (const [status, each] of Object.entries(response)) {
    if (!/^[2-5]\d\d$/.test(status)) throw bad(`${place}.response`, status, 'examples by status')
    checkNamed(`${place}.response.${status}`, each)
  }
}

function checkNamed(where: string, examples: unknown): void {
  if (!isObject(examples)) throw bad(where, examples, 'examples by name: { short: { value } }')
  for (const [name, example] of Object.entries(examples)) {
    const place = `${where}.${name}`
    if (!isObject(example) || !('value' in example)) throw bad(place, example, '{ value }')
    checkOptionNames(place, example, ['summary', 'value'])
    if (example['summary'] !== undefined && typeof example['summary'] !== 'string') {
      throw bad(`${place}.summary`, example['summary'], 'a text')
    }
    if (!isJSON(example['value'])) throw bad(`${place}.value`, example['value'], 'what JSON can write')
  }
}

function isJSON(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
