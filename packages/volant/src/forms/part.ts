/** A part of a form as handlers see it. */
import { refusal } from '../errors/errors.ts'
import { utf8Charsets } from '../request/body.ts'
import { parseMediaType } from '../request/media-type.ts'
import type { FormPart, SavedFile } from '../types/form.ts'
import { isThenable } from '../types/thenable.ts'
import type { PartHead } from './part-head.ts'
import type { PartReader } from './part-reader.ts'
import { saveFile } from './save-file.ts'

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

export class ArrivingPart implements FormPart {
  readonly #reader: PartReader
  readonly #head: PartHead
  readonly #number: number
  #stream: ReadableStream<Uint8Array> | null = null

  constructor(reader: PartReader, head: PartHead, number: number) {
    this.#reader = reader
    this.#head = head
    this.#number = number
  }

  get name(): string {
    return this.#head.name
  }

  get filename(): string | undefined {
    return this.#head.filename
  }

  get type(): string {
    return this.#head.type
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#head.headers
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const next = this.#reader.chunk(this.#number)
      const chunk = isThenable(next) ? await next : next
      if (chunk === null) return
      yield chunk as Buffer
    }
  }

  get stream(): ReadableStream<Uint8Array> {
    return (this.#stream ??= new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const chunk = await this.#reader.chunk(this.#number)
          if (chunk === null) controller.close()
          else controller.enqueue(chunk)
        },
      },
      { highWaterMark: 0 },
    ))
  }

  bytes(): Promise<Buffer> {
    return this.#reader.whole(this.#number, () => this.#collect())
  }

  async #collect(): Promise<Buffer> {
    const chunks: Buffer[] = []
    for (;;) {
      const next = this.#reader.borrow(this.#number)
      const chunk = isThenable(next) ? await next : next
      if (chunk === null) return Buffer.concat(chunks)
      chunks.push(chunk)
    }
  }

  text(): Promise<string> {
    return this.#reader.whole(this.#number, async () => textOf(await this.#collect(), this.#head))
  }

  toFile(folder: string | URL): Promise<SavedFile> {
    return this.#reader.whole(this.#number, () => saveFile(this.#reader, this.#number, folder))
  }
}

/** Decodes a field. Throws 415 for one in another charset than UTF-8, 400 for what is not UTF-8. */
export function textOf(bytes: Buffer, { name, type }: PartHead): string {
  const charset = parseMediaType(type)?.charset
  if (charset !== undefined && !utf8Charsets.has(charset)) {
    throw refusal('E_BODY_TYPE', `fields in ${charset} are not read, only UTF-8`)
  }
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw refusal('E_BODY_ENCODING', `the field ${JSON.stringify(name.slice(0, 50))} is not valid UTF-8`)
  }
}
