/** An `onSend` hook sees each reply before it leaves. This one compresses text for clients that accept gzip. */
import { pipeline } from 'node:stream'
import { promisify } from 'node:util'
import { constants, createGzip, gzip } from 'node:zlib'
import type { SendHook } from 'volant'

const text = /^(?:text\/|image\/svg|application\/(?:[\w.-]+\+)?(?:json|xml|javascript))/
const least = 1_024 // less is hardly worth the work
const untouched = new Set([204, 205, 206, 304]) // no content, or a part of it

export const compress: SendHook = async (ctx, reply) => {
  const { body, headers, status } = reply
  if (status !== 304 && !text.test(headers.get('content-type') ?? '')) return
  headers.append('vary', 'accept-encoding') // caches have to know, also where this client gets it as it is
  if (body === null || untouched.has(status) || ctx.method === 'HEAD') return
  if (headers.has('content-encoding')) return
  if (reply.length !== undefined && reply.length < least) return
  if (ctx.acceptsEncodings('identity', 'gzip') !== 'gzip') return
  headers.set('content-encoding', 'gzip')
  const tag = headers.get('etag')
  if (tag?.startsWith('"')) headers.set('etag', `W/${tag}`) // a strong one would promise the very bytes
  if (typeof body === 'string' || body instanceof Uint8Array) reply.body = await promisify(gzip)(body)
  else reply.body = pipeline(body, createGzip({ flush: constants.Z_SYNC_FLUSH }), () => {})
}
