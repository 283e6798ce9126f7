/** The ids of requests: seven characters for the process, then the request's number in base 36. */
import { randomBytes } from 'node:crypto'

/** Each process draws its own part from 2^36 possible ones. */
const processPart = `${randomBytes(5).toString('base64url').slice(0, 6)}-`

const perBlock = 36 ** 4
/** This table has the two last pairs of digits. */
const pairs = Array.from({ length: 36 ** 2 }, (_, value) => value.toString(36).padStart(2, '0'))

let last = 0
let block = processPart

/**
 * Gives a new id, built from short parts: V8 copies texts of up to 12 characters at once and makes longer sums when
 * they are read, which costs more than all the rest here.
 */
export function nextId(): string {
  last++
  if (last === perBlock) {
    last = 0
    const digits = block.slice(processPart.length)
    block = processPart + ((digits === '' ? 0 : Number.parseInt(digits, 36)) + 1).toString(36)
  }
  return block + (pairs[(last / 1296) | 0] as string) + (pairs[last % 1296] as string)
}
