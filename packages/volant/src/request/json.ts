/** Parses JSON bodies with `JSON.parse` and two checks that cost a scan only where the text gives reason for one. */
import { refusal } from '../errors/errors.ts'

/** Parses `text`; throws 400 if it is malformed, nested deeper than `maxDepth` levels, or has a key `__proto__`. */
export function parseJson(text: string, maxDepth: number): unknown {
  if (mayBeDeep(text, maxDepth) && isDeep(text, maxDepth)) {
    throw refusal('E_JSON_DEPTH', `the JSON body is nested deeper than ${maxDepth} levels`)
  }
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw refusal('E_BODY_MALFORMED', 'the body is not valid JSON')
  }
  // An escape can spell the key too: "\u005f_proto__".
  if ((text.includes('__proto__') || text.includes('\\u00')) && hasProtoKey(value))
    throw refusal('E_JSON_PROTO')
  return value
}

/** False where the nesting need not be looked at. For most bodies that takes two runs of memchr. */
function mayBeDeep(text: string, maxDepth: number): boolean {
  if (text.length <= maxDepth) return false
  let opened = 0
  for (let at = text.indexOf('{'); at !== -1; at = text.indexOf('{', at + 1))
    if (++opened > maxDepth) return true
  for (let at = text.indexOf('['); at !== -1; at = text.indexOf('[', at + 1))
    if (++opened > maxDepth) return true
  return false
}

const quote = 0x22
const backslash = 0x5c

function isDeep(text: string, maxDepth: number): boolean {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (quoted) {
      if (code === backslash) at++
      else if (code === quote) quoted = false
    } else if (code === quote) quoted = true
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxDepth) return true
    } else if (code === 0x7d || code === 0x5d) depth--
  }
  return false
}

/** A stack replaces recursion, since the user chooses the depth that is allowed. */
function hasProtoKey(root: unknown): boolean {
  const stack = [root]
  while (stack.length > 0) {
    const value = stack.pop()
    if (typeof value !== 'object' || value === null) continue
    if (Object.hasOwn(value, '__proto__')) return true
    for (const inner of Object.values(value)) if (typeof inner === 'object') stack.push(inner)
  }
  return false
}
