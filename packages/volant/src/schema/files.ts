/** Finds schemas of bodies that ask for a file: a schema only ever sees JSON, a form of text, or text. */
import { VolantError } from '../errors/errors.ts'
import { escapeKey } from './json-pointer.ts'

/**
 * Throws `E_BAD_SCHEMA` where `schema` asks for a `File` or a `Blob`, as far as Zod, Valibot and ArkType tell without being
 * asked for anything lazy.
 */
export function refuseFiles(schema: unknown, where: string): void {
  const pointer = fileIn(schema)
  if (pointer === null) return
  throw new VolantError(
    'E_BAD_SCHEMA',
    `${where}: ${pointer} is a file, and a schema checks JSON, forms of text, and text: leave the schema of the body out, and take the upload by await ctx.request.formData(), or as a stream with bodyMode: 'stream'`,
  )
}

function fileIn(schema: unknown): string | null {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return null
  if ('_zod' in schema) return find(schema, '#', zodParts, new Set())
  if ('~run' in schema) return find(schema, '#', valibotParts, new Set())
  return typeof schema === 'function' ? arkTypeFile(schema) : null
}

/** The parts of a part of a schema, by their pointers; `choices` where a value fits one of them. */
interface Parts {
  readonly isFile?: boolean
  readonly within?: readonly (readonly [pointer: string, part: unknown])[]
  readonly choices?: readonly unknown[]
}

type PartsOf = (schema: object) => Parts

/** Each part is looked at once: schemas refer to themselves. */
function find(schema: unknown, at: string, partsOf: PartsOf, seen: Set<unknown>): string | null {
  if (typeof schema !== 'object' || schema === null || seen.has(schema)) return null
  seen.add(schema)
  const { isFile = false, within = [], choices = [] } = partsOf(schema)
  if (isFile) return at
  for (const [pointer, part] of within) {
    const found = find(part, at + pointer, partsOf, seen)
    if (found !== null) return found
  }
  const found = choices.map((each) => find(each, at, partsOf, seen))
  return found.length > 0 && found.every((each) => each !== null) ? (found[0] as string) : null
}

/** As it stands in `_zod.def` (Zod 4 and its small edition). */
function zodParts(schema: object): Parts {
  const { def, bag } = (schema as { _zod: { def: Members; bag?: Members } })._zod
  switch (def['type']) {
    case 'file':
      return { isFile: true }
    case 'custom':
      return { isFile: isFileClass(bag?.['Class']) }
    case 'object':
      return { within: named(shapeOf(def)) }
    case 'array':
      return { within: [['/*', def['element']]] }
    case 'tuple':
      return { within: listed(def['items']) }
    case 'record':
      return { within: [['/*', def['valueType']]] }
    case 'union':
      return { choices: (def['options'] as readonly unknown[] | undefined) ?? [] }
    case 'intersection':
      return {
        within: [
          ['', def['left']],
          ['', def['right']],
        ],
      }
    case 'pipe':
      return { within: [['', def['in']]] }
    default:
      return { within: [['', def['innerType']]] }
  }
}

/** Made when it is first read, and by getters of whoever wrote it, which may be too early for what they refer to. */
function shapeOf(def: Members): unknown {
  try {
    return def['shape']
  } catch {
    return {}
  }
}

function valibotParts(schema: object): Parts {
  const { type, entries, item, items, value, wrapped, options, pipe, class: made } = schema as Members
  // The first schema of a pipe is the one that sees the input.
  if (Array.isArray(pipe) && pipe[0] !== schema) return { within: [['', pipe[0]]] }
  if (type === 'file' || type === 'blob') return { isFile: true }
  if (type === 'instance') return { isFile: isFileClass(made) }
  if (type === 'union' || type === 'variant') return { choices: (options as readonly unknown[]) ?? [] }
  if (type === 'intersect')
    return { within: ((options as readonly unknown[]) ?? []).map((each) => ['', each]) }
  if (type === 'record') return { within: [['/*', value]] }
  return { within: [...named(entries), ...listed(items), ['/*', item], ['', wrapped]] }
}

/** ArkType has all parts in one list, without their places, and without telling which are choices. */
function arkTypeFile(schema: object): string | null {
  const { internal } = schema as { internal?: { references?: unknown } }
  if (!Array.isArray(internal?.references)) return null
  const parts = internal.references as readonly { kind?: unknown; proto?: unknown }[]
  return parts.some(({ proto }) => isFileClass(proto)) && parts.every(({ kind }) => kind !== 'union')
    ? '#'
    : null
}

type Members = Readonly<Record<string, unknown>>

/** Properties with a value: a getter is asked by nobody but its library. */
function named(members: unknown): [string, unknown][] {
  if (typeof members !== 'object' || members === null) return []
  return Object.entries(Object.getOwnPropertyDescriptors(members)).flatMap(([name, { value }]) =>
    value === undefined ? [] : [[`/${escapeKey(name)}`, value as unknown]],
  )
}

function listed(items: unknown): [string, unknown][] {
  return Array.isArray(items) ? items.map((each, at) => [`/${at}`, each as unknown]) : []
}

function isFileClass(value: unknown): boolean {
  return value !== undefined && (value === globalThis.File || value === Blob)
}
