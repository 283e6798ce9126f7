import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'

import { Patience, turns } from '@volant/test-kit'

import { type Carried, carry, type Target } from './carrier.ts'
import { type Case, type Step, runToken } from './case.ts'
import { type Read, readReplies } from './replies.ts'

/** How the octets of a case are divided into writes. */
export type Cut =
  | { readonly kind: 'whole' }
  | { readonly kind: 'at'; readonly octet: number }
  | { readonly kind: 'octets' }
  | { readonly kind: 'pieces'; readonly size: number }

export interface Played {
  readonly read: Read
  /**
   * `open`: the probe was answered. `closed`: the server sent FIN, close_notify over TLS, or a reset. `silent`: the
   * server did neither in time.
   */
  readonly end: 'open' | 'closed' | 'silent'
  /** Milliseconds from the last reply that was due until it was known what became of the connection. */
  readonly waited: number
  /** Milliseconds from the last octets of the case until it was known what became of the connection. */
  readonly idle: number
  /** Milliseconds from the last octets of the case until the probe was sent; Infinity if it was not. */
  readonly probed: number
  /** Replies that came while the case wanted silence. */
  readonly early: number
  readonly reset: boolean
}

/**
 * A reply or a close that is due comes at once, from adapters other than the engine when a sweep of once a second finds
 * a drain over; the rest is for a machine under load, which has longer where threads wait for a core. `silence` is for
 * what never comes, as was recorded. Milliseconds.
 */
export const patience = { reply: 8000, close: 4000, quiet: 30, silence: 3000 }

/** What was recorded of a case. A play waits for it, and where it is silence for what the case expects, too. */
export interface Known {
  /** Without interim ones. */
  readonly replies: number
  readonly end: Played['end']
  /** Milliseconds within which an adapter closes that waits for more where the case does not. */
  readonly limit: number
}

const probe = Buffer.from('GET /probe HTTP/1.1\r\nHost: a\r\n\r\n', 'latin1')

let runs = 0

/** Plays one case on a fresh connection. */
export async function play(target: Target, one: Case, cut: Cut, known?: Known): Promise<Played> {
  const token = (runs++).toString(36).padStart(runToken.length, '0')
  const wire = await Wire.open(target, (index) => one.expected.replies[index]?.head === true)
  try {
    let sent = 0
    let early = 0
    let due = 0
    let lastSent = performance.now()
    for (const step of one.steps) {
      if ('bytes' in step) {
        const bytes = Buffer.from(step.bytes.replaceAll(runToken, token), 'latin1')
        for (const piece of pieces(bytes, sent, cut)) {
          lastSent = performance.now()
          await wire.send(piece)
          if (wire.ended) break
        }
        sent += bytes.length
      } else if ('replies' in step) {
        due = step.replies
        // An interim reply that is due is counted here, and may not be what was recorded.
        const isDue = known === undefined || (known.replies >= due && one.expected.interim === 'never')
        const isThere = () => wire.ended || wire.count() >= due
        if (isDue) await wire.comes(isThere, patience.reply)
        else await wire.until(isThere, patience.silence)
      } else if ('quiet' in step) {
        const before = wire.count()
        await wire.until(() => wire.ended || wire.count() > before, step.quiet)
        early += wire.count() - before
      } else {
        wire.finish()
      }
      if (wire.ended) break
    }
    return await settle(wire, one, early, lastSent, known)
  } finally {
    wire.destroy()
  }
}

/** Waits for what was recorded, or what the case expects, then finds out what became of the connection. */
async function settle(
  wire: Wire,
  one: Case,
  early: number,
  lastSent: number,
  known?: Known,
): Promise<Played> {
  const { replies, end } = one.expected
  const required = replies.filter((reply) => reply.optional !== true).length
  const due = known?.replies ?? required
  let begun = performance.now()
  let probed = Infinity
  const result = (state: Played['end'], read = wire.read()): Played => ({
    read,
    end: state,
    waited: performance.now() - begun,
    idle: performance.now() - lastSent,
    probed,
    early,
    reset: wire.reset,
  })
  const isReplied = (count: number) => wire.ended || wire.read().replies.length >= count
  await wire.comes(() => isReplied(due), patience.reply)
  // Where silence was recorded, the recording play waited for what the case expects, too.
  if (known?.end === 'silent') await wire.until(() => isReplied(required), patience.reply)
  begun = performance.now()
  if (end === 'any') {
    await wire.until(() => wire.ended, patience.quiet)
    return result(wire.ended ? 'closed' : 'silent')
  }
  // An adapter that waits for more, where the case does not, closes when a limit of its own is over.
  const isEnded = () => wire.ended
  if (known?.end === 'closed' && due < required) await wire.comes(isEnded, known.limit)
  else if (end === 'closed' && (known?.end ?? end) === end) await wire.comes(isEnded, patience.close)
  else if (end === 'closed') await wire.until(isEnded, patience.close)
  else if (wire.finished) await wire.until(isEnded, patience.quiet)
  if (wire.ended || wire.finished) return result(wire.ended ? 'closed' : 'silent')
  probed = performance.now() - lastSent
  wire.write(probe)
  const answered = () => wire.read().replies.at(-1)?.headers['x-probe'] === '1'
  const isAnswered = () => wire.ended || answered()
  if (known?.end === 'silent') await wire.until(isAnswered, patience.close)
  else await wire.comes(isAnswered, patience.close)
  const read = wire.read()
  if (!answered()) return result(wire.ended ? 'closed' : 'silent', read)
  // What follows the answer to the probe would be the answer to octets that were no request.
  await wire.turn()
  const last = wire.read()
  return result('open', {
    ...last,
    replies: last.replies.filter((reply) => reply.headers['x-probe'] !== '1'),
  })
}

