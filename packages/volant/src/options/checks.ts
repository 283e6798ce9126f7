/** Checks options. Each function gives the value back, or throws an `E_BAD_OPTION` that names the option. */
import { bad } from './bad-option.ts'
import { checkOptionNames, type ForeignNames } from './option-names.ts'

/** Checks that `options` is an object, and that it has no names other than `names`. */
export function checkNames(
  where: string,
  options: unknown,
  names: readonly string[],
  foreign?: ForeignNames,
): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw bad(where, options, 'an object of options')
  }
  checkOptionNames(where, options, names, foreign)
}

export function checkFlag(name: string, value: unknown, fallback: boolean): boolean {
  if (value === undefined) return fallback
  if (typeof value !== 'boolean') throw bad(name, value, 'true or false')
  return value
}

export function checkInteger(
  name: string,
  value: unknown,
  [min, max]: readonly [number, number],
  wanted: string,
): number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
  throw bad(name, value, wanted)
}

/** Checks that the value is a function, or undefined. */
export function checkFunction(name: string, value: unknown, wanted = 'a function'): void {
  if (value !== undefined && typeof value !== 'function') throw bad(name, value, wanted)
}

/** Checks that the value is a text that `good` takes. */
export function checkText(name: string, value: unknown, good: RegExp, wanted: string): string {
  if (typeof value === 'string' && good.test(value)) return value
  throw bad(name, value, wanted)
}

export function checkChoice<const T>(name: string, value: unknown, choices: readonly T[]): T {
  if (choices.includes(value as T)) return value as T
  throw bad(name, value, choices.map(String).join(', '))
}

/** Checks that `check` takes each value of a list. */
export function checkEach<T>(
  name: string,
  value: unknown,
  wanted: string,
  check: (name: string, value: unknown) => T,
): T[] {
  if (!Array.isArray(value)) throw bad(name, value, wanted)
  return value.map((each) => check(name, each))
}
