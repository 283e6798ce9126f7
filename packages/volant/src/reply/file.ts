/** Replies with a file, for `ctx.file`. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, realpath } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkConditions, rangeOf, type Validators } from './conditional.ts'
import type { FileOptions } from '../types/reply-options.ts'
import { attachment } from './disposition.ts'
import { errorTable, HTTPError, refusal, VolantError } from '../errors/errors.ts'
import { checkHeaderName } from './header.ts'
import { parseHttpDate } from './http-date.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { dropReply } from './late-reply.ts'
import { sendBytes } from './reply.ts'
import { sendStream } from './stream-reply.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

/** The bytes that are read at once. A file of at most this size is sent as one piece. */
const chunkSize = 65_536

export async function sendFile(
  ctx: RequestContext,
  path: string | URL,
  options: FileOptions = {},
): Promise<void> {
  check(path, options)
  const name = typeof path === 'string' ? path : fileURLToPath(path)
  const type = ctx.hasType ? null : (options.type ?? (await typeOf(name)))
  const { handle, stats } = await openFile(name, options)
  let sending = false
  try {
    // Another reply was sent while the file was opened.
    if (ctx.phase > ReplyPhase.reopened) return dropReply(ctx, 'file')
    sending = await sendOpen(ctx, handle, stats, type, dispositionOf(name, options))
  } finally {
    if (!sending) await handle.close()
  }
}

/** Gives true if the stream closes the handle from now on. */
async function sendOpen(
  ctx: RequestContext,
  handle: FileHandle,
  stats: Stats,
  type: string | null,
  disposition: string | null,
): Promise<boolean> {
  const { exchange, method } = ctx
  const { size } = stats
  const validators = validatorsOf(ctx, stats)
  let status = ctx.statusCode === 0 ? 200 : ctx.statusCode
  let first = 0
  let last = size - 1
  if (status === 200 && (method === 'GET' || method === 'HEAD')) {
    const verdict = checkConditions(exchange, validators)
    if (verdict === 'failed') throw refusal('E_PRECONDITION')
    if (verdict === 'unchanged') {
      ctx.reply(304)
      return false
    }
    ctx.header('accept-ranges', 'bytes')
    // Range is defined for GET alone (RFC 9110 §14.2).
    const range = method === 'GET' ? rangeOf(exchange, size, validators) : null
    if (range === 'unsatisfiable') throw unsatisfiable(size)
    if (range !== null) {
      ;({ first, last } = range)
      status = 206
      ctx.header('content-range', `bytes ${first}-${last}/${size}`)
    }
  }
  if (type !== null) ctx.header('content-type', type)
  if (disposition !== null) ctx.header('content-disposition', disposition)
  const length = last - first + 1
  if (length <= chunkSize && method !== 'HEAD') {
    const bytes = Buffer.allocUnsafe(length)
    await readInto(handle, bytes, first)
    sendBytes(ctx, bytes, status)
    return false
  }
  const chunks = new FileChunks(handle, first, length, ctx.route.sendHooks === null)
  sendStream(ctx, chunks, { status, length, type: null })
  return true
}

/** Keeps what the handler has set. The tag is weak: two versions of one size within a millisecond share it. */
function validatorsOf(ctx: RequestContext, { size, mtimeMs }: Stats): Validators {
  const given = headerOf(ctx, 'last-modified')
  // Last-Modified must not be later than now (RFC 9110 §8.8.2.1).
  const changed = Math.floor(Math.min(mtimeMs, Date.now()) / 1_000) * 1_000
  const modified = (given === undefined ? null : parseHttpDate(given)) ?? changed
  const etag = headerOf(ctx, 'etag') ?? `W/"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`
  ctx.header('etag', etag)
  if (given === undefined) ctx.header('last-modified', new Date(changed).toUTCString())
  return { etag, modified }
}

function headerOf(ctx: RequestContext, name: string): string | undefined {
  const list = ctx.replyHeaders ?? []
  const at = list.findIndex((text, index) => index % 2 === 0 && text !== '' && checkHeaderName(text) === name)
  return at === -1 ? undefined : list[at + 1]
}

function unsatisfiable(size: number): HTTPError {
  const { status, meaning } = errorTable.E_RANGE
  return new HTTPError(status, meaning, { code: 'E_RANGE', headers: { 'content-range': `bytes */${size}` } })
}

