/** The headers of a connect reply: checked as node:http checks them, and merged with those of the context. */
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { unpackHeaders } from '@volant/engine'
import { checkHeaderValue, engineHeaders } from '../reply/header.ts'
import type { RequestContext } from '../types/request.ts'

/** A value as middlewares set it. Arrays become one header for each entry. */
export type FieldValue = string | number | readonly string[]

/** A header by any spelling of its name. */
interface Field {
  readonly lower: string
  /** True for headers that frame the message: they are kept for who asks, and not sent. */
  readonly isFraming: boolean
  /** The last value that passed the check. Most middlewares set the same one in every reply. */
  checked: unknown
}

/** A value that passed the check. An array is a copy of what was given, which nobody else can change. */
type Kept = string | number | string[]

/** Stands for no value; undefined is one that has to be refused. */
const none = Symbol('none')

/** The fields by each spelling of their names. It is bounded, since names may be made from input. */
const known = new Map<string, Field>()
const knownLimit = 1_000
/** Longer names and values are checked each time, so that a thousand of them are not kept alive. */
const longestRemembered = 1_024
/** The engine carries lengths in 16 bits. */
const longest = 65_535

function fieldOf(name: string): Field {
  return known.get(name) ?? learn(name)
}

function learn(name: string): Field {
  validateHeaderName(name)
  // The engine takes no longer name.
  if (name.length > longest) checkHeaderValue(name, '')
  const lower = name.toLowerCase()
  let field = known.get(lower)
  if (field === undefined) {
    field = { lower, isFraming: engineHeaders.has(lower), checked: none }
    remember(lower, field)
  }
  remember(name, field)
  return field
}

function remember(name: string, field: Field): void {
  if (known.size < knownLimit && name.length <= longestRemembered) known.set(name, field)
}

/**
 * Gives the value to keep. Throws what node:http throws for one that may not be sent: `ERR_INVALID_CHAR`,
 * `ERR_HTTP_INVALID_HEADER_VALUE`. What is kept cannot change after the check: objects become text, arrays are copied.
 */
function checked(field: Field, name: string, value: FieldValue): Kept {
  if (Array.isArray(value)) return Array.from(value as readonly unknown[], (each) => textOf(name, each))
  const text = textOf(name, value)
  if (text === value && text.length <= longestRemembered) field.checked = text
  return typeof value === 'number' ? value : text
}

function textOf(name: string, value: unknown): string {
  const text = typeof value === 'string' || value === undefined ? value : String(value as number)
  validateHeaderValue(name, text as string)
  return (text as string).length > longest ? checkHeaderValue(name, text as string) : (text as string)
}

/**
 * The fields of one reply. They are read from the context when they are first asked for, and written back when the
 * context goes on. A handful is found faster by looking at each than by an object with varying names.
 */
export class HeaderFields {
  readonly #ctx: RequestContext
  #fields: Field[] = []
  #names: string[] = []
  #values: Kept[] = []
  #isLoaded = false
  #isChanged = false

  constructor(ctx: RequestContext) {
    this.#ctx = ctx
  }

  get(name: string): FieldValue | undefined {
    const at = this.#find(fieldOf(name))
    if (at < 0) return undefined
    const value = this.#values[at]
    return typeof value === 'object' ? value.slice() : value
  }

  set(name: string, value: FieldValue): void {
    const field = fieldOf(name)
    this.#put(field, name, value === field.checked ? (value as string) : checked(field, name, value))
  }

  append(name: string, value: FieldValue): void {
    const field = fieldOf(name)
    const at = this.#find(field)
    if (at < 0) return this.set(name, value)
    const more = checked(field, name, value)
    this.#add(at, typeof more === 'object' ? more : [String(more)])
    this.#isChanged = true
  }

  remove(name: string): void {
    const at = this.#find(fieldOf(name))
    if (at < 0) return
    this.#fields.splice(at, 1)
    this.#names.splice(at, 1)
    this.#values.splice(at, 1)
    this.#isChanged = true
  }

  /** Gives the names in lower case. */
  lowerNames(): string[] {
    if (!this.#isLoaded) this.#load()
    return this.#fields.map((field) => field.lower)
  }

  /** Gives the names as they were spelled. */
  names(): string[] {
    if (!this.#isLoaded) this.#load()
    return this.#names.slice()
  }

  /** Writes the fields to the context. With `keep` they stay what they are, whatever the context makes of them. */
  flush(keep: boolean): void {
    if (this.#isChanged) this.#write()
    this.#isChanged = false
    if (!keep) this.#isLoaded = false
    else if (!this.#isLoaded) this.#load()
  }

  #write(): void {
    const list: string[] = []
    const ctx = this.#ctx
    ctx.hasType = false
    for (let at = 0; at < this.#fields.length; at++) {
      const field = this.#fields[at] as Field
      if (field.isFraming) continue
      if (field.lower === 'content-type') ctx.hasType = true
      const name = this.#names[at] as string
      const value = this.#values[at]
      if (typeof value === 'string') list.push(name, value)
      else if (typeof value === 'object') for (const each of value) list.push(name, each)
      else list.push(name, String(value))
    }
    ctx.replyHeaders = list.length === 0 ? null : list
  }

  #load(): void {
    this.#isLoaded = true
    this.#fields = []
    this.#names = []
    this.#values = []
    const { replyHeaders } = this.#ctx
    if (replyHeaders === null) return
    const list = unpackHeaders(replyHeaders)
    for (let at = 0; at < list.length; at += 2) {
      const name = list[at] as string
      const field = fieldOf(name)
      const found = this.#find(field)
      if (found < 0) this.#put(field, name, list[at + 1] as string)
      else this.#add(found, [list[at + 1] as string])
    }
    this.#isChanged = false
  }

  #find(field: Field): number {
    if (!this.#isLoaded) this.#load()
    const fields = this.#fields
    for (let at = 0; at < fields.length; at++) {
      if (fields[at] === field || (fields[at] as Field).lower === field.lower) return at
    }
    return -1
  }

  #add(at: number, more: readonly string[]): void {
    const before = this.#values[at] as Kept
    const values = typeof before === 'object' ? before : [String(before)]
    for (const each of more) values.push(each)
    this.#values[at] = values
  }

  #put(field: Field, name: string, value: Kept): void {
    const at = this.#find(field)
    this.#isChanged = true
    if (at < 0) {
      this.#fields.push(field)
      this.#names.push(name)
      this.#values.push(value)
    } else {
      this.#names[at] = name
      this.#values[at] = value
    }
  }
}
