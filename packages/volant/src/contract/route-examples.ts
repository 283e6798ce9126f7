/** Examples of a route's bodies: data, as the document shows it. */
import { VolantError } from '../errors/errors.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Contract } from '../types/parts.ts'

/** Throws `E_BAD_OPTION` for what is no example, and for a value that JSON has nothing for. */
export function checkExamples(where: string, given: NonNullable<Contract['examples']>): void {
  const place = `${where}: examples`
  if (!isObject(given)) throw wrong(place, '{ body, response }', given)
  checkOptionNames(place, given, ['body', 'response'])
  const { body, response } = given
  if (body !== undefined) checkNamed(`${place}.body`, body)
  if (response === undefined) return
  if (!isObject(response)) throw wrong(`${place}.response`, 'examples by status', response)
  for (const [status, each] of Object.entries(response)) {
    if (!/^[2-5]\d\d$/.test(status)) throw wrong(`${place}.response`, 'examples by status', status)
    checkNamed(`${place}.response.${status}`, each)
  }
}

function checkNamed(where: string, examples: unknown): void {
  if (!isObject(examples)) throw wrong(where, 'examples by name: { short: { value } }', examples)
  for (const [name, example] of Object.entries(examples)) {
    const place = `${where}.${name}`
    if (!isObject(example) || !('value' in example)) throw wrong(place, '{ value }', example)
    checkOptionNames(place, example, ['summary', 'value'])
    if (example['summary'] !== undefined && typeof example['summary'] !== 'string') {
      throw wrong(`${place}.summary`, 'a text', example['summary'])
    }
    if (!isJSON(example['value'])) throw wrong(`${place}.value`, 'what JSON can write', example['value'])
  }
}

function isJSON(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function wrong(place: string, takes: string, given: unknown): VolantError {
  return new VolantError('E_BAD_OPTION', `${place} takes ${takes}, not ${briefValue(given)}`)
}
