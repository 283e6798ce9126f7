/** Tells by its Content-Type how a form is written. */
import { refusal } from '../errors/errors.ts'
import { type MediaType, parseMediaType } from '../request/media-type.ts'
import { parametersOf } from '../request/parameters.ts'
import { malformed } from './part-head.ts'

export const multipart = 'multipart/form-data'
export const urlencoded = 'application/x-www-form-urlencoded'

/** Throws 415 for a type that is not among `types`. */
export function formType(type: string | undefined, types: readonly string[]): MediaType {
  const media = parseMediaType(type ?? '')
  if (media !== null && types.includes(media.essence)) return media
  const given = type === undefined || type === '' ? 'without a type' : type
  throw refusal('E_BODY_TYPE', `the form of this route is ${types.join(' or ')}, not ${given}`)
}

/** The characters and the length of a boundary (RFC 2046 §5.1.1). */
const good = /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/

/** Gives the boundary of a multipart type. Throws 400 for a type without one. */
export function boundaryOf(type: string): string {
  const parameters = parametersOf(type, type.search(/[\t ;]|$/)) ?? []
  const boundaries = parameters.filter(([name]) => name === 'boundary')
  const [[, boundary] = ['', '']] = boundaries
  if (boundaries.length !== 1 || !good.test(boundary)) {
    throw malformed('its Content-Type has no boundary of 1 to 70 characters')
  }
  return boundary
}
