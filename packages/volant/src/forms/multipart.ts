/**
 * Takes a multipart body apart (RFC 2046 §5.1, RFC 7578): bytes go in as they come, and tokens are asked for. It never
 * waits and keeps no more than a part of a line, so that whoever reads the tokens decides how fast the body comes.
 */
import { refusal } from '../errors/errors.ts'
import { malformed, type PartHead, partHead, tooLarge } from './part-head.ts'

/** The limits of a form, all of them known. */
export interface KnownLimits {
  readonly maxFormParts: number
  readonly maxFormFiles: number
  readonly maxFileSize: number
  readonly maxFieldSize: number
}

/** The most header fields of a part. */
export const mostHeaders = 16
/** The most bytes of a header field, and of what stands before the first boundary. */
export const longestHeader = 4096

/**
 * What comes next: `part` has a `head`, `data` has bytes of the part in `data`, `end` is the closing boundary. With
 * `more` everything was read, and the parser needs bytes.
 */
export const Token = { more: 0, part: 1, data: 2, partEnd: 3, end: 4 } as const
export type Token = (typeof Token)[keyof typeof Token]

const State = {
  preamble: 0,
  /** Two bytes behind a boundary say whether it is the last. */
  boundary: 1,
  /** The rest of the line with the boundary has nothing but blanks. */
  padding: 2,
  head: 3,
  body: 4,
  over: 5,
} as const
type State = (typeof State)[keyof typeof State]

