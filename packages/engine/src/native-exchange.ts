/**
 * A request of the native engine as an `Exchange`, read lazily from the shared memory. The file is longer than most
 * because it is one object: each member of the contract is a few lines here.
 */
import { AsyncResource } from 'node:async_hooks'
import {
  type AbortReason,
  BodyKind,
  type BodySink,
  type ContentType,
  type Exchange,
  methods,
} from './exchange.ts'
import { combine, wideBag } from './fields.ts'
import {
  fieldNames,
  fieldSpanWords,
  flagBodyComplete,
  flagBodyStream,
  flagEncrypted,
  flagHttp10,
  flagHttp2,
  flagOtherTarget,
  highWaterBytes,
  maxSlice,
  operationCredit,
  operationData,
  operationDestroy,
  operationEnd,
  operationFinish,
  operationFlagWantDrain,
  operationInform,
  operationRead,
  operationStart,
  operationUpgrade,
  pageWords,
  referenceBytes,
  requestBodyLength,
  requestBodyOffset,
  requestCounts,
  requestGeneration,
  requestHeadLength,
  requestHeadOffset,
  requestKind,
  requestPathLength,
  requestPathOffset,
  requestQueryLength,
  requestQueryOffset,
  requestSlot,
} from './generated/layout.ts'
import { bodies, bytes, words, writeReply, writeSignal } from './memory.ts'
import { readPacked } from './packed-headers.ts'
import type { Binding } from './load.ts'
import { NativeSocket, type Unsent } from './native-socket.ts'
import { tlsInfoOf } from './native-tls.ts'
import type { ServerSocket, SocketEvents } from './socket.ts'
import type { TlsInfo } from './tls.ts'
import { readText, fieldsOf, readFieldName, readParam, readPeer, parseFields } from './request-text.ts'

/** `requireManualDestroy` spares each request an entry for finalisation. */
const resourceOptions = { requireManualDestroy: true } as const

let unsentOf: Unsent = () => 0
let askTls: Binding['tlsInfo'] = () => null

/** Is called once the engine has started, with the functions of the engine that exchanges and sockets call. */
export function setQuestions({ unsent, tlsInfo }: Binding): void {
  unsentOf = unsent
  askTls = tlsInfo
}

/** Longer lists of offered extensions are ignored: they would not fit the reply memory. */
const longestOffers = 4096

/** The most bytes one record can grant. */
const mostCredit = 0x7fff_ffff

/** Exchanges whose reply is not complete, by slot. A late reply finds another exchange here, or none. */
export const live: (NativeExchange | null)[] = []

/**
 * Exchanges of the last slice, by descriptor, that were unanswered or retained when their handlers returned. The next
 * slice parks those that still are. An exchange that is let go leaves at once, because an object that lives from slice
 * to slice costs the garbage collector more than the rest of a small request (12 % with pipelining).
 */
export const waiting: (NativeExchange | null)[] = Array.from({ length: maxSlice }, () => null)

/** Counts slices. A descriptor and the bytes it points to can be read until the next slice. */
let slice = 0

/** Is called before the first request of a slice, when the requests of the last one that are needed are parked. */
export function nextSlice(): void {
  slice = (slice + 1) & 0x3fff_ffff
}

/** The parts of a request that an exchange keeps once the page it came in is reused. */
interface Parked {
  readonly path: string
  readonly query: string
  readonly params: readonly (string | undefined)[]
  /** The request line and the fields, as sent. */
  readonly head: Buffer
  readonly peer: string
  readonly body: Buffer | null
  readonly bodyLength: number
}

/** Stands for a request that was not parked. Its page may have another one by now. */
const gone: Parked = {
  path: '',
  query: '',
  params: [],
  head: Buffer.alloc(0),
  peer: '',
  body: null,
  bodyLength: 0,
}

/** State that small requests with small replies do not need. It is kept apart so that an exchange stays small. */
class Extra {
  parked: Parked | null = null
  /** The body, if it came as a Buffer of its own. */
  large: Buffer | null = null
  sink: BodySink | null = null
  /** True once there was a reader of the body. */
  taken = false
  onDrain: (() => void) | null = null
  /** Bytes written since the engine last reported that all were sent. */
  unsent = 0
  streaming = false
  /** The method, if not every server has it; empty otherwise. */
  method = ''
}

