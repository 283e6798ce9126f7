/** Gives the request body: parsed by its content type when it is first read, or as text, bytes or a stream. */
import { BodyKind, type BodySink, type Exchange } from '@volant/engine'
import { errorTable, HTTPError, refusal, VolantError } from '../errors/errors.ts'
import { parseJson } from './json.ts'
import { type MediaType, parseMediaType } from './media-type.ts'
import { parseForm } from './query.ts'
import { keepTrailers } from './trailers.ts'
import type { Pairs } from '../types/parts.ts'
import type { BodyLedger, RequestContext, RouteLimits, WholeBody } from '../types/request.ts'

/** The bytes that a client may send ahead of the reader of `ctx.bodyStream`. */
export const streamWindow = 262_144

/** The charsets that decode as UTF-8 does. */
export const utf8Charsets = new Set(['utf-8', 'utf8', 'us-ascii'])

/** Gives the body of an exchange that was dispatched with a complete body. */
export function wholeBody(exchange: Exchange): WholeBody {
  return { length: exchange.bodyLength, text: () => exchange.bodyText(), bytes: () => exchange.bodyBytes() }
}

/** Gives a body collected from a stream. */
export function collectedBody(bytes: Buffer): WholeBody {
  return { length: bytes.length, text: () => bytes.toString('utf8'), bytes: () => Buffer.from(bytes) }
}

/** Decodes the complete body of a request, where it has a decoder. */
export function decodeWhole(ctx: RequestContext): Promise<void> | void {
  const decoder = ctx.rare?.decoder
  if (!decoder) return
  const bytes = decoder.whole(ctx.bodyBytes)
  const put = (body: Buffer): void => void (ctx.more.collected = collectedBody(body))
  return bytes instanceof Promise ? bytes.then(put) : put(bytes)
}

/**
 * Gives `ctx.body`: JSON (also `+json`) parsed, forms as an object without prototype, `text/*` as a string, bytes for
 * application/octet-stream and for no content type, undefined without a body. Throws 400 for a malformed body and 415
 * for any other type, for charsets other than UTF-8 and for content encodings.
 */
export function parseBody(
  exchange: Exchange,
  body: WholeBody,
  limits: RouteLimits,
  isDecoded: boolean,
): unknown {
  const type = exchange.header('content-type')
  if (body.length === 0) return undefined
  if (!isDecoded) checkEncoding(exchange.header('content-encoding'))
  if (type === undefined) return body.bytes()
  const media = parseMediaType(type)
  if (media === null) throw refusal('E_BODY_TYPE', 'Content-Type is malformed')
  return parseAs(media, body, limits)
}

/** Throws 415 for a Content-Encoding. */
export function checkEncoding(encoding: string | undefined): void {
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return
  throw refusedEncoding(
    'the body has a Content-Encoding, and encoded bodies are read only where the server uses decompress(): send it without one',
    'identity',
  )
}

/** Makes a 415 that tells the client which codings it may use (RFC 9110 §15.5.16, §12.5.3). */
export function refusedEncoding(detail: string, accepted: string): HTTPError {
  return new HTTPError(errorTable.E_BODY_TYPE.status, detail, {
    code: 'E_BODY_TYPE',
    headers: { 'accept-encoding': accepted },
  })
}

function parseAs(media: MediaType, body: WholeBody, limits: RouteLimits): unknown {
  const { essence } = media
  if (essence === 'application/json' || essence.endsWith('+json')) {
    return parseJson(textOf(media, body), limits.maxJsonDepth)
  }
  if (essence === 'application/x-www-form-urlencoded') return formOf(media, body, limits)
  if (essence.startsWith('text/')) return textOf(media, body)
  if (essence === 'application/octet-stream') return body.bytes()
  throw refusal('E_BODY_TYPE', `bodies of type ${essence} are not read by ctx.body; ${others(essence)}`)
}

/** Gives the pairs of a body of type application/x-www-form-urlencoded. */
export function formOf(media: MediaType, body: WholeBody, limits: RouteLimits): Pairs {
  return parseForm(textOf(media, body), limits.maxFormKeys)
}

