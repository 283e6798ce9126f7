/** `decompress()` reads request bodies in content codings (RFC 9110 §8.4, RFC 7694), within bounds. */
import type { Transform } from 'node:stream'
import { BodyKind } from '@volant/engine'
import {
  type RequestCoding,
  decodeLater,
  decodeNow,
  decoderStream,
  isTooLong,
  mostNow,
  readable,
} from './decoders.ts'
import { queued } from './jobs.ts'
import { gateOf, hintMisuse } from '../dispatch/declare.ts'
import { errorTable, HTTPError, refusal } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { decodeWhole, refusedEncoding } from '../request/body.ts'
import type { FittingMiddleware } from '../types/parts.ts'
import type { BodyDecoder, Gate, RequestContext } from '../types/request.ts'

/** The options of `decompress`. */
export interface DecompressOptions {
  /**
   * The codings that are read. `br` needs Node.js 22.23.4, 24.22.1, 26.12.1 or a later one, in which CVE-2026-111497 is
   * mended. Default: gzip and deflate, br on those versions, and zstd where Node.js has it.
   */
  encodings?: readonly ('gzip' | 'deflate' | 'br' | 'zstd')[] | undefined
  /** How many times as long as it arrived a body may become; up to 64 KiB any body may. Default 100. */
  maxRatio?: number | undefined
}

/**
 * Reads request bodies that have a Content-Encoding:
 *
 *     app.use(decompress())
 *
 * `ctx.body`, `ctx.bodyText`, `ctx.bodyBytes`, `ctx.bodyStream`, `ctx.form()` and `ctx.request` then give the content.
 * Without it they are 415. `maxBodySize` counts what arrives, and what that becomes; a body that becomes more than
 * `maxRatio` times as long is 413, one that is corrupt 400, and one in another coding, or in several, 415 with the
 * codings in Accept-Encoding. Throws `E_BAD_OPTION`.
 */
export function decompress(options: DecompressOptions = {}): FittingMiddleware {
  const { encodings, maxRatio } = checked(options)
  const accepted = encodings.join(', ')
  const gate: Gate = (ctx) => {
    const value = ctx.exchange.header('content-encoding')
    if (value === undefined) return undefined
    const name = value.trim().toLowerCase()
    const { exchange, route } = ctx
    if (name === 'identity' || exchange.bodyKind === BodyKind.none || route.pattern === null) return undefined
    if (ctx.rare?.decoder) return undefined
    const coding = encodings.find((each) => each === (name === 'x-gzip' ? 'gzip' : name))
    if (coding === undefined) {
      const what = name.includes(',')
        ? 'more than one Content-Encoding'
        : 'a Content-Encoding that is not read'
      throw refusedEncoding(`the body has ${what}: send it in one of ${accepted}, or as it is`, accepted)
    }
    ctx.more.decoder = new Decoder(ctx, coding, maxRatio)
    return route.bodyMode === 'buffer' || ctx.rare?.collected ? decodeWhole(ctx) : undefined
  }
  return gateOf(gate, { isEarly: true })
}

hintMisuse(decompress, 'app.use(decompress())')

/** Decodes the body of one request. */
class Decoder implements BodyDecoder {
  readonly #ctx: RequestContext
  readonly #coding: RequestCoding
  readonly #maxRatio: number

  constructor(ctx: RequestContext, coding: RequestCoding, maxRatio: number) {
    this.#ctx = ctx
    this.#coding = coding
    this.#maxRatio = maxRatio
  }

  whole(bytes: Buffer): Buffer | Promise<Buffer> {
    const most = this.#most(bytes.length)
    if (bytes.length > mostNow / 4) return this.#later(bytes, most)
    try {
      return decodeNow(this.#coding, bytes, Math.min(most, mostNow))
    } catch (error) {
      if (isTooLong(error) && most > mostNow) return this.#later(bytes, most)
      throw this.#refused(error, bytes.length)
    }
  }

  async #later(bytes: Buffer, most: number): Promise<Buffer> {
    const coding = this.#coding
    try {
      const decoded = await queued(
        bytes.length,
        () => !this.#ctx.exchange.aborted,
        () => decodeLater(coding, bytes, most),
      )
      if (decoded !== null) return decoded
    } catch (error) {
      throw this.#refused(error, bytes.length)
    }
    throw refusal('E_OVERLOADED')
  }

