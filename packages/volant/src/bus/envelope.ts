/**
 * Writes and reads messages between processes. Their bytes are a head of 23, and the data:
 *
 *     0   magic, 0xb5
 *     1   version of this layout, 1
 *     2   kind: 0 text (UTF-8), 1 binary, 2 mark (no data)
 *     3   the publisher, 8 random bytes
 *     11  where its count of this topic began, 6 bytes
 *     17  the message's number in that count, 6 bytes
 *     23  data
 *
 * A mark says that the message with its number was not sent, or that this is not known.
 */
import { isUtf8 } from 'node:buffer'

const headSize = 23
export const idSize = 8
const magic = 0xb5
const version = 1
const kinds = ['text', 'binary', 'mark'] as const

export interface Envelope {
  readonly kind: (typeof kinds)[number]
  /** The publisher's id has a character for each byte here. */
  readonly publisher: string
  readonly start: number
  readonly number: number
  /** The data are a view into the bytes that were read. */
  readonly data: Buffer
}

/** Says where the count of a message began, and which number the message has in it. */
export interface Numbers {
  readonly start: number
  readonly number: number
}

export function writeMessage(id: Uint8Array, numbers: Numbers, data: string | Uint8Array): Buffer {
  const isText = typeof data === 'string'
  const bytes = Buffer.allocUnsafe(headSize + (isText ? Buffer.byteLength(data) : data.byteLength))
  writeHead(bytes, isText ? 0 : 1, id, numbers)
  if (isText) bytes.write(data, headSize)
  else bytes.set(data, headSize)
  return bytes
}

export function writeMark(id: Uint8Array, numbers: Numbers): Buffer {
  const bytes = Buffer.allocUnsafe(headSize)
  writeHead(bytes, 2, id, numbers)
  return bytes
}

function writeHead(bytes: Buffer, kind: number, id: Uint8Array, { start, number }: Numbers): void {
  bytes[0] = magic
  bytes[1] = version
  bytes[2] = kind
  bytes.set(id, 3)
  bytes.writeUIntBE(start, 11, 6)
  bytes.writeUIntBE(number, 17, 6)
}

/** Gives null for what is no message, or one with more than `most` bytes of data. */
export function readEnvelope(given: Uint8Array, most: number): Envelope | null {
  if (given.byteLength < headSize || given.byteLength > headSize + most) return null
  const bytes = Buffer.from(given.buffer, given.byteOffset, given.byteLength)
  if (bytes[0] !== magic || bytes[1] !== version) return null
  const kind = kinds[bytes[2] as number]
  const start = bytes.readUIntBE(11, 6)
  const number = bytes.readUIntBE(17, 6)
  const data = bytes.subarray(headSize)
  if (kind === undefined || start === 0 || number < start) return null
  if (kind === 'mark' ? data.length > 0 : kind === 'text' && !isUtf8(data)) return null
  return { kind, publisher: bytes.toString('latin1', 3, 3 + idSize), start, number, data }
}
