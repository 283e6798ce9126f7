/** Undoes the codings of node:zlib, within bounds. */
import type { Transform } from 'node:stream'
import * as zlib from 'node:zlib'

/** A content coding of requests. */
export type RequestCoding = 'gzip' | 'deflate' | 'br' | 'zstd'

/** The most bytes of output that are made at once, on the thread of JavaScript; it takes a fraction of a millisecond. */
export const mostNow = 65_536

/**
 * The first safe patch of each version of Node.js: before it, a body in brotli could end the process
 * (CVE-2026-111497). Versions after the last row are safe.
 */
const safeBrotli: readonly (readonly [major: number, minor: number, patch: number])[] = [
  [22, 23, 4],
  [24, 22, 1],
  [26, 12, 1],
]

/** True for a version of Node.js whose brotli may read what strangers send. */
export function hasSafeBrotli(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = version.split('.').map((part) => Number.parseInt(part, 10))
  const first = safeBrotli.find(([each]) => each === major)
  if (first === undefined) return major > (safeBrotli.at(-1) as readonly number[])[0]!
  return minor > first[1] || (minor === first[1] && patch >= first[2])
}

/** The codings that this version of Node.js reads. */
export const readable: readonly RequestCoding[] = [
  'gzip',
  'deflate',
  ...(hasSafeBrotli(process.versions.node) ? (['br'] as const) : []),
  ...(typeof zlib.zstdDecompress === 'function' ? (['zstd'] as const) : []),
]

/** The result of node:zlib with `info: true`; without output it is the bytes alone. */
type Informed = Buffer | { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }

/** A frame of zstd may ask for a window of 128 MB, and nobody has to grant more than 8 (RFC 9659 §3). */
function options(coding: RequestCoding): zlib.ZlibOptions & zlib.ZstdOptions {
  return coding === 'zstd' ? { params: { [zlib.constants.ZSTD_d_windowLogMax]: 23 } } : {}
}

const now = {
  gzip: zlib.gunzipSync,
  deflate: zlib.inflateSync,
  br: zlib.brotliDecompressSync,
  zstd: zlib.zstdDecompressSync,
} as const

const later = {
  gzip: zlib.gunzip,
  deflate: zlib.inflate,
  br: zlib.brotliDecompress,
  zstd: zlib.zstdDecompress,
} as const

const streams = {
  gzip: zlib.createGunzip,
  deflate: zlib.createInflate,
  br: zlib.createBrotliDecompress,
  zstd: zlib.createZstdDecompress,
} as const

/** Decodes on this thread; throws for more than `most` bytes. */
export function decodeNow(coding: RequestCoding, bytes: Buffer, most: number): Buffer {
  const decode = now[coding] as (bytes: Buffer, options: object) => Informed
  return complete(decode(bytes, { ...options(coding), info: true, maxOutputLength: most }), bytes)
}

/** Decodes on a thread of the pool; rejects for more than `most` bytes. */
export function decodeLater(coding: RequestCoding, bytes: Buffer, most: number): Promise<Buffer> {
  type Decode = (
    bytes: Buffer,
    options: object,
    done: (error: Error | null, result: Informed) => void,
  ) => void
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, result: Informed): void => {
      if (error !== null) return reject(error)
      try {
        resolve(complete(result, bytes))
      } catch (trailing) {
        reject(trailing)
      }
    }
    ;(later[coding] as Decode)(bytes, { ...options(coding), info: true, maxOutputLength: most }, done)
  })
}

export function decoderStream(coding: RequestCoding): Transform {
  return (streams[coding] as (options: object) => Transform)(options(coding))
}

/** True for the error of an output that is too long. */
export function isTooLong(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE'
}

/** Refuses bytes behind the end of the content, which brotli, deflate and zstd would overlook. */
function complete(result: Informed, { length }: Buffer): Buffer {
  if (Buffer.isBuffer(result)) return result
  if (result.engine.bytesWritten < length) throw new Error('there are bytes behind its end')
  return result.buffer
}