const lineFeed = 10
const carriageReturn = 13
const empty = Buffer.alloc(0)
const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class MultipartParser {
  /** The head of the current part. */
  head: PartHead | null = null
  /** The bytes of the last `Token.data`, which lie in what `feed` was given. */
  data: Buffer = empty
  readonly #limits: KnownLimits
  /** What stands before each boundary, and the boundary. Its first byte is in it once, which the search relies on. */
  readonly #delimiter: Buffer
  #state: State = State.preamble
  #chunk: Buffer = empty
  #at = 0
  /** How much of the delimiter stood at the end of the bytes so far. The first boundary may stand at the very start. */
  #held = 2
  /** How much of that is no data of the part: the end of the line before it. */
  #before = 2
  #line = ''
  #lines: string[] = []
  #parts = 0
  #files = 0
  /** The bytes of the current part, or those before the first boundary. */
  #size = 0

  constructor(boundary: string, limits: KnownLimits) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1')
    this.#limits = limits
  }

  /** Gives the parser its next bytes, once it has asked for more. */
  feed(chunk: Buffer): void {
    this.#chunk = chunk
    this.#at = 0
  }

  /** Gives the next token. Throws 400 for a malformed form, 413 for one past a limit, 415 for a transfer encoding. */
  read(): Token {
    for (;;) {
      switch (this.#state) {
        case State.preamble:
        case State.body: {
          const token = this.#search(this.#state === State.body)
          if (token !== null) return token
          break
        }
        case State.boundary:
          if (!this.#readBoundary()) return Token.more
          if (this.#line === '--') {
            this.#state = State.over
            return Token.end
          }
          this.#state = State.padding
          break
        case State.padding: {
          const line = this.#readLine()
          if (line === null) return Token.more
          if (/[^\t ]/.test(line)) throw malformed('there is text behind a boundary')
          this.#state = State.head
          break
        }
        case State.head: {
          const line = this.#readLine()
          if (line === null) return Token.more
          if (line === '') return this.#begin()
          if (this.#lines.push(line) > mostHeaders) {
            throw tooLarge(`a part has more than ${mostHeaders} header fields`)
          }
          break
        }
        default:
          // What follows the last boundary has no meaning (RFC 2046 §5.1.1).
          this.#at = this.#chunk.length
          return Token.more
      }
    }
  }

  /** Begins a part whose head is complete. */
  #begin(): Token {
    const head = partHead(this.#lines)
    const { maxFormParts, maxFormFiles } = this.#limits
    if (++this.#parts > maxFormParts) {
      throw tooLarge(`the form has more than ${maxFormParts} parts (maxFormParts)`)
    }
    if (head.filename !== undefined && ++this.#files > maxFormFiles) {
      throw tooLarge(`the form has more than ${maxFormFiles} files (maxFormFiles)`)
    }
    this.head = head
    this.#lines = []
    this.#size = 0
    this.#state = State.body
    // A part without content may end with the empty line behind its head (RFC 2046 §5.1.1).
    this.#held = this.#before = 2
    return Token.part
  }

  /** Looks for the next delimiter. Gives null when it found one that ends no part, and when it has to look again. */
  #search(isBody: boolean): Token | null {
    const delimiter = this.#delimiter
    const chunk = this.#chunk
    const at = this.#at
    if (this.#held > 0) {
      const held = this.#held
      const length = Math.min(delimiter.length - held, chunk.length - at)
      if (delimiter.compare(chunk, at, at + length, held, held + length) === 0) {
        this.#held += length
        this.#at += length
        return this.#held === delimiter.length ? this.#found(isBody) : Token.more
      }
      // The delimiter has one carriage return, so that it cannot begin within what was held.
      const data = Buffer.from(delimiter.subarray(this.#before, held))
      this.#held = this.#before = 0
      return this.#give(data, isBody)
    }
    if (at === chunk.length) return Token.more
    const found = chunk.indexOf(delimiter, at)
    if (found === at) {
      this.#at = found + delimiter.length
      return this.#found(isBody)
    }
    const end = found === -1 ? this.#endOfData(chunk, at) : found
    this.#at = end
    if (found === -1) {
      this.#held = chunk.length - end
      this.#at = chunk.length
    }
    return this.#give(end === at ? empty : chunk.subarray(at, end), isBody)
  }

  /** Gives the end of what cannot belong to a delimiter that goes on in the next bytes. */
  #endOfData(chunk: Buffer, at: number): number {
    const delimiter = this.#delimiter
    let end = chunk.indexOf(carriageReturn, Math.max(at, chunk.length - delimiter.length + 1))
    while (end !== -1) {
      if (delimiter.compare(chunk, end, chunk.length, 0, chunk.length - end) === 0) return end
      end = chunk.indexOf(carriageReturn, end + 1)
    }
    return chunk.length
  }

  #found(isBody: boolean): Token | null {
    this.#held = this.#before = 0
    this.#state = State.boundary
    return isBody ? Token.partEnd : null
  }

  #give(data: Buffer, isBody: boolean): Token | null {
    if (data.length === 0) return null
    this.#size += data.length
    if (!isBody) {
      if (this.#size > longestHeader) throw malformed('it does not begin with its boundary')
      return null
    }
    const { filename, name } = this.head as PartHead
    const { maxFileSize, maxFieldSize } = this.#limits
    const limit = filename === undefined ? maxFieldSize : maxFileSize
    if (this.#size > limit) {
      const [what, option] = filename === undefined ? ['field', 'maxFieldSize'] : ['file', 'maxFileSize']
      throw tooLarge(
        `the ${what} ${JSON.stringify(name.slice(0, 50))} is larger than ${limit} bytes (${option})`,
      )
    }
    this.data = data
    return Token.data
  }

  #readBoundary(): boolean {
    const end = Math.min(this.#chunk.length, this.#at + 2 - this.#line.length)
    this.#line += this.#chunk.toString('latin1', this.#at, end)
    this.#at = end
    return this.#line.length === 2
  }

  /** Gives the next line, or null while its end has not come. */
  #readLine(): string | null {
    const chunk = this.#chunk
    // The two bytes behind a boundary may be the end of its line.
    if (this.#line !== '\r\n') {
      const found = chunk.indexOf(lineFeed, this.#at)
      const end = found === -1 ? chunk.length : found + 1
      // A line that is too long is not copied first.
      if (this.#line.length + end - this.#at > longestHeader + 2) {
        throw tooLarge(`a header field of a part is longer than ${longestHeader} bytes`)
      }
      this.#line += chunk.toString('latin1', this.#at, end)
      this.#at = end
      if (found === -1) return null
    }
    const line = this.#line
    this.#line = ''
    if (!line.endsWith('\r\n')) throw malformed('a line of a part ends without CR and LF')
    return decoded(line.slice(0, -2))
  }
}

/** Names are UTF-8 (RFC 7578 §5.1). */
function decoded(line: string): string {
  if (!/[\x80-\xff]/.test(line)) return line
  try {
    return strictUtf8.decode(Buffer.from(line, 'latin1'))
  } catch {
    throw refusal('E_BODY_ENCODING', 'a header field of a part is not valid UTF-8')
  }
}