/** Stands in for the reader of a body that failed before there was one. */
class Unreadable implements BodySink {
  /** See `bodyFailed`. */
  readonly status: number

  constructor(status: number) {
    this.status = status
  }

  chunk(): void {}
  end(): void {}
  fail(): void {}
}

export class NativeExchange extends AsyncResource implements Exchange {
  readonly slot: number
  readonly generation: number
  /** The first word of the descriptor. It means nothing after its slice. */
  readonly at: number
  /** The index of the descriptor in its slice. */
  private readonly index: number
  replied = false
  aborted = false
  halfClosed = false
  onAbort: ((reason: AbortReason) => void) | null = null
  private readonly slice: number
  /** Kind, method and flags, as the descriptor has them. */
  private readonly kind: number
  private handlersRunning = false
  private extra: Extra | null = null

  constructor(at: number, index: number) {
    super('VolantExchange', resourceOptions)
    this.at = at
    this.index = index
    this.slot = words[at + requestSlot] as number
    this.generation = words[at + requestGeneration] as number
    this.kind = words[at + requestKind] as number
    this.slice = slice
    const offset = words[at + requestBodyOffset] as number
    if (offset < 0) this.more.large = bodies[-1 - offset] as Buffer
    // Its name stands only in the request line, which may be gone when somebody reads it.
    if ((this.kind & unusualMethod) !== 0) this.more.method = this.named()
  }

  private get more(): Extra {
    return (this.extra ??= new Extra())
  }

  private get parked(): Parked | null {
    return this.extra === null ? null : this.extra.parked
  }

  private get large(): Buffer | null {
    return this.extra === null ? null : this.extra.large
  }

  private get sink(): BodySink | null {
    return this.extra === null ? null : this.extra.sink
  }

  private set sink(sink: BodySink | null) {
    this.more.sink = sink
  }

  private get streaming(): boolean {
    return this.extra !== null && this.extra.streaming
  }

  get onDrain(): (() => void) | null {
    return this.extra === null ? null : this.extra.onDrain
  }

  set onDrain(drained: (() => void) | null) {
    this.more.onDrain = drained
  }

  get retained(): boolean {
    return this.handlersRunning
  }

  set retained(on: boolean) {
    this.handlersRunning = on
    if (!on && waiting[this.index] === this && live[this.slot] !== this) waiting[this.index] = null
  }

  /** Null while the descriptor can be read. */
  private get kept(): Parked | null {
    return this.parked !== null || this.slice === slice ? this.parked : gone
  }

  get method(): string {
    return (this.kind & unusualMethod) === 0 ? (methods[(this.kind >> 8) & 0xff] as string) : this.more.method
  }

  private named(): string {
    const { at } = this
    const head = readText(words[at + requestHeadOffset] as number, words[at + requestHeadLength] as number)
    return /[^ \r\n]+/.exec(head)?.[0] ?? ''
  }

  get httpVersion(): '1.0' | '1.1' | '2' {
    const flags = this.kind >> 16
    if (flags & flagHttp2) return '2'
    return flags & flagHttp10 ? '1.0' : '1.1'
  }

  get encrypted(): boolean {
    return ((this.kind >> 16) & flagEncrypted) !== 0
  }

  tls(): TlsInfo | null {
    return this.encrypted ? tlsInfoOf(askTls(this.slot, this.generation)) : null
  }

  get path(): string {
    const { kept } = this
    if (kept !== null) return kept.path
    const start = words[this.at + requestPathOffset] as number
    return readText(start, words[this.at + requestPathLength] as number)
  }

  get query(): string {
    const { kept } = this
    if (kept !== null) return kept.query
    const length = words[this.at + requestQueryLength] as number
    return length === 0 ? '' : readText(words[this.at + requestQueryOffset] as number, length)
  }

  get authority(): string {
    if (((this.kind >> 16) & flagOtherTarget) === 0) return this.header('host') ?? ''
    const { kept, at } = this
    const head =
      kept === null
        ? readText(words[at + requestHeadOffset] as number, words[at + requestHeadLength] as number)
        : kept.head.toString('latin1')
    return targetAuthority.exec(head)?.[1] ?? ''
  }

  get remoteAddress(): string {
    const { kept } = this
    return kept === null ? readPeer(this.at) : kept.peer
  }

  param(index: number): string | undefined {
    const { kept } = this
    return kept === null ? readParam(this.at, index) : kept.params[index]
  }

