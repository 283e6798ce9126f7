/** Refuses schemas with a part that cannot work where the schema stands: a file in a body, a codec in a reply. */
import { VolantError } from '../errors/errors.ts'
import type { SchemaParts } from './vendors/vendor.ts'
import { vendorByShape } from './vendors/vendor-of.ts'

/** Throws `E_BAD_SCHEMA` where `schema` asks for a `File` or a `Blob`, as far as its library shows without being run. */
export function refuseFiles(schema: unknown, where: string): void {
  const pointer = fileIn(schema, '#', new Set())
  if (pointer === null) return
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where}: ${pointer} is a file, and a body is JSON or text unless its route says otherwise: add the route option consumes: 'multipart/form-data'`,
  )
}

/**
 * Runs `refuseCodecs` when a route is registered, but not in production: the walk takes 5 to 40 µs for ten properties,
 * which a start with thousands of routes need not pay. There the first reply finds it.
 */
export function refuseCodecsEarly(schema: unknown, where: string): void {
  if (process.env['NODE_ENV'] !== 'production') refuseCodecs(schema, where)
}

/**
 * Throws `E_BAD_SCHEMA` where the schema of a reply has a codec of Zod. A reply goes through its schema as a request does,
 * so a codec would decode it: the Date that it should encode is refused. `z.lazy` is not opened.
 */
export function refuseCodecs(schema: unknown, where: string): void {
  const pointer = codecIn(schema, '#', new Set())
  if (pointer === null) return
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where} has a codec at ${pointer}, and a reply is not encoded by it: write the side that the handler gives, such as z.date() (sent as ISO 8601), and a transform where something else is to be sent`,
  )
}

/** Each part is looked at once, since schemas refer to themselves. */
function partsOf(schema: unknown, opensGetters: boolean, seen: Set<unknown>): SchemaParts {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null || seen.has(schema))
    return {}
  seen.add(schema)
  return vendorByShape(schema)?.partsOf?.(schema, opensGetters) ?? {}
}

function fileIn(schema: unknown, at: string, seen: Set<unknown>): string | null {
  const { isFile = false, within = [], choices = [] } = partsOf(schema, false, seen)
  if (isFile) return at
  for (const [pointer, part] of within) {
    const found = fileIn(part, at + pointer, seen)
    if (found !== null) return found
  }
  const found = choices.map((each) => fileIn(each, at, seen))
  return found.length > 0 && found.every((each) => each !== null) ? (found[0] as string) : null
}

function codecIn(schema: unknown, at: string, seen: Set<unknown>): string | null {
  const { isCodec = false, within = [], choices = [], others = [] } = partsOf(schema, true, seen)
  if (isCodec) return at
  const alternatives = choices.map((each): [string, unknown] => ['', each])
  for (const [pointer, part] of [...within, ...alternatives, ...others]) {
    const found = codecIn(part, at + pointer, seen)
    if (found !== null) return found
  }
  return null
}
