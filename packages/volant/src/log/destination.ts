/** Log lines are gathered and written in the background, and before the process exits. */
import { close, constants, fstatSync, openSync, stat, type Stats, write, writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import { bad } from '../options/bad-option.ts'
import { printLine } from '../report/print-line.ts'
import { isThenable } from '../types/thenable.ts'
import { supervision } from '../worker/supervision.ts'

/** A target that lines are written to: a stream, `process.stderr`, an object of your own. */
export interface LogStream {
  /** Takes one line with its line end. */
  write(line: string): unknown
}

export interface Destination {
  write(line: string): void
  /** Resolves when all lines so far were handed to the system, or that takes too long. */
  flush(): Promise<void> | void
}

/** A line waits this many milliseconds for others, so that one write takes several. */
const longestWait = 50
/** A write begins at this many characters. It costs much the same whatever its size. */
const chunk = 65_536
/** Lines are dropped while more characters than these wait for a destination. */
const mostWaiting = 16 * 1_024 * 1_024
/**
 * Several workers write to one pipe. It takes so many bytes in one piece (PIPE_BUF, of which POSIX promises 512), and what
 * others write does not come between them. Linux does the same for a socket, which journald passes as standard output.
 */
const atomic = process.platform === 'linux' ? 4_096 : 512
/** `flush` waits this many milliseconds for a reader that has stopped reading: an app that closes goes on then. */
const longestFlush = 2_000
/** A file is looked for at its path this often, in milliseconds. */
const lookAfter = 1_000

let stdout: Destination | null = null

/** Opens standard output, a file to append to, or a stream. Throws `E_BAD_OPTION`, also if a file cannot be opened. */
export function openDestination(given: unknown, option = 'logger: destination'): Destination {
  if (given === undefined) return (stdout ??= new Gathering(openStdout(), 'stdout', null))
  if (typeof given === 'string') return openFile(option, given)
  if (typeof (given as LogStream | null)?.write !== 'function') {
    throw bad(option, given, 'the path of a file, or something with write()')
  }
  const stream = given as LogStream
  const known = directs.get(stream) ?? direct(stream)
  directs.set(stream, known)
  return known
}

/** Each stream has one destination, so that its errors are listened to once and reported once. */
const directs = new WeakMap<LogStream, Destination>()

function openFile(option: string, path: string): Destination {
  try {
    return new Gathering(opened(openToAppend(path)), path, path)
  } catch (error) {
    throw bad(option, path, `a file that can be written to (${(error as Error).message})`)
  }
}

/** A write to a named pipe must not wait for a reader, and opening one without a reader fails in place of waiting. */
function openToAppend(path: string): number {
  const { O_APPEND, O_CREAT, O_WRONLY, O_NONBLOCK = 0 } = constants
  return openSync(path, O_APPEND | O_CREAT | O_WRONLY | O_NONBLOCK, 0o666)
}

interface Opened {
  readonly fd: number
  /** True for a pipe to which writes do not wait. */
  readonly isPipe: boolean
  /** True for a file on a disk, whose size tells what was written to it. */
  readonly isFile: boolean
  /** True where a write may be mixed with those of other workers, unless it is small. */
  readonly isShared: boolean
}

function opened(fd: number): Opened {
  const found = fstatSync(fd)
  const isPipe = found.isFIFO()
  return { fd, isPipe, isFile: found.isFile(), isShared: isPipe && supervision() !== null }
}

/** Gives how many bytes are written at once: as many lines as fit, or one line that is longer. */
function pieceOf(bytes: Buffer): number {
  if (bytes.length <= atomic) return bytes.length
  const last = bytes.lastIndexOf(10, atomic - 1)
  // A line feed in front ends a line that was cut off.
  if (last > 0) return last + 1
  const end = bytes.indexOf(10, atomic)
  return end < 0 ? bytes.length : end + 1
}

/**
 * Opens the pipe of standard output anew where the system can, so that writes to it do not wait: a reader that has
 * stopped would hold a thread of the pool, and the end of the process. Others that share the pipe notice nothing.
 */
function openStdout(): Opened {
  let isFile = false
  let isShared = false
  try {
    const found = fstatSync(1)
    isFile = found.isFile()
    isShared = (found.isFIFO() || found.isSocket()) && supervision() !== null
    if (found.isFIFO()) return opened(openSync('/proc/self/fd/1', constants.O_WRONLY | constants.O_NONBLOCK))
  } catch {
    // It is closed, there is no /proc, or the pipe is another user's.
  }
  return { fd: 1, isPipe: false, isFile, isShared }
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
  #to: Opened
  readonly #name: string
  /** The path of a file that may be renamed; null for anything else. */
  readonly #path: string | null
  readonly #complain: (error: unknown) => void
  #waiting = ''
  #writing: Buffer | null = null
  /** How many bytes of them a thread has. */
  #size = 0
  /** The size of the file once the thread has written them; null where it is not known. */
  #sizeAfter: number | null = null
  /** Resolves at the end of the last write that has begun. */
  #written = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  /** True while the last line that was written has no end. If the rest of it is dropped, the next one must not follow. */
  #cut = false
  /** True while no thread has what is to be written: it is tried again soon, or its file is looked for. */
  #held = false
  /** A full pipe is tried again after so many milliseconds. */
  #retry = 1
  /** The lines that were dropped and of which stderr does not say yet how many they are. */
  #dropped = 0
  #looked = performance.now()

  constructor(to: Opened, name: string, path: string | null) {
    this.#to = to
    this.#name = name
    this.#path = path
    this.#complain = complainOnce(`the logger cannot write to ${name}; lines are dropped`)
    flushAtExit(this)
  }

  write(line: string): void {
    if (this.#waiting.length > mostWaiting) return this.#drop(1, 'it takes too long')
    this.#waiting += line
    if (this.#waiting.length < chunk) {
      if (this.#timer === null) this.#wait()
    } else if (this.#writing === null) this.#next()
  }

  async flush(): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, longestFlush)
    })
    await Promise.race([this.#flushed(), late])
    clearTimeout(timer)
  }

  async #flushed(): Promise<void> {
    const waits = this.#waiting !== ''
    await this.#written
    if (!waits) return
    this.#next()
    await this.#written
  }

  #wait(): void {
    if (exiting) return this.flushSync()
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#next()
    }, longestWait).unref()
  }

  #next(): void {
    if (this.#writing !== null || this.#waiting === '') return
    const bytes = Buffer.from(this.#cut ? `\n${this.#waiting}` : this.#waiting)
    this.#writing = bytes
    this.#waiting = ''
    this.#written = new Promise((resolve) => {
      if (this.#path === null || performance.now() - this.#looked < lookAfter) this.#writeOut(bytes, resolve)
      else this.#look(this.#path, () => this.#writeOut(bytes, resolve))
    })
  }

  /** Opens the file at the path again where it is another one by now, as after logrotate. */
  #look(path: string, then: () => void): void {
    this.#looked = performance.now()
    this.#held = true
    stat(path, (error, found) => {
      if (error?.code === 'ENOENT' || (error === null && isOther(found, this.#to.fd))) {
        try {
          const before = this.#to
          this.#to = opened(openToAppend(path))
          close(before.fd, () => {})
        } catch (failure) {
          // The lines go to the old file, until it can be opened.
          this.#complain(failure)
        }
      }
      then()
    })
  }

  #writeOut(bytes: Buffer, resolve: () => void): void {
    if (this.#to.isPipe) return this.#writeToPipe(bytes, resolve)
    this.#held = false
    this.#size = this.#sizeOf(bytes)
    const size = this.#fileSize()
    this.#sizeAfter = size === null ? null : size + this.#size
    write(this.#to.fd, bytes, 0, this.#size, null, (error, count) =>
      this.#wrote(bytes, error, count, resolve),
    )
  }

  /** A pipe may take a part. Only this thread can know how much before the process exits, and it does not wait. */
  #writeToPipe(bytes: Buffer, resolve: () => void): void {
    let rest = bytes
    let count = 0
    let failure: NodeJS.ErrnoException | null = null
    try {
      while (
        (count = writeSync(this.#to.fd, rest, 0, this.#sizeOf(rest))) < rest.length &&
        this.#to.isShared
      ) {
        rest = this.#restOf(rest, count)
        count = 0
      }
    } catch (error) {
      failure = error as NodeJS.ErrnoException
    }
    this.#wrote(rest, failure, count, resolve)
  }

  /** Takes note that a part of `bytes` was written, and gives the rest. */
  #restOf(bytes: Buffer, count: number): Buffer {
    this.#retry = 1
    this.#cut = count > 0 && bytes[count - 1] !== 10
    return (this.#writing = bytes.subarray(count))
  }

  #sizeOf(bytes: Buffer): number {
    return this.#to.isShared ? pieceOf(bytes) : bytes.length
  }

  #wrote(bytes: Buffer, error: NodeJS.ErrnoException | null, count: number, resolve: () => void): void {
    if (error?.code === 'EAGAIN') {
      // The reader of a pipe is slow. What waits for it does not keep the process alive.
      this.#held = true
      setTimeout(() => this.#writeOut(bytes, resolve), this.#retry).unref()
      this.#retry = Math.min(this.#retry * 2, pause)
      return
    }
    this.#retry = 1
    if (error !== null) this.#drop(linesIn(bytes), error)
    else {
      const rest = this.#restOf(bytes, count)
      if (rest.length > 0) return this.#writeOut(rest, resolve)
      this.#tellOfDropped()
    }
    this.#writing = null
    resolve()
    if (this.#waiting.length >= chunk) return this.#next()
    if (this.#waiting !== '' && this.#timer === null) this.#wait()
  }

  #drop(lines: number, why: unknown): void {
    this.#dropped += lines
    this.#complain(why)
  }

  /** Says how many lines were dropped, once lines can be written again and when the process exits. */
  #tellOfDropped(): void {
    if (this.#dropped === 0) return
    printLine(`volant: the logger dropped ${this.#dropped} lines that could not be written to ${this.#name}`)
    this.#dropped = 0
  }

  #fileSize(): number | null {
    if (!this.#to.isFile) return null
    try {
      return fstatSync(this.#to.fd).size
    } catch {
      return null // The descriptor was closed; the write says so.
    }
  }

  /**
   * Waits for the write that a thread of the pool has, of which no event will come, and gives how many bytes of
   * `#writing` need not be written again. The size of a file tells when they are in it: on a busy machine the thread may
   * begin late. If it takes too long, what was to follow them comes first: before a process ends the pool does what it was
   * given, also what it has not begun. At the end of a worker thread Node.js cancels that, so it is written here.
   */
  #waitForThread(): number {
    if (this.#sizeAfter === null) {
      Atomics.wait(unchanging, 0, 0, unknown)
      return this.#size
    }
    // What others write to the file makes it larger, too: the thread has some time in any case.
    const until = performance.now() + mostWaits * pause
    for (let wait = pause; performance.now() < until; wait = 1) {
      Atomics.wait(unchanging, 0, 0, wait)
      const size = this.#fileSize()
      if (size === null || size >= this.#sizeAfter) return this.#size
    }
    return isMainThread ? this.#size : 0
  }

  /** Writes all lines before this returns, since the process exits. */
  flushSync(): void {
    const waiting = Buffer.from(this.#waiting)
    const begun = this.#writing === null || this.#held ? 0 : this.#waitForThread()
    const rest = this.#writing?.subarray(begun) ?? waiting.subarray(0, 0)
    let bytes = Buffer.concat([rest, waiting])
    this.#writing = null
    this.#waiting = ''
    this.#timer = null
    let failure: unknown = 'it takes too long'
    for (let waits = 0; bytes.length > 0 && waits < mostWaits;) {
      try {
        bytes = bytes.subarray(writeSync(this.#to.fd, bytes, 0, this.#sizeOf(bytes)))
        waits = 0
      } catch (error) {
        failure = error
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') break
        Atomics.wait(unchanging, 0, 0, pause)
        waits++
      }
    }
    if (bytes.length > 0) this.#drop(linesIn(bytes), failure)
    this.#tellOfDropped()
  }
}

function isOther(found: Stats, fd: number): boolean {
  const open = fstatSync(fd)
  return found.ino !== open.ino || found.dev !== open.dev
}

function linesIn(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) count++
  return count
}

/** A full pipe is tried again after this many milliseconds at the latest. */
const pause = 10
/** A process that exits waits so often for the reader of a pipe, or for a file, before it gives up: 1 s. */
const mostWaits = 100
/** A terminal and a socket do not tell what a thread has written to them: it gets this many milliseconds. */
const unknown = 100
/** It never changes: `Atomics.wait` sleeps until its time is over. */
const unchanging = new Int32Array(new SharedArrayBuffer(4))

const open = new Set<Gathering>()
/** True once they were flushed: the listeners of the app for `exit` come later, and may write lines, too. */
let exiting = false

/** The destinations share one listener: Node.js warns of more than ten. */
function flushAtExit(destination: Gathering): void {
  if (open.size === 0) {
    process.on('exit', () => {
      exiting = true
      open.forEach((each) => each.flushSync())
    })
  }
  open.add(destination)
}
