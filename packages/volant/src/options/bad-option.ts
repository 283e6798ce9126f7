/** The error for an option whose value makes no sense. */
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'

/** Makes an `E_BAD_OPTION` that names the option, what it takes, and what it was given. */
export function bad(name: string, value: unknown, wanted: string): VolantError {
  return new VolantError('E_BAD_OPTION', `${name} takes ${wanted}, not ${briefValue(value)}`)
}
