/** Checks of middleware options: whatever makes no sense is refused when the middleware is made, by its name. */
import { checkHeaderName, checkHeaderValue } from '../reply/header.ts'
import { bad } from './bad-option.ts'
import { checkOptionNames, type ForeignNames } from './option-names.ts'

/** Throws `E_BAD_OPTION` unless `options` is an object without names other than these. */
export function checkNames(
  middleware: string,
  options: unknown,
  names: readonly string[],
  foreign?: ForeignNames,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw bad(middleware, options, 'an object of options')
  }
  checkOptionNames(middleware, options, names, foreign)
}

export function checkFlag(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw bad(name, value, 'true or false')
  return value
}

/** A list of texts that `good` takes. */
export function checkList(name: string, value: unknown, good: RegExp, wanted: string): readonly string[] {
  if (!Array.isArray(value)) throw bad(name, value, `an array of ${wanted}`)
  for (const each of value) if (typeof each !== 'string' || !good.test(each)) throw bad(name, each, wanted)
  return [...(value as string[])]
}

/** A name the reply may have, in lower case. */
export function checkFieldName(name: string, value: unknown): string {
  try {
    return checkHeaderName(value as string)
  } catch {
    throw bad(name, value, 'the name of a header the server does not write itself')
  }
}

/** Text a header may have as its value. */
export function checkFieldValue(name: string, value: unknown, wanted: string): string {
  try {
    if (typeof value === 'string' && value.trim() !== '') return checkHeaderValue(name, value)
  } catch {
    // Said below, with the option's name.
  }
  throw bad(name, value, wanted)
}