  /** Nothing is decoded ahead of the reader beyond the buffers of two streams, 80 KiB. */
  stream(source: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = source.getReader()
    const decoder = decoderStream(this.#coding)
    let taken = 0
    let given = 0
    let over = false
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          const fail = (error: unknown): void => {
            if (over) return
            over = true
            decoder.destroy()
            reader.cancel().catch(() => {})
            controller.error(error)
          }
          decoder.on('data', (bytes: Buffer) => {
            given += bytes.length
            if (given > this.#most(taken)) return fail(this.#tooLong(taken))
            if (over) return
            controller.enqueue(bytes)
            if ((controller.desiredSize ?? 0) <= 0) decoder.pause()
          })
          decoder.on('error', (error) => fail(this.#refused(error, taken)))
          decoder.on('end', () => {
            if ((decoder as Transform & { bytesWritten: number }).bytesWritten < taken) {
              return fail(this.#refused(new Error('there are bytes behind its end'), taken))
            }
            if (!over) controller.close()
            over = true
          })
          const feed = async (): Promise<void> => {
            for (;;) {
              const { done, value } = await reader.read()
              if (over) return
              if (done) return void decoder.end()
              taken += value.length
              // oxlint-disable-next-line no-loop-func -- the decoder is one
              await new Promise<void>((resolve) => decoder.write(value, () => resolve()))
            }
          }
          feed().catch(fail)
        },
        pull: () => void decoder.resume(),
        cancel: (reason) => {
          over = true
          decoder.destroy()
          return reader.cancel(reason)
        },
      },
      new ByteLengthQueuingStrategy({ highWaterMark: mostNow }),
    )
  }

  #most(length: number): number {
    return Math.min(this.#ctx.route.maxBodySize, Math.max(mostNow, length * this.#maxRatio))
  }

  #refused(error: unknown, length: number): HTTPError {
    if (isTooLong(error)) return this.#tooLong(length)
    return new HTTPError(errorTable.E_BODY_MALFORMED.status, `the body is not valid ${this.#coding}`, {
      code: 'E_BODY_MALFORMED',
      cause: error,
    })
  }

  #tooLong(length: number): HTTPError {
    if (this.#most(length) === this.#ctx.route.maxBodySize) return refusal('E_BODY_TOO_LARGE')
    return refusal(
      'E_BODY_TOO_LARGE',
      `the body becomes more than ${this.#maxRatio} times as long as it arrived`,
    )
  }
}

function checked(options: DecompressOptions): { encodings: readonly RequestCoding[]; maxRatio: number } {
  checkNames('decompress', options, ['encodings', 'maxRatio'], foreignNames.decompress)
  const { encodings = readable, maxRatio = 100 } = options
  const range = [1, 1_000_000] as const
  return {
    encodings: encodingsOf(encodings),
    maxRatio: checkInteger('decompress: maxRatio', maxRatio, range, 'an integer from 1 to 1,000,000'),
  }
}

const all: readonly unknown[] = ['gzip', 'deflate', 'br', 'zstd']

function encodingsOf(value: unknown): RequestCoding[] {
  const wanted = `an array of ${all.map((each) => `'${String(each)}'`).join(', ')}, each once`
  const list = checkEach('decompress: encodings', value, wanted, (name, each) => {
    if (!all.includes(each)) throw bad(name, each, wanted)
    if (readable.includes(each as RequestCoding)) return each as RequestCoding
    const { node } = process.versions
    throw bad(
      name,
      each,
      each === 'br'
        ? `br from Node.js 22.23.4, 24.22.1 or 26.12.1 on (CVE-2026-111497), and this is ${node}`
        : `zstd from Node.js 22.15 or 23.8 on, and this is ${node}`,
    )
  })
  if (list.length === 0 || new Set(list).size < list.length) throw bad('decompress: encodings', value, wanted)
  return list
}
