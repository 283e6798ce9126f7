/** Sends a file, or the parts of it that a request asks for (RFC 9110 §13, §14): for `ctx.file` and static folders. */
import { randomBytes } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { type ByteRange, checkConditions, rangesOf, type Validators } from './conditional.ts'
import { errorTable, HTTPError, refusal } from '../errors/errors.ts'
import { chunkSize, FileChunks, readInto } from './file-chunks.ts'
import { sendBytes } from './reply.ts'
import { sendStream } from './stream-reply.ts'
import type { RequestContext } from '../types/request.ts'

/** A file that is about to be sent. The headers of the reply have its validators already. */
export interface FileReply {
  /** The open file, or its content. */
  readonly content: FileHandle | Buffer
  readonly size: number
  /** The content type; null for none. */
  readonly type: string | null
  /** Sets the headers that describe the content, which a 304 does not have. */
  readonly describe: (ctx: RequestContext) => void
  readonly validators: Validators
  /** False where it is sent as a whole in any case. */
  readonly ranges: boolean
}

/**
 * Gives true if the stream closes the handle from now on. Throws `E_PRECONDITION` and `E_RANGE` as the reply to the
 * request.
 */
export async function sendFileReply(ctx: RequestContext, file: FileReply): Promise<boolean> {
  const { method } = ctx
  const { size, type, validators } = file
  const status = ctx.statusCode === 0 ? 200 : ctx.statusCode
  let ranges: readonly ByteRange[] | null = null
  if (status === 200 && (method === 'GET' || method === 'HEAD')) {
    const verdict = checkConditions(ctx.exchange, validators)
    if (verdict === 'failed') throw refusal('E_PRECONDITION')
    if (verdict === 'unchanged') {
      // A cache looks for a copy with this very tag (RFC 9111 §4.3.4), which compression has made weak.
      const weak = `W/${validators.etag}`
      if (ctx.exchange.header('if-none-match')?.includes(weak) === true) ctx.header('etag', weak)
      ctx.reply(304)
      return false
    }
    if (file.ranges) {
      ctx.header('accept-ranges', 'bytes')
      // Range is defined for GET alone (RFC 9110 §14.2).
      const asked = method === 'GET' ? rangesOf(ctx.exchange, size, validators) : null
      if (asked === 'unsatisfiable') throw unsatisfiable(size)
      ranges = asked
    }
  }
  file.describe(ctx)
  if (ranges === null) return sendPieces(ctx, file, [{ first: 0, last: size - 1 }], status)
  if (ranges.length > 1) return sendPieces(ctx, file, multipart(ctx, ranges, size, type), 206)
  const { first, last } = ranges[0] as ByteRange
  ctx.header('content-range', `bytes ${first}-${last}/${size}`)
  return sendPieces(ctx, file, ranges, 206)
}

async function sendPieces(
  ctx: RequestContext,
  { content }: FileReply,
  pieces: readonly (ByteRange | Buffer)[],
  status: number,
): Promise<boolean> {
  const length = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0)
  const wholeMost = Math.min(chunkSize, ctx.app.limits.maxBufferedReplies)
  if (content instanceof Uint8Array) {
    const parts = pieces.map((piece) =>
      piece instanceof Uint8Array ? piece : content.subarray(piece.first, piece.last + 1),
    )
    if (length > wholeMost) sendStream(ctx, parts, { status, length, type: null })
    else sendBytes(ctx, parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts), status)
    return false
  }
  const [only] = pieces
  if (pieces.length === 1 && !(only instanceof Uint8Array) && length <= wholeMost && ctx.method !== 'HEAD') {
    sendBytes(ctx, await readInto(content, Buffer.allocUnsafe(length), (only as ByteRange).first), status)
    return false
  }
  const chunks = new FileChunks(content, pieces, ctx.route.sendHooks === null)
  sendStream(ctx, chunks, { status, length, type: null })
  return true
}

function lengthOf(piece: ByteRange | Buffer): number {
  return piece instanceof Uint8Array ? piece.length : piece.last + 1 - piece.first
}

/** Gives the body of multipart/byteranges (RFC 9110 §14.6), and sets its type. */
function multipart(
  ctx: RequestContext,
  ranges: readonly ByteRange[],
  size: number,
  type: string | null,
): (ByteRange | Buffer)[] {
  // Nobody who made the content could know it, so it is in none of the parts.
  const boundary = randomBytes(18).toString('hex')
  const inner = type === null ? '' : `Content-Type: ${type}\r\n`
  ctx.header('content-type', `multipart/byteranges; boundary=${boundary}`)
  const pieces = ranges.flatMap((range, at): (ByteRange | Buffer)[] => [
    Buffer.from(
      `${at === 0 ? '' : '\r\n'}--${boundary}\r\n${inner}Content-Range: bytes ${range.first}-${range.last}/${size}\r\n\r\n`,
      'latin1',
    ),
    range,
  ])
  return [...pieces, Buffer.from(`\r\n--${boundary}--\r\n`, 'latin1')]
}

function unsatisfiable(size: number): HTTPError {
  const { status, meaning } = errorTable.E_RANGE
  return new HTTPError(status, meaning, { code: 'E_RANGE', headers: { 'content-range': `bytes */${size}` } })
}
