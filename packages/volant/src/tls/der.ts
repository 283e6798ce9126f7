/** Writes DER (X.690): the part of it that certificates need. */

/** Writes a value with its tag and length. */
export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts)
  return Buffer.concat([Buffer.from([tag]), lengthOf(content.length), content])
}

/** Writes a length (X.690 §8.1.3): below 128 in one byte, else the number of its bytes, then these. */
function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.from([length])
  const bytes = bigEndian(length)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

function bigEndian(value: number): number[] {
  const bytes: number[] = []
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return bytes
}

export const sequence = (...parts: readonly Uint8Array[]): Buffer => der(0x30, ...parts)
export const set = (...parts: readonly Uint8Array[]): Buffer => der(0x31, ...parts)
export const octets = (...parts: readonly Uint8Array[]): Buffer => der(0x04, ...parts)
export const truth = (): Buffer => der(0x01, Buffer.from([0xff]))

/** Writes a bit string. The last `unused` bits do not count. */
export function bits(bytes: Uint8Array, unused = 0): Buffer {
  return der(0x03, Buffer.from([unused]), bytes)
}

/** Writes a non-negative number, given by its bytes. */
export function integer(bytes: Uint8Array): Buffer {
  let start = 0
  while (start < bytes.length - 1 && bytes[start] === 0) start++
  const plain = bytes.subarray(start)
  // If the first bit were set, the number would be negative.
  return ((plain[0] ?? 0) & 0x80) === 0 ? der(0x02, plain) : der(0x02, Buffer.from([0]), plain)
}

/** Writes an object identifier such as `2.5.29.17`. */
export function identifier(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number)
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]))
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return bytes
}

export function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text))
}

/** Writes a time with a precision of seconds. Years up to 2049 have two digits (RFC 5280 §4.1.2.5). */
export function time(date: Date): Buffer {
  const digits = date
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replace(/[-:T]/g, '')
  return date.getUTCFullYear() < 2050
    ? der(0x17, Buffer.from(digits.slice(2)))
    : der(0x18, Buffer.from(digits))
}

/** Writes a value with the context-specific tag `number`. A `constructed` one holds other values. */
export function tagged(number: number, constructed: boolean, ...parts: readonly Uint8Array[]): Buffer {
  return der((constructed ? 0xa0 : 0x80) | number, ...parts)
}
