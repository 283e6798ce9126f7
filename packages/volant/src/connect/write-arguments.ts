/** Reads the arguments of `res.write` and `res.end` as node:http does. */
import { coded } from './unsupported.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Chunk } from '../types/reply-options.ts'

export type WriteCallback = (error?: Error | null) => void

export function writeArguments(
  encoding: string | WriteCallback | null | undefined,
  done: WriteCallback | undefined,
): { encoding: BufferEncoding | undefined; done: WriteCallback | undefined } {
  if (typeof encoding === 'function') return { encoding: undefined, done: encoding }
  return {
    encoding: (encoding ?? undefined) as BufferEncoding | undefined,
    done: typeof done === 'function' ? done : undefined,
  }
}

/** Gives a chunk as text in UTF-8 or as bytes. Throws what node:http throws for anything else. */
export function chunkOf(chunk: unknown, encoding: BufferEncoding | undefined): Chunk {
  if (typeof chunk === 'string') {
    if (encoding === undefined || encoding === 'utf8' || encoding === 'utf-8') return chunk
    return Buffer.from(chunk, encoding)
  }
  if (chunk instanceof Uint8Array) return chunk
  if (chunk === null) {
    throw coded(new TypeError('May not write null values to stream'), 'ERR_STREAM_NULL_VALUES')
  }
  throw coded(
    new TypeError(`The "chunk" argument must be a string or bytes, not ${briefValue(chunk)}`),
    'ERR_INVALID_ARG_TYPE',
  )
}
