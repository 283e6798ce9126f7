/** An app that compresses, and what its replies are read with. */
import * as zlib from 'node:zlib'
import type { Reply } from '../kit.ts'

export const plain = (reply: Reply): string => {
  switch (reply.headers['content-encoding']) {
    case 'gzip':
      return zlib.gunzipSync(reply.body).toString()
    case 'br':
      return zlib.brotliDecompressSync(reply.body).toString()
    case 'zstd':
      return zlib.zstdDecompressSync(reply.body).toString()
    default:
      return reply.text
  }
}
