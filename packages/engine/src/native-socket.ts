/** A WebSocket of the native engine. It keeps the slot of the exchange that it was. */
import { AsyncResource } from 'node:async_hooks'
import {
  controlSteps,
  highWaterBytes,
  messageFlagAscii,
  messageFlagText,
  operationClose,
  operationDestroy,
  operationFlagText,
  operationFlagWantDrain,
  operationMessage,
  operationPublish,
  operationSubscribe,
  operationUnsubscribe,
  referenceBytes,
  requestAllow,
  requestBodyLength,
  requestBodyOffset,
  requestKind,
} from './generated/layout.ts'
import { bodies, bytes, words, writePublish, writeReply, writeSignal } from './memory.ts'
import type { ServerSocket, SocketEvents } from './socket.ts'

/** `requireManualDestroy` spares each socket an entry for finalisation. */
const resourceOptions = { requireManualDestroy: true } as const

/** The open sockets by slot. */
export const sockets: (NativeSocket | null)[] = []

/** Stands for the code of a close frame without one (RFC 6455 §7.1.5). */
const noStatus = 1005
const abnormal = 1006

/** Gives how many bytes wait to be sent to a socket, of those that the engine has seen. */
export type Unsent = (slot: number, generation: number) => number

export class NativeSocket extends AsyncResource implements ServerSocket {
  readonly slot: number
  readonly generation: number
  closing = false
  private readonly events: SocketEvents
  private readonly unsentOf: Unsent
  /** The most bytes that may wait: those that waited when the engine was last asked, and all that were sent since. */
  private unsent = 0
  /** The bytes that were sent in `step`, which the engine has not seen. */
  private written = 0
  private step = -1

  constructor(slot: number, generation: number, events: SocketEvents, unsentOf: Unsent) {
    super('VolantSocket', resourceOptions)
    this.slot = slot
    this.generation = generation
    this.events = events
    this.unsentOf = unsentOf
    sockets[slot] = this
  }

  get bufferedAmount(): number {
    if (sockets[this.slot] !== this) return 0
    return this.unsentOf(this.slot, this.generation) + this.unseen()
  }

  private unseen(): number {
    const step = words[controlSteps] as number
    if (step === this.step) return this.written
    this.step = step
    this.written = 0
    return 0
  }

  send(data: string | Uint8Array): boolean {
    if (this.closing) return false
    // Most texts have one byte for each UTF-16 unit; the engine knows the number exactly.
    const { length } = data
    this.written = this.unseen() + length
    this.unsent += length
    const full = this.unsent >= highWaterBytes && this.isFull()
    writeReply(this.slot, this.generation, operationOf(operationMessage, data, full), null, ownBytes(data))
    return !full
  }

  /** Asks the engine how much waits, which is not more often than once for 64 KiB where the client reads. */
  private isFull(): boolean {
    this.unsent = this.unsentOf(this.slot, this.generation) + this.written
    return this.unsent >= highWaterBytes
  }

  close(code = noStatus, reason = ''): void {
    if (this.closing) return
    this.closing = true
    const text = Buffer.from(reason)
    const payload = code === noStatus ? null : Buffer.concat([Buffer.of(code >> 8, code & 0xff), text])
    writeReply(this.slot, this.generation, operationClose, null, payload)
  }

  terminate(): void {
    if (sockets[this.slot] !== this) return
    this.closing = true
    writeSignal(this.slot, this.generation, operationDestroy, null, 0, 0)
  }

  subscribe(topic: string): void {
    if (!this.closing) writeReply(this.slot, this.generation, operationSubscribe, null, Buffer.from(topic))
  }

  unsubscribe(topic: string): void {
    if (!this.closing) writeReply(this.slot, this.generation, operationUnsubscribe, null, Buffer.from(topic))
  }

  publish(topic: string, data: string | Uint8Array): void {
    if (sockets[this.slot] !== this) return
    writePublish(
      this.slot,
      this.generation,
      operationOf(operationPublish, data, false),
      topic,
      ownBytes(data),
    )
  }

  /** Is called for the descriptor of a message. */
  receive(at: number): void {
    if (this.closing) return
    this.runInAsyncScope(this.events.message, this.events, messageAt(at))
  }

  drained(): void {
    this.unsent = 0
    if (!this.closing) this.runInAsyncScope(this.events.drain, this.events)
  }

  dropped(messages: number): void {
    if (!this.closing) this.runInAsyncScope(this.events.dropped, this.events, messages)
  }

  /** Is called for the descriptor of the end. */
  closedAt(at: number): void {
    const length = words[at + requestBodyLength] as number
    const index = words[at + requestBodyOffset] as number
    this.closed(
      words[at + requestAllow] as number,
      length === 0 ? '' : (bodies[-1 - index] as Buffer).toString(),
    )
  }

  /** Is called when the connection was gone before the engine could make a socket of it. */
  lost(): void {
    this.closed(abnormal, '')
  }

  private closed(code: number, reason: string): void {
    if (sockets[this.slot] === this) sockets[this.slot] = null
    this.closing = true
    this.runInAsyncScope(this.events.close, this.events, code, reason)
  }
}

/** Writes the record of a message that no socket publishes. `server` stands where others have the generation. */
export function publishFrom(server: number, topic: string, data: string | Uint8Array): void {
  writePublish(-1, server, operationOf(operationPublish, data, false), topic, ownBytes(data))
}

/**
 * Copies bytes that the engine would read from their own memory: at the end of the step, or as long as a slow client needs.
 * The caller may write something else into them at once. Shorter ones are copied into the record.
 */
function ownBytes(data: string | Uint8Array): string | Uint8Array {
  return typeof data === 'string' || data.length < referenceBytes ? data : Buffer.from(data)
}

function operationOf(operation: number, data: string | Uint8Array, wantDrain: boolean): number {
  const flags = (typeof data === 'string' ? operationFlagText : 0) | (wantDrain ? operationFlagWantDrain : 0)
  return operation | (flags << 16)
}

function messageAt(at: number): string | Buffer {
  const flags = (words[at + requestKind] as number) >> 16
  const offset = words[at + requestBodyOffset] as number
  const length = words[at + requestBodyLength] as number
  if (offset < 0) {
    const body = bodies[-1 - offset] as Buffer
    return flags & messageFlagText ? body.toString() : body
  }
  if (flags & messageFlagAscii) return bytes.latin1Slice(offset, offset + length)
  if (flags & messageFlagText) return bytes.utf8Slice(offset, offset + length)
  const copy = Buffer.allocUnsafe(length)
  bytes.copy(copy, 0, offset, offset + length)
  return copy
}
