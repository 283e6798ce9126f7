/** Reads the parts of a form one after the other, as fast as they are asked for. */
import { unlink } from 'node:fs/promises'
import { VolantError } from '../errors/errors.ts'
import { isThenable } from '../types/thenable.ts'
import type { BodySource } from './body-source.ts'
import { type MultipartParser, Token } from './multipart.ts'
import { malformed, type PartHead } from './part-head.ts'

export class PartReader {
  readonly #source: BodySource
  readonly #parser: MultipartParser
  /** Counts the parts that began: who reads one that is over is told so. */
  #part = 0
  #isOpen = false
  #failure: Error | null = null
  /** The work that reads the current part as a whole; the next part waits for it. */
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
    await this.#work?.catch(() => {})
    if (this.#failure !== null) throw this.#failure
    for (;;) {
      const token = this.#token()
      switch (isThenable(token) ? await token : token) {
        case Token.part:
          this.recycle()
          this.#isOpen = true
          this.#part += 1
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
    const next = this.borrow(number)
    if (isThenable(next)) return next.then((bytes) => this.#share(bytes))
    return this.#share(next)
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
      throw new VolantError(
        'E_BODY_USED',
        'this part of the form is over: read it before the next one is asked for',
      )
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

  /** Has the next part wait for `work`. */
  during<T>(work: Promise<T>): Promise<T> {
    this.#work = work
    return work
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
