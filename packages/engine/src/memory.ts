/** Writes reply records into the memory that is shared with the engine. docs/internals/layout.md has its layout. */
import {
  controlOut,
  controlOverflow,
  controlRecords,
  controlReferences,
  maxRecords,
  outBytes,
  outOffset,
  recordBodyLength,
  recordBodyOffset,
  recordGeneration,
  recordHeadersLength,
  recordHeadersOffset,
  recordOperation,
  recordReference,
  recordSlot,
  recordsOffset,
  recordWords,
  referenceBytes,
  totalBytes,
} from './generated/layout.ts'

/** The functions of Node.js without the argument checks of `buffer.write`. */
interface RawBuffer extends Buffer {
  utf8Write(text: string, offset: number, length?: number): number
  latin1Write(text: string, offset: number, length?: number): number
  latin1Slice(start: number, end: number): string
  utf8Slice(start: number, end: number): string
}

/** The shared memory. Users never get it, so it is never transferred or resized. */
export const memory: ArrayBuffer = new ArrayBuffer(totalBytes)
export const words: Int32Array = new Int32Array(memory)
export const bytes: RawBuffer = Buffer.from(memory) as RawBuffer

/** Bodies that the engine reads from their own memory when the slice ends. */
export const references: Uint8Array[] = []
/** Request bodies that are too large for the arena. The engine puts them here. */
export const bodies: Buffer[] = []
/** Pairs of records and bytes that were set aside when the shared memory was full. They are older than its contents. */
export const overflow: (Int32Array | Uint8Array)[] = []

const outStart = outOffset * 4

/**
 * Strings up to this length are written by a loop. `utf8Write` costs about 57 ns a call on Node.js 26 and 68 on 20,
 * whatever the length, which is what 16 and 24 rounds cost (docs/decisions/0014-on-node-26.md).
 */
const loopLength = 16

/** The end of the payload being written, relative to the reply memory. */
let out = 0

/** Makes room for one record with up to `length` bytes, and gives the word at which it starts. */
function reserve(length: number): number {
  let count = words[controlRecords] as number
  out = words[controlOut] as number
  if (count >= maxRecords || out + length > outBytes) {
    setAside(count)
    count = 0
    out = 0
  }
  words[controlRecords] = count + 1
  return recordsOffset + count * recordWords
}

/** Is called when the shared memory is full before the slice ends. The engine will read this copy of it first. */
function setAside(count: number): void {
  if (count === 0) return
  overflow.push(
    words.slice(recordsOffset, recordsOffset + count * recordWords),
    new Uint8Array(memory.slice(outStart, outStart + (words[controlOut] as number))),
  )
  words[controlOverflow] = overflow.length / 2
  words[controlRecords] = 0
  words[controlOut] = 0
}

/** Writes text at `at`, and gives the number of bytes. */
function writeText(text: string, at: number): number {
  const { length } = text
  if (length > loopLength) return bytes.utf8Write(text, at, length * 3)
  for (let index = 0; index < length; index++) {
    const code = text.charCodeAt(index)
    if (code > 0x7f) return bytes.utf8Write(text, at, length * 3)
    bytes[at + index] = code
  }
  return length
}

/** Gives the bytes of a header block in Latin-1, or more than a block may have if a record cannot carry it. */
function headerBytes(headers: string[] | null): number {
  if (headers === null) return 0
  let size = headers.length * 2
  for (let index = 0; index < headers.length; index++) {
    const { length } = headers[index] as string
    if (length > maxHeaderText) return outBytes
    size += length
  }
  return size
}

/** Writes the header block at `out`. Names and values have their lengths before them, so none can end early. */
function writeHeaders(headers: string[]): void {
  for (let index = 0; index < headers.length; index += 2) {
    const name = headers[index] as string
    const value = headers[index + 1] as string
    let at = outStart + out
    // A packed block contains its lengths.
    if (name.length === 0 && value.length > 0) {
      out += bytes.latin1Write(value, at, value.length)
      continue
    }
    bytes[at] = name.length
    bytes[at + 1] = name.length >> 8
    bytes[at + 2] = value.length
    bytes[at + 3] = value.length >> 8
    at = writeLatin1(name, at + 4)
    out = writeLatin1(value, at) - outStart
  }
}

function writeLatin1(text: string, at: number): number {
  const { length } = text
  if (length > loopLength) bytes.latin1Write(text, at, length)
  else for (let index = 0; index < length; index++) bytes[at + index] = text.charCodeAt(index)
  return at + length
}

