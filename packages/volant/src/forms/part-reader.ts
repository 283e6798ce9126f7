/** Reads the parts of a form one after the other, as fast as they are asked for. */
import { unlink } from 'node:fs/promises'
import { VolantError } from '../errors/errors.ts'
import { isThenable } from '../types/thenable.ts'
import type { BodySource } from './body-source.ts'
import { type MultipartParser, Token } from './multipart.ts'
import { malformed, type PartHead } from './part-head.ts'

const busy = 'this part of the form is being read already: wait for that, and keep what was read'

function usedError(message: string): VolantError {
  return new VolantError('E_BODY_USED', message)
}

export class PartReader {
  readonly #source: BodySource
  readonly #parser: MultipartParser
  /** Counts the parts that began: who reads one that is over is told so. */
  #part = 0
  #isOpen = false
  #failure: Error | null = null
  /** What reads the current part now. The next part waits for it, and another reader is refused. */
  #work: Promise<unknown> | null = null
  /** The files that were written. They are removed if the form turns out to be broken. */
  readonly #files: string[] = []
  /** The bytes that the parser reads. */
  #bytes: Buffer | null = null
  /** True once a handler got some of them: they are its own then. */
  #isShared = false
  /** Bytes that were read whole, and that no handler has. */
  readonly #used: Buffer[] = []

  constructor(source: BodySource, parser: MultipartParser) {
    this.#source = source
    this.#parser = parser
  }

  /** Gives the head of the next part, past what was not read of the current one; null when the form is complete. */
  async nextPart(): Promise<{ readonly head: PartHead; readonly number: number } | null> {
    while (this.#work !== null) await this.#work.catch(() => {})
    if (this.#failure !== null) throw this.#failure
    // Whoever still has the part before is refused from here on.
    this.#part += 1
    for (;;) {
      const token = this.#token()
      switch (isThenable(token) ? await token : token) {
        case Token.part:
          this.recycle()
          this.#isOpen = true
          return { head: this.#parser.head as PartHead, number: this.#part }
        case Token.partEnd:
          this.#isOpen = false
          break
        case Token.end:
          return null
      }
    }
  }

  /** Gives a handler the next bytes of the current part, or null at its end. */
  chunk(number: number): Buffer | null | Promise<Buffer | null> {
    if (this.#work !== null) return Promise.reject(usedError(busy))
    const next = this.borrow(number)
    return isThenable(next) ? this.#during(next.then((bytes) => this.#share(bytes))) : this.#share(next)
  }

  /** Has `read` borrow all that is left of a part. */
  whole<T>(number: number, read: () => Promise<T>): Promise<T> {
    if (this.#work !== null) return Promise.reject(usedError(busy))
    const isOver = number === this.#part && this.#failure === null && !this.#isOpen
    // It would be taken for an empty one.
    if (isOver) return Promise.reject(usedError('this part of the form was read already'))
    return this.#during(read())
  }

  #during<T>(work: Promise<T>): Promise<T> {
    const over = (): void => {
      this.#work = null
    }
    this.#work = work
    // A handler may await it after the loop, which throws first when the client leaves: no rejection may end the process.
    work.then(over, over)
    return work
  }

  #share(bytes: Buffer | null): Buffer | null {
    this.#isShared = true
    return bytes
  }

  /** Takes back what was borrowed, except what the parser still reads. */
  recycle(): void {
    for (const bytes of this.#used) this.#source.release(bytes)
    this.#used.length = 0
  }

  /** Gives the next bytes, or null, to who calls `recycle` when it has used them up. */
  borrow(number: number): Buffer | null | Promise<Buffer | null> {
    if (number !== this.#part) {
      throw usedError('this part of the form is over: read it before the next one is asked for')
    }
    if (this.#failure !== null) return Promise.reject(this.#failure)
    if (!this.#isOpen) return null
    const token = this.#token()
    return isThenable(token) ? token.then((later) => this.#dataOf(later)) : this.#dataOf(token)
  }

  #dataOf(token: Token): Buffer | null {
    if (token === Token.data) return this.#parser.data
    this.#isOpen = false
    return null
  }

  /** Keeps the path of a file that belongs to the form until the form is complete. */
  wrote(path: string): void {
    this.#files.push(path)
  }

  #token(): Token | Promise<Token> {
    try {
      for (;;) {
        const token = this.#parser.read()
        if (token !== Token.more) return token === Token.end ? this.#finish() : token
        const bytes = this.#source.next()
        if (bytes === null) throw malformed('it ends before its last boundary')
        if (isThenable(bytes)) return this.#later(bytes)
        this.#feed(bytes)
      }
    } catch (error) {
      return this.fail(error as Error)
    }
  }

  #feed(bytes: Buffer): void {
    if (this.#bytes !== null && !this.#isShared) this.#used.push(this.#bytes)
    this.#bytes = bytes
    this.#isShared = false
    this.#parser.feed(bytes)
  }

  async #later(pending: Promise<Buffer | null>): Promise<Token> {
    let bytes: Buffer | null
    try {
      bytes = await pending
      if (bytes === null) throw malformed('it ends before its last boundary')
    } catch (error) {
      return this.fail(error as Error)
    }
    this.#feed(bytes)
    return this.#token()
  }

  /** Reads what stands behind the last boundary, so that a body that breaks off there is noticed. */
  async #finish(): Promise<Token> {
    try {
      while ((await this.#source.next()) !== null);
    } catch (error) {
      return this.fail(error as Error)
    }
    return Token.end
  }

  /** Fails the form: what is left of it is not read, and the files that were written are removed. */
  async fail(error: Error): Promise<never> {
    this.#failure ??= error
    const files = this.#files.splice(0)
    // A handler may have moved or removed them.
    await Promise.all(files.map((path) => unlink(path).catch(() => {})))
    throw this.#failure
  }
}