/** The writes for `bytes`, which begin at octet `offset` of the case. */
function pieces(bytes: Buffer, offset: number, cut: Cut): Buffer[] {
  if (cut.kind === 'whole') return [bytes]
  if (cut.kind === 'at') {
    const at = cut.octet - offset
    return at > 0 && at < bytes.length ? [bytes.subarray(0, at), bytes.subarray(at)] : [bytes]
  }
  const size = cut.kind === 'octets' ? 1 : cut.size
  const list: Buffer[] = []
  for (let at = 0; at < bytes.length; at += size) list.push(bytes.subarray(at, at + size))
  return list
}

/** Octets of a case in all. */
export function octets(steps: readonly Step[]): number {
  return steps.reduce((sum, step) => sum + ('bytes' in step ? step.bytes.length : 0), 0)
}

/** One raw connection and what came back on it. */
export class Wire {
  ended = false
  finished = false
  reset = false
  #text = ''
  #read: Read | null = null
  #wake: (() => void) | null = null
  /** Carries the plaintext. */
  readonly #stream: Duplex
  /** The TCP connection, also below TLS. */
  readonly #socket: Socket
  readonly #isHead: (index: number) => boolean

  constructor({ stream, socket }: Carried, isHead: (index: number) => boolean) {
    this.#stream = stream
    this.#socket = socket
    this.#isHead = isHead
    stream.setEncoding('latin1')
    stream.on('data', (text) => {
      this.#text += String(text)
      this.#changed()
    })
    stream.on('end', () => {
      this.ended = true
      this.#changed()
    })
    stream.on('error', () => {
      this.ended = true
      this.reset = true
      this.#changed()
    })
    stream.on('close', () => {
      this.ended = true
      this.#changed()
    })
  }

  static async open(target: Target, isHead: (index: number) => boolean): Promise<Wire> {
    return new Wire(await carry(target), isHead)
  }

  get localPort(): number {
    return this.#socket.localPort ?? 0
  }

  write(bytes: Buffer): void {
    if (!this.#stream.destroyed) this.#stream.write(bytes)
  }

  /** Writes, and lets the server (in this process) see the octets before anything else is written. */
  async send(bytes: Buffer): Promise<void> {
    this.write(bytes)
    await this.turn()
  }

  /** Three turns of the event loop: the write, the server's read, its reply. */
  async turn(): Promise<void> {
    for (let i = 0; i < 3; i++) await new Promise((resolve) => setImmediate(resolve))
  }

  finish(): void {
    this.finished = true
    this.#stream.end()
  }

  /** Resets what is still open: tens of thousands of connections in TIME_WAIT would use up the ports. */
  destroy(): void {
    if (this.ended || this.finished) this.#stream.destroy()
    else this.#socket.resetAndDestroy()
  }

  /** Replies so far, interim ones included. */
  count(): number {
    const read = this.read()
    return read.replies.length + read.interim
  }

  read(): Read {
    this.#read ??= readReplies(this.#text, this.#isHead, this.ended)
    return this.#read
  }

  /**
   * Waits until `done`, at most for that time and some turns of the event loop: in a process that stood still, timers run
   * before what has come meanwhile is read.
   */
  async until(done: () => boolean, milliseconds: number): Promise<void> {
    if (done()) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, milliseconds)
      this.#wake = () => {
        if (!done()) return
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = null
    if (!done()) await turns()
  }

  /** Waits until `done`, which is due: longer than that time where threads of this process wait for a core. */
  async comes(done: () => boolean, milliseconds: number): Promise<void> {
    const due = new Patience(milliseconds)
    for (let left = due.left(); !done() && left > 0; left = due.left()) await this.until(done, left)
  }

  #changed(): void {
    this.#read = null
    this.#wake?.()
  }
}
