/** Where log lines go: gathered, then written in the background, at once when the process ends. */
import { openSync, write, writeSync } from 'node:fs'
import { bad } from '../limits.ts'

/** Anything lines can be written to: a stream, `process.stderr`, an object of your own. */
export interface LogStream {
  /** Given one line with its line end. */
  write(line: string): unknown
}

export interface Destination {
  write(line: string): void
  /** Resolves when all lines so far were handed to the system. */
  flush(): Promise<void> | undefined
}

/** Lines wait for each other this long, in milliseconds, … */
const patience = 50
/** … and until they are this many characters: a write costs as much as the lines of 20 requests. */
const enough = 8_192
/** Characters kept for a destination that does not take them; then lines are dropped. */
const most = 16 * 1_024 * 1_024

let stdout: Destination | null = null

/** Standard output, a file to append to, or a stream. Throws `E_BAD_OPTION`, also for a file that cannot be opened. */
export function openDestination(given: unknown): Destination {
  if (given === undefined) return (stdout ??= new Gathering(1, 'stdout'))
  if (typeof given === 'string') return new Gathering(openFile(given), given)
  if (typeof (given as LogStream | null)?.write !== 'function') {
    throw bad('logger: destination', given, 'the path of a file, or something with write()')
  }
  return new Direct(given as LogStream)
}

function openFile(path: string): number {
  try {
    return openSync(path, 'a')
  } catch (error) {
    throw bad('logger: destination', path, `a file that can be written to (${(error as Error).message})`)
  }
}

/** Says on stderr what is wrong with the log, once. */
class Complaint {
  #made = false
  readonly #name: string

  constructor(name: string) {
    this.#name = name
  }

  make(what: string): void {
    if (this.#made) return
    this.#made = true
    process.stderr.write(`volant: the logger cannot write to ${this.#name}: ${what}\n`)
  }
}

class Direct implements Destination {
  readonly #stream: LogStream & { on?: (event: 'error', listener: (error: Error) => void) => unknown }
  readonly #complaint = new Complaint('its destination')

  constructor(stream: LogStream) {
    this.#stream = stream
    // Without a listener the error of a stream ends the process.
    this.#stream.on?.('error', (error) => this.#complaint.make(error.message))
  }

  write(line: string): void {
    try {
      this.#stream.write(line)
    } catch (error) {
      this.#complaint.make(String(error))
    }
  }

  flush(): undefined {}
}

class Gathering implements Destination {
  readonly #fd: number
  readonly #complaint: Complaint
  #lines = ''
  #timer: NodeJS.Timeout | null = null
  /** What is being written, and what is to be told when nothing is left. */
  #writing: Buffer | null = null
  #flushed: (() => void)[] = []

  constructor(fd: number, name: string) {
    this.#fd = fd
    this.#complaint = new Complaint(name)
    leaving(this)
  }

  write(line: string): void {
    this.#lines += line
    if (this.#lines.length < enough) this.#timer ??= setTimeout(() => this.#begin(), patience).unref()
    else if (this.#writing === null) this.#begin()
    else if (this.#lines.length > most) {
      this.#lines = ''
      this.#complaint.make('it takes too long; lines are dropped')
    }
  }

  flush(): Promise<void> | undefined {
    if (this.#writing === null) this.#begin()
    if (this.#writing === null) return undefined
    return new Promise((resolve) => this.#flushed.push(resolve))
  }

  #begin(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    if (this.#writing !== null) return
    if (this.#lines === '') {
      for (const told of this.#flushed.splice(0)) told()
      return
    }
    this.#writing = Buffer.from(this.#lines)
    this.#lines = ''
    this.#go(this.#writing)
  }

  #go(bytes: Buffer): void {
    write(this.#fd, bytes, (error, count) => {
      // A pipe whose reader is slow, where Node.js has made it non-blocking.
      if (error?.code === 'EAGAIN') return void setTimeout(() => this.#go(bytes), pause)
      if (error !== null) this.#complaint.make(error.message)
      else if (count < bytes.length) return this.#go(bytes.subarray(count))
      this.#writing = null
      return this.#begin()
    })
  }

  /** The process ends: what is there is written before this returns. */
  leave(): void {
    // What another thread is writing comes first, and nobody will say when it is through.
    if (this.#writing !== null) Atomics.wait(still, 0, 0, pause)
    let bytes = Buffer.from(this.#lines)
    for (let waits = 0; bytes.length > 0 && waits < 100;) {
      try {
        bytes = bytes.subarray(writeSync(this.#fd, bytes))
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return this.#complaint.make(String(error))
        Atomics.wait(still, 0, 0, pause)
        waits++
      }
    }
  }
}

/** Milliseconds until a pipe that was full is tried again. */
const pause = 10
/** Never changes: to wait for it is to wait. */
const still = new Int32Array(new SharedArrayBuffer(4))

const open = new Set<Gathering>()

/** One listener for all: each of its own would be a warning from Node.js past ten. */
function leaving(destination: Gathering): void {
  if (open.size === 0) process.on('exit', () => open.forEach((each) => each.leave()))
  open.add(destination)
}
