/** Log lines are gathered and written in the background, and before the process exits. */
import { openSync, write, writeSync } from 'node:fs'
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import { isThenable } from '../types/thenable.ts'

/** A target that lines are written to: a stream, `process.stderr`, an object of your own. */
export interface LogStream {
  /** Takes one line with its line end. */
  write(line: string): unknown
}

export interface Destination {
  write(line: string): void
  /** Resolves when all lines so far were handed to the system. */
  flush(): Promise<void> | void
}

/** A line waits this many milliseconds for others, so that one write takes several. */
const longestWait = 50
/** A write begins at this many characters. It costs much the same whatever its size. */
const chunk = 65_536
/** Lines are dropped when more characters than these wait for a destination. */
const mostWaiting = 16 * 1_024 * 1_024

let stdout: Destination | null = null

/** Opens standard output, a file to append to, or a stream. Throws `E_BAD_OPTION`, also if a file cannot be opened. */
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

/** Each stream has one destination, so that its errors are listened to once and reported once. */
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

/**
 * Gathers lines in one text: V8 joins texts by reference and copies them once, when they are written. sonic-boom costs
 * more for each line (`node lab/libraries.mjs line`, docs/decisions/0013-what-libraries-do.md).
 */
class Gathering implements Destination {
  readonly #fd: number
  readonly #complain: (error: unknown) => void
  #waiting = ''
  #writing: Buffer | null = null
  /** Resolves at the end of the last write that has begun. */
  #written = Promise.resolve()
  #timer: NodeJS.Timeout | null = null

  constructor(fd: number, name: string) {
    this.#fd = fd
    this.#complain = complainOnce(`the logger cannot write to ${name}`)
    flushAtExit(this)
  }

  write(line: string): void {
    this.#waiting += line
    if (this.#waiting.length < chunk) {
      if (this.#timer === null) this.#wait()
    } else if (this.#writing === null) this.#next()
    else if (this.#waiting.length > mostWaiting) {
      this.#waiting = ''
      this.#complain('it takes too long; lines are dropped')
    }
  }

  async flush(): Promise<void> {
    const waits = this.#waiting !== ''
    await this.#written
    if (!waits) return
    this.#next()
    await this.#written
  }

  #wait(): void {
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#next()
    }, longestWait).unref()
  }

  #next(): void {
    if (this.#writing !== null || this.#waiting === '') return
    this.#writing = Buffer.from(this.#waiting)
    this.#waiting = ''
    this.#written = new Promise((resolve) => this.#writeOut(this.#writing as Buffer, resolve))
  }

  #writeOut(bytes: Buffer, resolve: () => void): void {
    write(this.#fd, bytes, (error, count) => {
      // The reader of a pipe is slow, and Node.js has made the pipe non-blocking.
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#writeOut(bytes, resolve), pause)
      if (error !== null) this.#complain(error)
      else if (count < bytes.length) return this.#writeOut(bytes.subarray(count), resolve)
      this.#writing = null
      resolve()
      if (this.#waiting.length >= chunk) return this.#next()
      if (this.#waiting !== '' && this.#timer === null) this.#wait()
    })
  }

  /** Writes all lines before this returns, since the process exits. */
  flushSync(): void {
    // The write of another thread comes first, and no event will come when it has ended.
    if (this.#writing !== null) Atomics.wait(unchanging, 0, 0, pause)
    let bytes = Buffer.from(this.#waiting)
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

/** A full pipe is tried again after this many milliseconds. */
const pause = 10
/** It never changes: `Atomics.wait` sleeps until its time is over. */
const unchanging = new Int32Array(new SharedArrayBuffer(4))

const open = new Set<Gathering>()

/** The destinations share one listener: Node.js warns of more than ten. */
function flushAtExit(destination: Gathering): void {
  if (open.size === 0) process.on('exit', () => open.forEach((each) => each.flushSync()))
  open.add(destination)
}
