/**
 * Codecs of Zod in what is sent. A reply goes through its schema the way a request does, and so would be decoded: the
 * Date that a body was made into is refused, and what is sent is what only a server should see. To encode it, handlers
 * and clients would have to be typed the other way round wherever a codec is.
 */
import { VolantError } from '../errors/errors.ts'

/** The parts of a Zod schema that hold other schemas. */
interface ZodDef {
  readonly type?: unknown
  readonly reverseTransform?: unknown
  readonly shape?: Readonly<Record<string, unknown>>
  readonly [part: string]: unknown
}

/** Members of a `def` that hold schemas of the same value, and those that hold schemas of its members, by type. */
const same = new Map<unknown, readonly string[]>([
  ['pipe', ['in', 'out']],
  ['intersection', ['left', 'right']],
  ['union', ['options']],
  ...['optional', 'nullable', 'default', 'prefault', 'nonoptional', 'readonly', 'catch', 'promise'].map(
    (type) => [type, ['innerType']] as const,
  ),
])
const inside = new Map<unknown, readonly string[]>([
  ['object', ['catchall']],
  ['array', ['element']],
  ['tuple', ['items', 'rest']],
  ['record', ['keyType', 'valueType']],
])

/**
 * `refuseCodecs` when a route is registered, but not in production: the walk takes 5 to 40 µs for ten properties, which a
 * start with thousands of routes need not pay. There the first reply finds it.
 */
export function refuseCodecsEarly(schema: unknown, where: string): void {
  if (process.env['NODE_ENV'] !== 'production') refuseCodecs(schema, where)
}

/** Throws `E_BAD_SCHEMA` where a schema of a reply has a codec, with its place. What is behind `z.lazy` is not looked at. */
export function refuseCodecs(schema: unknown, where: string): void {
  const at = codecIn(schema, '#', new Set())
  if (at === null) return
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where} has a codec at ${at}, and a reply is not encoded by it: write the side that the handler gives, such as z.date() (sent as ISO 8601), and a transform where something else is to be sent`,
  )
}

function codecIn(schema: unknown, at: string, seen: Set<unknown>): string | null {
  const def = (schema as { _zod?: { def?: ZodDef } } | null | undefined)?._zod?.def
  if (def === undefined) return null
  const { type } = def
  const wrapped = same.get(type)
  const members = inside.get(type)
  if ((wrapped === undefined && members === undefined) || seen.has(schema)) return null
  seen.add(schema)
  if (typeof def.reverseTransform === 'function') return at
  if (type === 'object') {
    const { shape = {} } = def
    for (const name of Object.keys(shape)) {
      const found = codecIn(shape[name], `${at}/${name}`, seen)
      if (found !== null) return found
    }
  }
  return codecAmong(def, wrapped, at, seen) ?? codecAmong(def, members, `${at}/*`, seen)
}

function codecAmong(
  def: ZodDef,
  names: readonly string[] = [],
  at: string,
  seen: Set<unknown>,
): string | null {
  for (const name of names) {
    const each = def[name]
    for (const schema of Array.isArray(each) ? (each as unknown[]) : [each]) {
      const found = codecIn(schema, at, seen)
      if (found !== null) return found
    }
  }
  return null
}