  header(name: string): string | undefined {
    if (this.kept !== null) return this.headers()[name]
    const known = knownIds.get(name)
    if (known === undefined) return this.unknownHeader(name)
    const { at } = this
    const count = (words[at + requestCounts] as number) >> 8
    let span = fieldsOf(at)
    let found: string | undefined
    for (let left = count; left > 0; left--, span += fieldSpanWords) {
      if ((words[span + 1] as number) >> 16 !== known) continue
      const value = readText(words[span + 2] as number, words[span + 3] as number)
      found = found === undefined ? value : combine(name, found, value)
    }
    return found
  }

  /** A name is read only where its length fits, since most requests have no such field. */
  private unknownHeader(name: string): string | undefined {
    const { at } = this
    const count = (words[at + requestCounts] as number) >> 8
    let span = fieldsOf(at)
    let found: string | undefined
    for (let left = count; left > 0; left--, span += fieldSpanWords) {
      // The upper half is the id of a known name, 0 here.
      if (words[span + 1] !== name.length || readFieldName(span).toLowerCase() !== name) continue
      const value = readText(words[span + 2] as number, words[span + 3] as number)
      found = found === undefined ? value : combine(name, found, value)
    }
    return found
  }

  headers(): Record<string, string> {
    const fields = wideBag()
    if (this.kept !== null) {
      const raw = this.rawHeaders()
      for (let index = 0; index < raw.length; index += 2) {
        add(fields, (raw[index] as string).toLowerCase(), raw[index + 1] as string)
      }
      return fields
    }
    const { at } = this
    const count = (words[at + requestCounts] as number) >> 8
    let span = fieldsOf(at)
    for (let left = count; left > 0; left--, span += fieldSpanWords) {
      const known = (words[span + 1] as number) >> 16
      const name = known === 0 ? readFieldName(span).toLowerCase() : (fieldNames[known] as string)
      add(fields, name, readText(words[span + 2] as number, words[span + 3] as number))
    }
    return fields
  }

  rawHeaders(): string[] {
    const { kept } = this
    if (kept !== null) return parseFields(kept.head)
    const { at } = this
    const count = (words[at + requestCounts] as number) >> 8
    const raw: string[] = []
    let span = fieldsOf(at)
    for (let left = count; left > 0; left--, span += fieldSpanWords) {
      raw.push(readFieldName(span), readText(words[span + 2] as number, words[span + 3] as number))
    }
    return raw
  }

  isRepeated(name: string): boolean {
    if (this.kept !== null) return isTwiceIn(this.rawHeaders(), name)
    const known = knownIds.get(name) ?? 0
    const { at } = this
    let span = fieldsOf(at)
    let times = 0
    for (let left = (words[at + requestCounts] as number) >> 8; left > 0; left--, span += fieldSpanWords) {
      const word = words[span + 1] as number
      if (word >> 16 !== known) continue
      if (known !== 0 || (word === name.length && readFieldName(span).toLowerCase() === name)) times++
    }
    return times > 1
  }

  get bodyKind(): BodyKind {
    const flags = this.kind >> 16
    if (flags & flagBodyComplete) return BodyKind.complete
    return flags & flagBodyStream ? BodyKind.stream : BodyKind.none
  }

  get bodyLength(): number {
    if (this.large !== null) return this.large.length
    const { kept } = this
    if (kept !== null) return kept.bodyLength
    return words[this.at + requestBodyLength] as number
  }

  bodyText(): string {
    if (this.large !== null) return this.large.toString('utf8')
    const { kept } = this
    if (kept !== null) return kept.body === null ? '' : kept.body.toString('utf8')
    if (this.bodyKind !== BodyKind.complete) return ''
    const start = words[this.at + requestBodyOffset] as number
    return bytes.utf8Slice(start, start + (words[this.at + requestBodyLength] as number))
  }

  bodyBytes(): Buffer {
    if (this.large !== null) return Buffer.from(this.large)
    const { kept } = this
    if (kept !== null) return kept.body === null ? Buffer.alloc(0) : Buffer.from(kept.body)
    if (this.bodyKind !== BodyKind.complete) return Buffer.alloc(0)
    const start = words[this.at + requestBodyOffset] as number
    return Buffer.from(bytes.subarray(start, start + (words[this.at + requestBodyLength] as number)))
  }