function others(essence: string): string {
  if (essence === 'multipart/form-data')
    return "await ctx.form() reads it, ctx.parts() reads it as it arrives, and consumes: 'multipart/form-data' has a body schema check it"
  return 'ctx.bodyBytes has a body of any type'
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function textOf(media: MediaType, body: WholeBody): string {
  if (media.charset !== undefined && !utf8Charsets.has(media.charset)) {
    throw refusal('E_BODY_TYPE', `bodies in ${media.charset} are not read, only UTF-8`)
  }
  const text = body.text()
  // U+FFFD stands for itself or for bytes that are not UTF-8; only then is it worth decoding again.
  if (text.includes('\ufffd')) {
    try {
      strictUtf8.decode(body.bytes())
    } catch {
      throw refusal('E_BODY_ENCODING')
    }
  }
  return text
}

/** Gives `ctx.bodyStream`: the client may send at most 256 KiB ahead of the reader. */
export function streamBody(ctx: RequestContext): ReadableStream<Uint8Array> {
  const { exchange } = ctx
  if (exchange.bodyKind === BodyKind.none) return streamOf(null)
  if (exchange.bodyKind === BodyKind.complete) return streamOf(exchange.bodyBytes())
  let done = false
  let granted = streamWindow
  // The queue is counted in bytes, so that `pull` is called as the reader takes them.
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const sink: BodySink = {
          chunk(bytes) {
            granted -= bytes.length
            if (!done) controller.enqueue(bytes)
          },
          end(trailers) {
            keepTrailers(ctx, trailers)
            if (!done) controller.close()
            done = true
          },
          fail(error) {
            if (!done) controller.error(bodyError(error))
            done = true
          },
        }
        exchange.readBody(sink, streamWindow)
      },
      pull(controller) {
        const room = Math.max(0, controller.desiredSize ?? 0) - granted
        // Small grants would cost a message each.
        if (done || room < streamWindow / 4) return
        granted += room
        exchange.credit(room)
      },
      cancel() {
        done = true
      },
    },
    new ByteLengthQueuingStrategy({ highWaterMark: streamWindow }),
  )
}

/** Makes a stream of one chunk, or of none. */
export function streamOf(bytes: Uint8Array | null): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>({
    start(controller) {
      if (bytes !== null && bytes.length > 0) controller.enqueue(bytes)
      controller.close()
    },
  })
}

/** Reads a streamed body to its end, for routes with a `beforeBody` check. Rejects with 413 past `limit` bytes. */
export function collectBody(exchange: Exchange, limit: number, ledger: BodyLedger): Promise<WholeBody> {
  if (exchange.bodyKind !== BodyKind.stream) return Promise.resolve(collectedBody(exchange.bodyBytes()))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    let settled = false
    const refuse = (error: Error) => {
      if (!settled) ledger.held -= length
      settled = true
      chunks.length = 0
      reject(error)
    }
    const sink: BodySink = {
      chunk(bytes) {
        if (settled) return
        if (length + bytes.length > limit) return refuse(refusal('E_BODY_TOO_LARGE'))
        if (ledger.held + bytes.length > ledger.limit) return refuse(refusal('E_OVERLOADED'))
        ledger.held += bytes.length
        length += bytes.length
        chunks.push(bytes)
        exchange.credit(bytes.length)
      },
      end() {
        if (settled) return
        settled = true
        ledger.held -= length
        resolve(collectedBody(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, length)))
      },
      fail: (error) => refuse(bodyError(error)),
    }
    exchange.readBody(sink, streamWindow)
  })
}

/** Gives the error of a body that did not arrive whole. */
export function bodyError(error: Error & { status?: number; code?: string }): Error {
  if (error.status === 408) return refusal('E_REQUEST_TIMEOUT')
  if (error.status === 413) return refusal('E_BODY_TOO_LARGE')
  if (error.status === 503) return refusal('E_OVERLOADED')
  if (error.status !== undefined && error.status >= 400 && error.status < 500) {
    return new HTTPError(error.status, error.message, { code: error.code ?? 'E_BAD_REQUEST', cause: error })
  }
  return new VolantError('E_ABORTED', undefined, { cause: error })
}
