/** Finds the limits of a form: those of its route, unless the options of a call say otherwise. */
import { checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkLimit } from '../options/limits.ts'
import type { FormLimits } from '../types/form.ts'
import type { KnownLimits } from './multipart.ts'

const names = ['maxFormParts', 'maxFormFiles', 'maxFileSize', 'maxFieldSize'] as const

/** Throws `E_BAD_OPTION`, which names the option, for one that makes no sense. */
export function formLimits(where: string, given: FormLimits | undefined, route: KnownLimits): KnownLimits {
  if (given === undefined) return route
  checkNames(where, given, names, foreignNames.form)
  const limits = { ...route }
  for (const name of names) {
    const value = given[name]
    if (value !== undefined) limits[name] = checkLimit(name, value, `${where}: ${name}`)
  }
  return limits
}