/** The longest name or value that a header block can carry: lengths have 16 bits. */
const maxHeaderText = 0xffff
/** A larger block might not fit the reply memory beside a body that is copied. */
const maxHeaderBlock = outBytes - referenceBytes
/** Stands for headers that a record cannot carry. The engine refuses the empty name and replies 500. */
const refusedHeaders: string[] = ['', '']

/** Writes a record with a whole body: `end`, `start` (without one) or `data`. */
export function writeReply(
  slot: number,
  generation: number,
  operation: number,
  headers: string[] | null,
  body: string | Uint8Array | null,
): void {
  const room = headerBytes(headers)
  if (room > maxHeaderBlock) return writeReply(slot, generation, operation, refusedHeaders, null)
  if (body === null || body.length === 0) {
    const at = reserve(room)
    finishRecord(at, slot, generation, operation, headers)
    words[at + recordBodyOffset] = 0
    words[at + recordBodyLength] = 0
    words[at + recordReference] = 0
    words[controlOut] = out
    return
  }
  if (typeof body === 'string' && body.length * 3 < referenceBytes) {
    const at = reserve(room + body.length * 3)
    finishRecord(at, slot, generation, operation, headers)
    const length = writeText(body, outStart + out)
    words[at + recordBodyOffset] = out
    words[at + recordBodyLength] = length
    words[at + recordReference] = 0
    words[controlOut] = out + length
    return
  }
  const content = typeof body === 'string' ? Buffer.from(body) : body
  const { length } = content
  const refer = length >= referenceBytes
  const at = reserve(room + (refer ? 0 : length))
  finishRecord(at, slot, generation, operation, headers)
  words[at + recordBodyOffset] = out
  words[at + recordBodyLength] = length
  if (refer) {
    words[at + recordReference] = references.push(content)
    words[controlReferences] = references.length
    words[controlOut] = out
    return
  }
  bytes.set(content, outStart + out)
  words[at + recordReference] = 0
  words[controlOut] = out + length
}

/** Writes a record that publishes `body` to a topic, which is UTF-8 of at most 65,535 UTF-16 units. */
export function writePublish(
  slot: number,
  generation: number,
  operation: number,
  topic: string,
  body: string | Uint8Array,
): void {
  const content = typeof body === 'string' && body.length * 3 >= referenceBytes ? Buffer.from(body) : body
  const refer = content.length >= referenceBytes
  const room = typeof content === 'string' ? content.length * 3 : refer ? 0 : content.length
  const at = reserve(topic.length * 3 + room)
  words[at + recordSlot] = slot
  words[at + recordGeneration] = generation
  words[at + recordOperation] = operation
  words[at + recordHeadersOffset] = out
  const length = writeText(topic, outStart + out)
  words[at + recordHeadersLength] = length
  out += length
  words[at + recordBodyOffset] = out
  words[at + recordReference] = 0
  if (typeof content === 'string') {
    const written = writeText(content, outStart + out)
    words[at + recordBodyLength] = written
    words[controlOut] = out + written
    return
  }
  words[at + recordBodyLength] = content.length
  words[controlOut] = out + room
  if (!refer) {
    bytes.set(content, outStart + out)
    return
  }
  words[at + recordReference] = references.push(content)
  words[controlReferences] = references.length
}

function finishRecord(
  at: number,
  slot: number,
  generation: number,
  operation: number,
  headers: string[] | null,
): void {
  words[at + recordSlot] = slot
  words[at + recordGeneration] = generation
  words[at + recordOperation] = operation
  words[at + recordHeadersOffset] = out
  const before = out
  if (headers !== null) writeHeaders(headers)
  words[at + recordHeadersLength] = out - before
}

/** Writes a record without a body. `low` and `high` stand where the range of the body would. */
export function writeSignal(
  slot: number,
  generation: number,
  operation: number,
  headers: string[] | null,
  low: number,
  high: number,
): void {
  const room = headerBytes(headers)
  if (room > maxHeaderBlock) return writeSignal(slot, generation, operation, refusedHeaders, low, high)
  const at = reserve(room)
  finishRecord(at, slot, generation, operation, headers)
  words[at + recordBodyOffset] = low
  words[at + recordBodyLength] = high
  words[at + recordReference] = 0
  words[controlOut] = out
}