async function openFile(
  name: string,
  { root, dotfiles = false }: FileOptions,
): Promise<{ handle: FileHandle; stats: Stats }> {
  if (name.includes('\0')) throw notFound()
  // Without this flag opening a pipe would wait for a writer.
  let flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
  let handle: FileHandle
  // This stands outside of the block below, because a root that does not exist is not the client's mistake.
  const folder = root === undefined ? null : await folderOf(root)
  try {
    const target = folder === null ? name : await confine(folder, name, dotfiles)
    if (folder !== null) flags |= constants.O_NOFOLLOW ?? 0
    handle = await open(target, flags)
  } catch (error) {
    throw absent.has((error as NodeJS.ErrnoException).code) ? notFound() : error
  }
  try {
    const stats = await handle.stat()
    if (!stats.isFile()) throw notFound()
    return { handle, stats }
  } catch (error) {
    await handle.close()
    throw error
  }
}

async function folderOf(root: string): Promise<string> {
  try {
    return await realpath(root)
  } catch (error) {
    const { message } = bad('file: root', root, 'a folder that exists')
    throw new VolantError('E_BAD_OPTION', message, { cause: error })
  }
}

const absent = new Set<string | undefined>(['EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENXIO'])

function notFound(): HTTPError {
  return refusal('E_NOT_FOUND', 'There is no such file')
}

/** Gives the real path of `name` in `folder`. Both kinds of slashes separate segments on every system. */
async function confine(folder: string, name: string, dotfiles: boolean): Promise<string> {
  const segments = name.split(/[\\/]/)
  if (segments.includes('..') || (!dotfiles && segments.some(isHidden))) throw notFound()
  // A colon names a drive, or a stream beside a file.
  if (sep === '\\' && name.includes(':')) throw notFound()
  const real = await realpath(join(folder, name))
  const inside = folder.endsWith(sep) ? folder : folder + sep
  if (!real.startsWith(inside)) throw notFound()
  // A link without a dot may lead to a name that has one.
  if (!dotfiles && real.slice(inside.length).split(sep).some(isHidden)) throw notFound()
  return real
}

function isHidden(segment: string): boolean {
  return segment.startsWith('.')
}

/** The table is loaded with the first file, since most apps do not need a thousand extensions at start. */
async function typeOf(name: string): Promise<string> {
  const { default: mime } = await import('mime')
  // The slash is needed, since without one `mime` takes a file called `html` for the extension.
  const type = mime.getType(`/${basename(name)}`) ?? 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

function dispositionOf(name: string, { download }: FileOptions): string | null {
  return download === undefined ? null : attachment(download === true ? name : download)
}

async function readInto(handle: FileHandle, bytes: Buffer, first: number): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, at, bytes.length - at, first + at)
    if (bytesRead === 0) throw new VolantError('E_RESET', shrunk)
    at += bytesRead
  }
}

const shrunk = 'the file became shorter while it was sent'

/** Reads a part of a file in chunks; closes the file at its end, and when the stream is cancelled. */
class FileChunks implements AsyncIterator<Uint8Array, undefined> {
  readonly #handle: FileHandle
  /** The chunks share this buffer: a chunk is copied or sent before the next is read, unless a hook keeps it. */
  #buffer: Buffer | null = null
  readonly #shares: boolean
  #at: number
  #left: number

  constructor(handle: FileHandle, first: number, length: number, shares: boolean) {
    this.#shares = shares
    this.#handle = handle
    this.#at = first
    this.#left = length
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    if (this.#left === 0) return this.return()
    const buffer = this.#buffer ?? Buffer.allocUnsafeSlow(chunkSize)
    if (this.#shares) this.#buffer = buffer
    const { bytesRead } = await this.#handle.read(buffer, 0, Math.min(chunkSize, this.#left), this.#at)
    if (bytesRead === 0) throw new VolantError('E_RESET', shrunk)
    this.#at += bytesRead
    this.#left -= bytesRead
    return { done: false, value: buffer.subarray(0, bytesRead) }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#left = 0
    // This waits for a read that is under way.
    await this.#handle.close()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

const optionNames = ['root', 'dotfiles', 'download', 'type'] as const

function check(path: unknown, options: unknown): void {
  if (typeof options !== 'object' || options === null) throw bad('file', options, 'an object of options')
  checkOptionNames('ctx.file', options, optionNames, foreignNames.file)
  const { root, dotfiles, download, type } = options as FileOptions
  // Under a root an empty path, which a client may give, is the root itself and not a file.
  const fits = path instanceof URL ? path.protocol === 'file:' : typeof path === 'string'
  if (!fits || (path === '' && root === undefined)) throw bad('file: path', path, 'a path or a file: URL')
  if (root !== undefined && (typeof root !== 'string' || root === ''))
    throw bad('file: root', root, 'a folder')
  if (root !== undefined && path instanceof URL) throw bad('file: root', root, 'a path beside it, not a URL')
  checkFlag('file: dotfiles', dotfiles, false)
  if (download !== undefined && download !== true && typeof download !== 'string') {
    throw bad('file: download', download, 'a name, or true')
  }
  if (type !== undefined && typeof type !== 'string') throw bad('file: type', type, 'a content type')
}
