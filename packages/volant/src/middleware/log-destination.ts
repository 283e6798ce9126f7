/** Log lines are gathered and written in the background, and before the process exits. */
import { openSync, write, writeSync } from 'node:fs'
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import { isThenable } from '../types/thenable.ts'

/** Anything lines can be written to: a stream, `process.stderr`, an object of your own. */
export interface LogStream {
  /** Takes one line with its line end. */
  write(line: string): unknown
}

export interface Destination {
  write(line: string): void
  /** Resolves when all lines so far were handed to the system. */
  flush(): Promise<void> | undefined
}

/** A line waits this many milliseconds for others, so that one write takes several. */
const longestWait = 50
/** A write begins at this many bytes. It costs much the same whatever its size. */
const chunk = 65_536
/** Lines are dropped when more bytes than these wait for a destination. */
const mostBytes = 16 * 1_024 * 1_024

let stdout: Destination | null = null

/** Standard output, a file to append to, or a stream. Throws `E_BAD_OPTION`, also for a file that cannot be opened. */
export function openDestination(given: unknown): Destination {
  if (given === undefined) return (stdout ??= new Gathering(1, 'stdout'))
  if (typeof given === 'string') return new Gathering(openFile(given), given)
  if (typeof (given as LogStream | null)?.write !== 'function') {
    throw bad('logger: destination', given, 'the path of a file, or something with write()')
  }
  const stream = given as LogStream
  const known = directs.get(stream) ?? direct(stream)
  directs.set(stream, known)
  return known
}

/** One for each stream, so that its errors are listened to once and reported once. */
const directs = new WeakMap<LogStream, Destination>()

function openFile(path: string): number {
  try {
    return openSync(path, 'a')
  } catch (error) {
    throw bad('logger: destination', path, `a file that can be written to (${(error as Error).message})`)
  }
}

/** Says on stderr what is wrong with the log, the first time it is called. */
export function complainOnce(what: string): (error: unknown) => void {
  let complained = false
  return (error) => {
    if (complained) return
    complained = true
    printLine(`volant: ${what}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function direct(stream: LogStream): Destination {
  const complain = complainOnce('the logger cannot write to its destination')
  // Without a listener the error of a stream ends the process.
  ;(stream as Partial<NodeJS.EventEmitter>).on?.('error', complain)
  return {
    write(line) {
      try {
        const written = stream.write(line)
        if (isThenable(written)) written.then(undefined, complain)
      } catch (error) {
        complain(error)
      }
    },
    flush() {},
  }
}

class Gathering implements Destination {
  readonly #fd: number
  readonly #complain: (error: unknown) => void
  /** The buffer that lines are written into, and how many of its bytes are used. */
  #bytes = nothing
  #length = 0
  /** Full buffers; the first of them is being written. */
  readonly #full: Buffer[] = []
  /** A buffer that was written and is used again. */
  #spare: typeof nothing | null = null
  #writing = false
  /** Bytes that ever were in full buffers, and those of them that were written or dropped. */
  #sealed = 0
  #written = 0
  #timer: NodeJS.Timeout | null = null
  /** Promises to resolve when that many bytes were written. */
  readonly #flushes: { readonly at: number; readonly resolve: () => void }[] = []

  constructor(fd: number, name: string) {
    this.#fd = fd
    this.#complain = complainOnce(`the logger cannot write to ${name}`)
    flushAtExit(this)
  }

  write(line: string): void {
    // A character is at most three bytes of UTF-8.
    if (line.length * 3 > this.#bytes.length - this.#length) this.#makeRoom(line.length * 3)
    this.#length += this.#bytes.write(line, this.#length)
    if (this.#timer === null) this.#wait()
  }

  flush(): Promise<void> | undefined {
    this.#seal()
    if (!this.#writing) this.#next()
    if (!this.#writing) return undefined
    return new Promise((resolve) => this.#flushes.push({ at: this.#sealed, resolve }))
  }

  /** Takes a buffer that has room for as many bytes. */
  #makeRoom(room: number): void {
    this.#seal()
    if (this.#sealed - this.#written > mostBytes) {
      for (const { length } of this.#full.splice(1)) this.#written += length
      this.#complain('it takes too long; lines are dropped')
    }
    this.#bytes =
      room <= chunk && this.#spare !== null ? this.#spare : Buffer.allocUnsafeSlow(Math.max(chunk, room))
    if (this.#bytes === this.#spare) this.#spare = null
    if (!this.#writing) this.#next()
  }

  /** Puts the current buffer among the full ones. */
  #seal(): void {
    if (this.#length === 0) return
    this.#full.push(this.#bytes.subarray(0, this.#length))
    this.#sealed += this.#length
    this.#bytes = nothing
    this.#length = 0
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      if (this.#writing) return
      this.#seal()
      this.#next()
    }, longestWait).unref()
  }

  #next(): void {
    const [bytes] = this.#full
    this.#writing = bytes !== undefined
    if (bytes !== undefined) this.#writeOut(bytes)
    else if (this.#length > 0 && this.#timer === null) this.#wait()
  }

  #writeOut(bytes: Buffer): void {
    write(this.#fd, bytes, (error, count) => {
      // A pipe whose reader is slow, where Node.js has made it non-blocking.
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#writeOut(bytes), pause)
      if (error !== null) this.#complain(error)
      else if (count < bytes.length) return this.#writeOut(bytes.subarray(count))
      return this.#done(this.#full.shift() as Buffer)
    })
  }

  #done(bytes: Buffer): void {
    this.#written += bytes.length
    if (bytes.buffer.byteLength === chunk) this.#spare = Buffer.from(bytes.buffer as ArrayBuffer)
    while (this.#flushes.length > 0 && (this.#flushes[0] as { at: number }).at <= this.#written) {
      this.#flushes.shift()?.resolve()
    }
    this.#next()
  }

  /** Writes all lines before this returns, since the process exits. */
  flushSync(): void {
    // What another thread is writing comes first, and no event will come when it has ended.
    if (this.#writing) Atomics.wait(unchanging, 0, 0, pause)
    const left = this.#full.slice(this.#writing ? 1 : 0)
    let bytes = Buffer.concat([...left, this.#bytes.subarray(0, this.#length)])
    for (let waits = 0; bytes.length > 0 && waits < 100;) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return this.#complain(error)
        Atomics.wait(unchanging, 0, 0, pause)
        waits++
      }
    }
  }
}

const nothing = Buffer.alloc(0)
/** A full pipe is tried again after this many milliseconds. */
const pause = 10
/** It never changes: `Atomics.wait` sleeps until its time is over. */
const unchanging = new Int32Array(new SharedArrayBuffer(4))

const open = new Set<Gathering>()

/** All destinations share one listener: Node.js warns of more than ten. */
function flushAtExit(destination: Gathering): void {
  if (open.size === 0) process.on('exit', () => open.forEach((each) => each.flushSync()))
  open.add(destination)
}