  readBody(sink: BodySink, window: number): void {
    const failed = this.sink instanceof Unreadable ? this.sink : null
    const { more } = this
    if (more.taken || this.bodyKind !== BodyKind.stream) {
      throw coded('E_BODY_USED', 'the body was read already')
    }
    more.taken = true
    more.sink = sink
    if (live[this.slot] !== this) {
      queueMicrotask(() => this.failBody(coded('E_ABORTED', 'the request was aborted')))
      return
    }
    if (failed !== null) {
      queueMicrotask(() => this.bodyFailed(failed.status))
      return
    }
    writeSignal(this.slot, this.generation, operationRead, null, Math.min(window, mostCredit), 0)
  }

  credit(amount: number): void {
    if (live[this.slot] !== this || amount <= 0) return
    writeSignal(this.slot, this.generation, operationCredit, null, Math.min(amount, mostCredit), 0)
  }

  inform(status: number, headers: string[]): void {
    if (this.replied || live[this.slot] !== this) return
    writeSignal(this.slot, this.generation, operationInform | (status << 16), headers, 0, 0)
  }

  // This runs for every reply: measure a change with `lab/pair native limit`.
  end(status: number, type: ContentType, headers: string[] | null, body: string | Uint8Array | null): void {
    if (this.replied || live[this.slot] !== this) return
    this.replied = true
    live[this.slot] = null
    writeReply(this.slot, this.generation, operationEnd | (type << 8) | (status << 16), headers, body)
    if (this.sink !== null) this.failBody(coded('E_ABORTED', 'the request was answered'))
  }

  start(status: number, type: ContentType, headers: string[] | null, length: number): void {
    if (this.replied || live[this.slot] !== this) return
    this.replied = true
    this.more.streaming = true
    const operation = operationStart | (type << 8) | (status << 16)
    const high = length < 0 ? -1 : Math.floor(length / 0x1_0000_0000)
    writeSignal(this.slot, this.generation, operation, headers, length < 0 ? -1 : length | 0, high)
  }

  write(chunk: string | Uint8Array): boolean {
    if (!this.streaming || live[this.slot] !== this) return true
    const content = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    const { more } = this
    more.unsent += content.length
    const full = more.unsent >= highWaterBytes
    const operation = operationData | ((full ? operationFlagWantDrain : 0) << 16)
    // The engine reads a referenced body only when JavaScript has returned, but a caller that need not wait may reuse its
    // bytes now, so these are copied. Copies of all large chunks made garbage collection stop everything for 10 ms and more.
    const reusable = !full && content === chunk && content.length >= referenceBytes
    const kept = reusable ? Buffer.from(content) : content
    writeReply(this.slot, this.generation, operation, null, kept)
    return !full
  }

  finish(isLast = false, trailers: string[] | null = null): void {
    if (!this.streaming || live[this.slot] !== this) return
    live[this.slot] = null
    writeSignal(this.slot, this.generation, operationFinish, trailers, isLast ? 1 : 0, 0)
    if (this.sink !== null) this.failBody(coded('E_ABORTED', 'the request was answered'))
  }

  accept(headers: string[] | null, events: SocketEvents): ServerSocket | null {
    if (this.replied || live[this.slot] !== this) return null
    // The engine reads the key and the offered extensions from the record, since it has let go of the head.
    const offers = this.header('sec-websocket-extensions') ?? ''
    const known = offers.length > longestOffers ? '' : offers
    // An extended CONNECT has no key (RFC 8441 §5.1).
    const key = this.httpVersion === '2' ? '' : (this.header('sec-websocket-key') ?? '')
    const handshake = `${key}${known}`
    this.replied = true
    live[this.slot] = null
    writeReply(this.slot, this.generation, operationUpgrade, headers, handshake)
    return new NativeSocket(this.slot, this.generation, events, unsentOf)
  }

  destroy(): void {
    if (live[this.slot] !== this) return
    writeSignal(this.slot, this.generation, operationDestroy, null, 0, 0)
    this.abort('error')
  }

