/** Writes any value as JSON for a log line: bounded, without secrets, and without throwing. */
import { censored, noSecrets, type SecretPaths, type SecretNames } from './secrets.ts'
import { errorText, inString, longestText, shortened } from './text.ts'

/** Objects in objects are written this deep. */
const deepest = 6
/** The most members that are written of one object or array. */
const mostMembers = 100
/** The most characters of all values of a line, each of which counts for at least `least`. */
const mostCharacters = 65_536
const least = 8

/** What a member stands for that cannot be read. */
const unreadable = '"[Unreadable]"'

/** Writes the members of one call of a logger. */
export class ValueWriter {
  readonly #secrets: SecretNames
  #left = mostCharacters
  readonly #above: object[] = []

  constructor(secrets: SecretNames) {
    this.#secrets = secrets
  }

  /** Gives `,"name":value` for each member but those that `leftOut` has. */
  members(fields: object, leftOut: ReadonlySet<string>): string {
    try {
      const { toJSON } = fields as { toJSON?: unknown }
      const all: unknown = typeof toJSON === 'function' ? toJSON.call(fields) : fields
      if (typeof all !== 'object' || all === null || isEmitter(all)) return ''
      return this.#join(Object.keys(all), (name) =>
        leftOut.has(name) ? undefined : this.#member(all, name, this.#secrets.paths),
      )
    } catch {
      return ''
    }
  }

  /** Gives the value as JSON; undefined for what JSON leaves out. */
  value(value: unknown, paths: SecretPaths | null = null): string | undefined {
    this.#left -= least
    if (this.#left <= 0) return '"…"'
    switch (typeof value) {
      case 'string':
        return this.#text(value)
      case 'number':
        return Number.isFinite(value) ? String(value) : 'null'
      case 'boolean':
        return String(value)
      case 'bigint':
        // A number that a reader would round is text.
        return BigInt.asIntN(53, value) === value ? String(value) : this.#bigText(value)
      case 'object':
        if (value === null) return 'null'
        try {
          return this.#object(value, paths)
        } catch {
          return unreadable
        }
      default:
        return undefined
    }
  }

  #object(value: object, paths: SecretPaths | null): string | undefined {
    if (value instanceof Error) {
      const text = errorText(value)
      this.#left -= text.length
      return text
    }
    if (this.#above.includes(value)) return '"[Circular]"'
    if (this.#above.length === deepest) return Array.isArray(value) ? '"[Array]"' : '"[Object]"'
    if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return `"[${value.byteLength} bytes]"`
    if (isEmitter(value)) return `"[${inString(String(value.constructor.name))}]"`
    this.#above.push(value)
    try {
      const { toJSON } = value as { toJSON?: unknown }
      const json: unknown = typeof toJSON === 'function' ? toJSON.call(value) : value
      if (json !== value)
        return this.value(
          value instanceof URL && this.#secrets !== noSecrets ? withoutPassword(value) : json,
          paths,
        )
      if (value instanceof Set) return this.#array([...value.values()], paths)
      if (Array.isArray(value)) return this.#array(value as unknown[], paths)
      const object: object = value instanceof Map ? Object.fromEntries(value.entries()) : value
      return `{${this.#join(Object.keys(object), (name) => this.#member(object, name, paths)).slice(1)}}`
    } finally {
      this.#above.pop()
    }
  }

  #array(values: readonly unknown[], paths: SecretPaths | null): string {
    const within = paths?.next.get('*') ?? null
    let text = ''
    const count = Math.min(values.length, mostMembers)
    for (let at = 0; at < count && this.#left > 0; at++) {
      text += `,${within?.isSecret === true ? `"${censored}"` : (this.value(values[at], within) ?? 'null')}`
    }
    if (values.length > count) text += `,"… ${values.length - count} more"`
    return `[${text.slice(1)}]`
  }

  #member(object: object, name: string, paths: SecretPaths | null): string | undefined {
    const within = paths === null ? null : (paths.next.get(name) ?? paths.next.get('*') ?? null)
    let text: string | undefined
    if (within?.isSecret === true || this.#secrets.has(name)) text = `"${censored}"`
    else {
      try {
        text = this.value((object as Record<string, unknown>)[name], within)
      } catch {
        text = unreadable
      }
    }
    return text === undefined ? undefined : `,${this.#text(name)}:${text}`
  }

  #join(names: readonly string[], write: (name: string) => string | undefined): string {
    let text = ''
    const count = Math.min(names.length, mostMembers)
    for (let at = 0; at < count && this.#left > 0; at++) text += write(names[at] as string) ?? ''
    if (names.length > count) text += `,"…":"${names.length - count} more"`
    return text
  }

  #text(text: string): string {
    const short = shortened(text, Math.min(longestText, Math.max(this.#left, least)))
    this.#left -= short.length
    return `"${inString(short)}"`
  }

  #bigText(value: bigint): string {
    return value > -hugeNumber && value < hugeNumber ? `"${value}"` : '"[BigInt]"'
  }
}

/** The URLs of databases and brokers have passwords in them. */
function withoutPassword({ href, password }: URL): string {
  return password === '' ? href : href.replace(`:${password}@`, `:${censored}@`)
}

/** Streams, sockets and requests are named, not written: they hold buffers, and the headers of their requests. */
function isEmitter(value: object): boolean {
  const { on, emit } = value as { on?: unknown; emit?: unknown }
  return typeof on === 'function' && typeof emit === 'function'
}

/** Writing more digits than these takes long. */
const hugeNumber = 10n ** 100n
