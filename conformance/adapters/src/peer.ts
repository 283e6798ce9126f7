/** A client of WebSockets that sends exactly the frames it is told to, and reads those of the server strictly (RFC 6455). */
import { createHash } from 'node:crypto'
import { inflateRawSync } from 'node:zlib'
import { type Live, request } from './kit.ts'
import type { Wire, WireReply } from './wire.ts'

export const key = 'dGhlIHNhbXBsZSBub25jZQ=='

/** The fields of a handshake that is right. */
export const handshake: Readonly<Record<string, string>> = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': key,
}

export const Opcode = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface Frame {
  fin: boolean
  /** True for a compressed message (RFC 7692 §6). */
  rsv1: boolean
  opcode: number
  payload: Buffer
}

export interface Bits {
  fin?: boolean
  rsv1?: boolean
  masked?: boolean
}

export class Peer {
  readonly wire: Wire
  /** The reply with status 101, or with status 200 over HTTP/2. */
  readonly reply: WireReply

  private constructor(wire: Wire, reply: WireReply) {
    this.wire = wire
    this.reply = reply
  }

  /** Opens a WebSocket; fails for any reply but 101. `behind` is sent together with the request. */
  static async open(
    live: Live,
    path: string,
    headers: Record<string, string> = {},
    behind: Uint8Array = Buffer.alloc(0),
  ): Promise<Peer> {
    const wire = await live.connect()
    wire.send(Buffer.concat([request('GET', path, { ...handshake, ...headers }), behind]))
    const reply = await wire.interim()
    if (reply.status !== 101) throw new Error(`the reply to the handshake is ${reply.status}: ${reply.text}`)
    const accept = createHash('sha1')
      .update(`${headers['sec-websocket-key'] ?? key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
      .digest('base64')
    if (reply.headers['sec-websocket-accept'] !== accept) throw new Error('Sec-WebSocket-Accept is wrong')
    if (reply.headers['upgrade']?.toLowerCase() !== 'websocket') throw new Error('Upgrade is wrong')
    if (reply.headers['connection']?.toLowerCase() !== 'upgrade') throw new Error('Connection is wrong')
    return new Peer(wire, reply)
  }

  /** Gives a WebSocket that is open on `wire`. `reply` is the reply to its handshake. */
  static over(wire: Wire, reply: WireReply): Peer {
    return new Peer(wire, reply)
  }

  send(message: string | Uint8Array): this {
    return this.frame(typeof message === 'string' ? Opcode.text : Opcode.binary, message)
  }

  frame(opcode: number, payload: string | Uint8Array = '', bits: Bits = {}): this {
    this.wire.send(frame(opcode, payload, bits))
    return this
  }

  close(code?: number, reason = ''): this {
    return this.frame(Opcode.close, code === undefined ? '' : closePayload(code, reason))
  }

  /** The next frame of the server. Frames of a server are not masked, and have no reserved bits but the one of compression. */
  next(): Promise<Frame> {
    return this.wire.until(() => this.#take(), 'a frame')
  }

  /** The text of the next message, in one frame; inflated where it is compressed. */
  async text(): Promise<string> {
    const { opcode, payload, rsv1, fin } = await this.next()
    if (opcode !== Opcode.text || !fin)
      throw new Error(`a frame ${opcode} came, not a text: ${payload.toString()}`)
    return (rsv1 ? inflated(payload) : payload).toString()
  }

  /** The code and reason of the close frame, which has to be the next one but for pings. 1005 is none. */
  async closing(): Promise<[code: number, reason: string]> {
    for (;;) {
      const { opcode, payload } = await this.next()
      if (opcode === Opcode.ping) continue
      if (opcode !== Opcode.close)
        throw new Error(`a frame ${opcode} came, not a close: ${payload.toString()}`)
      if (payload.length === 0) return [1005, '']
      return [payload.readUInt16BE(0), payload.toString('utf8', 2)]
    }
  }

  /** Waits for the close frame and answers it, and for the end of the connection. */
  async closed(): Promise<[code: number, reason: string]> {
    const told = await this.closing()
    this.close(told[0] === 1005 ? undefined : told[0])
    await this.wire.ended()
    return told
  }

  #take(): Frame | undefined {
    const { received } = this.wire
    if (this.wire.isEnded && received.length === 0)
      throw new Error('the connection ended before a frame came')
    if (received.length < 2) return undefined
    const [first = 0, second = 0] = received
    if ((first & 0x30) !== 0 || (second & 0x80) !== 0) throw new Error('reserved bits, or a mask')
    let length = second & 0x7f
    let at = 2
    if (length === 126) {
      if (received.length < 4) return undefined
      length = received.readUInt16BE(2)
      if (length < 126) throw new Error('a length is not the shortest')
      at = 4
    } else if (length === 127) {
      if (received.length < 10) return undefined
      length = Number(received.readBigUInt64BE(2))
      if (length < 65_536) throw new Error('a length is not the shortest')
      at = 10
    }
    if (received.length < at + length) return undefined
    const payload = received.subarray(at, at + length)
    this.wire.received = received.subarray(at + length)
    return { fin: (first & 0x80) !== 0, rsv1: (first & 0x40) !== 0, opcode: first & 0x0f, payload }
  }
}

/** The bytes of a frame as a client sends it. */
export function frame(
  opcode: number,
  payload: string | Uint8Array = '',
  { fin = true, rsv1 = false, masked = true }: Bits = {},
): Buffer {
  const bytes = Buffer.from(payload as string)
  const mask = Buffer.from([0x37, 0xfa, 0x21, 0x3d])
  const head = [opcode | (fin ? 0x80 : 0) | (rsv1 ? 0x40 : 0)]
  const bit = masked ? 0x80 : 0
  const { length } = bytes
  if (length < 126) head.push(bit | length)
  else if (length < 65_536) head.push(bit | 126, length >> 8, length & 255)
  else
    head.push(
      bit | 127,
      0,
      0,
      0,
      0,
      (length >>> 24) & 255,
      (length >> 16) & 255,
      (length >> 8) & 255,
      length & 255,
    )
  if (!masked) return Buffer.concat([Buffer.from(head), bytes])
  const hidden = Buffer.from(bytes)
  for (let at = 0; at < length; at++) hidden[at] = (hidden[at] as number) ^ (mask[at % 4] as number)
  return Buffer.concat([Buffer.from(head), mask, hidden])
}

export function closePayload(code: number, reason = ''): Buffer {
  const payload = Buffer.alloc(2 + Buffer.byteLength(reason))
  payload.writeUInt16BE(code, 0)
  payload.write(reason, 2)
  return payload
}

/** Undoes permessage-deflate: the last four bytes of the block are left out on the wire (RFC 7692 §7.2.2). */
function inflated(payload: Buffer): Buffer {
  return inflateRawSync(Buffer.concat([payload, Buffer.from([0, 0, 0xff, 0xff])]), { finishFlush: 2 })
}
