/** Checks options that stand for the name or the value of a header. */
import { bad } from '../options/bad-option.ts'
import { checkHeaderName, checkHeaderValue } from '../reply/header.ts'

/** Gives the name of a header that a reply may have, in lower case. */
export function checkFieldName(option: string, value: unknown): string {
  try {
    return checkHeaderName(value as string)
  } catch {
    throw bad(option, value, 'the name of a header the server does not write itself')
  }
}

/** Gives text that a header may have as its value. */
export function checkFieldValue(option: string, value: unknown, wanted: string): string {
  try {
    if (typeof value === 'string' && value.trim() !== '') return checkHeaderValue(option, value)
  } catch {
    // The error below names the option.
  }
  throw bad(option, value, wanted)
}

/** Gives the name of a header or directive, whose option is written in camel case. */
export function dashed(option: string): string {
  return option.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}