  /** Is called when the exchange has no client any more. */
  abort(reason: AbortReason): void {
    if (live[this.slot] === this) live[this.slot] = null
    if (this.aborted) return
    this.aborted = true
    if (this.onAbort !== null) this.runInAsyncScope(this.onAbort, undefined, reason)
    this.failBody(
      reason === 'upload'
        ? Object.assign(coded('E_REQUEST_TIMEOUT', 'the body came too slowly'), { status: 408 })
        : coded('E_ABORTED', 'the request was aborted'),
    )
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  /** Is called when the client closed its sending side; its reply is still sent. */
  hangUp(): void {
    if (this.halfClosed || this.aborted) return
    this.halfClosed = true
    if (this.onAbort !== null) this.runInAsyncScope(this.onAbort, undefined, 'client')
  }

  drained(): void {
    this.more.unsent = 0
    if (this.onDrain !== null) this.runInAsyncScope(this.onDrain)
  }

  bodyChunk(offset: number, length: number): void {
    const { sink } = this
    if (sink === null) return
    const view = bytes.subarray(offset, offset + length)
    if (sink.borrows === true) this.runInAsyncScope(sink.chunk, sink, view, true)
    else this.runInAsyncScope(sink.chunk, sink, Buffer.from(view))
  }

  /** `length` is that of a block of trailer fields, 0 without one; `offset` says where it is, as for a body. */
  bodyEnd(offset: number, length: number): void {
    const { sink } = this
    this.sink = null
    if (sink === null) return
    this.runInAsyncScope(sink.end, sink, length === 0 ? undefined : readTrailers(offset, length))
  }

  /** With `status` 0 the client closed its sending side before the end of the body, so nobody waits for a reply. */
  bodyFailed(status: number): void {
    if (live[this.slot] !== this) return
    if (this.sink === null) {
      // The engine reports it only once, so it is kept for the reader to come.
      this.sink = new Unreadable(status)
      return
    }
    if (status === 0) {
      writeSignal(this.slot, this.generation, operationDestroy, null, 0, 0)
      return this.abort('client')
    }
    const error =
      status === 413
        ? coded('E_BODY_TOO_LARGE', 'the body is larger than this route allows')
        : coded('E_BAD_REQUEST', 'the body is malformed')
    this.failBody(Object.assign(error, { status }))
  }

  private failBody(error: Error): void {
    const { sink } = this
    this.sink = null
    if (sink !== null) this.runInAsyncScope(sink.fail, sink, error)
  }

  /** Copies the parts that may still be read out of the page, before the engine reuses it. */
  park(): void {
    if (this.parked !== null) return
    const { at } = this
    const count = (words[at + requestCounts] as number) & 0xff
    const params: (string | undefined)[] = []
    for (let index = 0; index < count; index++) params.push(readParam(at, index))
    const head = words[at + requestHeadOffset] as number
    this.more.parked = {
      path: this.path,
      query: this.query,
      params,
      head: copy(head, words[at + requestHeadLength] as number),
      peer: readPeer(at),
      body: this.large === null && this.bodyKind === BodyKind.complete ? this.bodyBytes() : null,
      bodyLength: words[at + requestBodyLength] as number,
    }
  }
}

/** `methods` has eight, so these bits of `kind` are set where the index of the method is beyond it. */
const unusualMethod = 0xf8 << 8

/** Finds the authority in a head that the engine has accepted and whose target does not begin with its path. */
const targetAuthority = /^(?:\r\n)?[^ ]+ (?:https?:\/\/)?([^/? ]+)/i

const knownIds: ReadonlyMap<string, number> = new Map(
  fieldNames.map((name, id): [string, number] => [name, id]).slice(1),
)

function isTwiceIn(raw: readonly string[], name: string): boolean {
  return raw.filter((each, at) => at % 2 === 0 && each.toLowerCase() === name).length > 1
}

function add(fields: Record<string, string>, name: string, value: string): void {
  const before = fields[name]
  fields[name] = before === undefined ? value : combine(name, before, value)
}

function readTrailers(offset: number, length: number): string[] {
  if (offset < 0) return readPacked((bodies[-1 - offset] as Buffer).toString('latin1', 0, length))
  return readPacked(bytes.latin1Slice(offset, offset + length))
}

function copy(start: number, length: number): Buffer {
  const kept = Buffer.allocUnsafe(length)
  bytes.copy(kept, 0, start, start + length)
  return kept
}

function coded(code: string, message: string): Error & { code: string } {
  return Object.assign(new Error(message), { code })
}

/** Gives the first word of the descriptors of `page`, relative to those of the first page. */
export function pageStart(page: number): number {
  return page * pageWords
}
