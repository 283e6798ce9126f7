/** Writes TypeScript types as text. */
import { isObject } from '../schema/document.ts'

/** A property of an object type. */
export interface TypeMember {
  readonly name: string
  readonly isOptional: boolean
  readonly type: string
  /** The description of its schema. */
  readonly about: string | undefined
}

/** Gives `{ a: string; b?: number | undefined }`, with each member on a line of its own. */
export function objectText(members: readonly TypeMember[]): string {
  if (members.length === 0) return '{}'
  const lines = members.map(({ name, isOptional, type, about }) => {
    const text = isOptional ? union([type, 'undefined']) : type
    return `${commentOf(about)}${keyText(name)}${isOptional ? '?' : ''}: ${text}\n`
  })
  return `{\n${indented(lines.join(''))}}`
}

export function keyText(name: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : literal(name)
}

/** Gives a docstring, or nothing if there is no text. */
export function commentOf(text: string | undefined): string {
  if (text === undefined || text.trim() === '') return ''
  const lines = text
    .trim()
    .replaceAll('*/', '*\\/')
    .split(/\r\n|[\r\n\u2028\u2029]/)
  if (lines.length === 1) return `/** ${lines[0]} */\n`
  return `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`
}

/** Moves each line two spaces to the right. */
export function indented(text: string): string {
  return text.replaceAll(/^(?=.)/gm, '  ')
}

/** Names each type once. A union with `unknown` is `unknown`. */
export function union(texts: readonly string[]): string {
  const all = new Set(texts)
  if (all.has('unknown')) return 'unknown'
  if (all.size > 1) all.delete('never')
  if (all.size < 2) return texts.find((text) => all.has(text)) ?? 'never'
  return [...all].map((text) => (text.includes(' & ') ? grouped(text) : text)).join(' | ')
}

export function nameFrom(text: string): string {
  const words = text.split(/[^A-Za-z0-9]+/).filter(Boolean)
  const name = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('')
  return /^[A-Z]/.test(name) ? name : `Type${name}`
}

/** Adds parentheses if `[]` or `&` after the type would belong to a part of it. */
export function grouped(text: string): string {
  return /^[\w.]+(\[\])*$/.test(text) || isOneObject(text) ? text : `(${text})`
}

/** True where one pair of braces is around the whole type. */
function isOneObject(text: string): boolean {
  if (!text.startsWith('{')) return false
  return text.indexOf('\n}') === text.length - 2 || text === '{}'
}

export function literal(value: unknown): string {
  if (Array.isArray(value)) return `readonly [${value.map(literal).join(', ')}]`
  if (isObject(value)) {
    const members = Object.entries(value).map(([name, each]) => `${keyText(name)}: ${literal(each)}`)
    return members.length === 0 ? '{}' : `{ ${members.join('; ')} }`
  }
  return JSON.stringify(value) ?? 'unknown'
}
