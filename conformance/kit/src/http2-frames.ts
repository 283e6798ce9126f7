/** Frames of HTTP/2 (RFC 9113 §4.1), written by hand, because a library would refuse to write most of these. */

export const type = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const

export const flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4 } as const

/** The error codes of RFC 9113 §7. */
export const errorNames: readonly string[] = [
  'NO_ERROR',
  'PROTOCOL_ERROR',
  'INTERNAL_ERROR',
  'FLOW_CONTROL_ERROR',
  'SETTINGS_TIMEOUT',
  'STREAM_CLOSED',
  'FRAME_SIZE_ERROR',
  'REFUSED_STREAM',
  'CANCEL',
  'COMPRESSION_ERROR',
  'CONNECT_ERROR',
  'ENHANCE_YOUR_CALM',
  'INADEQUATE_SECURITY',
  'HTTP_1_1_REQUIRED',
]

export const preface: Buffer = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1')

const headLength = 9
const none = Buffer.alloc(0)

/** Writes one frame with any payload. */
export function frame(kind: number, flags: number, stream: number, payload: Uint8Array = none): Buffer {
  const bytes = Buffer.alloc(headLength + payload.length)
  bytes.writeUIntBE(payload.length, 0, 3)
  bytes[3] = kind
  bytes[4] = flags
  bytes.writeUInt32BE(stream, 5)
  bytes.set(payload, headLength)
  return bytes
}

/** Writes the head of a request in one frame. `open` leaves the stream open for a body. */
export function headers(stream: number, block: Uint8Array, open = false): Buffer {
  return frame(type.headers, flag.endHeaders | (open ? 0 : flag.endStream), stream, block)
}

export function reset(stream: number, code = 8): Buffer {
  return frame(type.reset, 0, stream, uint32(code))
}

export function windowUpdate(stream: number, increment: number): Buffer {
  return frame(type.windowUpdate, 0, stream, uint32(increment))
}

/** Writes SETTINGS with pairs `[identifier, value]` (RFC 9113 §6.5.2). */
export function settings(values: readonly (readonly [number, number])[] = []): Buffer {
  const payload = Buffer.alloc(values.length * 6)
  for (const [index, [identifier, value]] of values.entries()) {
    payload.writeUInt16BE(identifier, index * 6)
    payload.writeUInt32BE(value, index * 6 + 2)
  }
  return frame(type.settings, 0, 0, payload)
}

/** Writes a PRIORITY frame that depends on another stream with the default weight (RFC 9113 §6.3). */
export function priority(stream: number, dependency: number): Buffer {
  return frame(type.priority, 0, stream, Buffer.concat([uint32(dependency), Buffer.from([15])]))
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

export interface Frame {
  readonly kind: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** Takes the bytes of a server as they arrive, and gives its frames. */
export class FrameReader {
  #rest: Buffer = none

  feed(bytes: Buffer): Frame[] {
    const frames: Frame[] = []
    let input = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes])
    while (input.length >= headLength) {
      const end = headLength + input.readUIntBE(0, 3)
      if (input.length < end) break
      frames.push({
        kind: input.readUInt8(3),
        flags: input.readUInt8(4),
        stream: input.readUInt32BE(5) & 0x7fff_ffff,
        payload: input.subarray(headLength, end),
      })
      input = input.subarray(end)
    }
    this.#rest = input
    return frames
  }
}
