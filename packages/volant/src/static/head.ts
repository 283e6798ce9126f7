/** The headers of a file in a static folder. They are made when it is read, and packed for all replies that have them. */
import type { Stats } from 'node:fs'
import { packHeaders, releaseHeaders } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { fileType, lastModified, weakTag } from '../reply/file-type.ts'
import { isBound } from '../compression/compress.ts'
import type { Coding } from '../compression/codings.ts'
import { checkHeader, mergeVary } from '../reply/header.ts'
import { parseHttpDate } from '../reply/http-date.ts'
import type { Validators } from '../reply/conditional.ts'
import { isThenable } from '../types/thenable.ts'
import type { RequestContext } from '../types/request.ts'
import type { CopyCoding } from './codings.ts'
import type { FolderSettings } from './options.ts'

export interface HeadOptions {
  readonly settings: FolderSettings
  /** The path of the file in the folder. A precompressed copy has the type of the original. */
  readonly path: string
  readonly coding: CopyCoding
  /** True where clients with another Accept-Encoding get another copy. */
  readonly varies: boolean
  /** The value of Cache-Control; null for none. */
  readonly cacheControl: string | null
  /** The tag of the content; null for a file that was not read. */
  readonly digest: string | null
}

/** A file with this time, or an earlier one, has none: builds that can be repeated set it to the beginning of 1970. */
const noTime = 1_000

export class FileHead {
  readonly type: string | null
  readonly validators: Validators
  /** True where the bytes may be compressed. */
  readonly mayEncode: boolean
  readonly #list: string[]
  /** The packed headers; null until a reply has them. */
  #packed: string | null = null
  /** True while its file is in memory: what is packed for a single reply would stay behind. */
  kept = false
  readonly #names: ReadonlySet<string>

  constructor(headers: Headers) {
    this.#list = [...headers].flat()
    for (let at = 0; at < this.#list.length; at += 2) {
      checkHeader(this.#list[at] as string, this.#list[at + 1] as string)
    }
    this.type = headers.get('content-type')
    this.mayEncode = !isBound(headers)
    const date = headers.get('last-modified')
    this.validators = {
      etag: headers.get('etag') ?? '',
      modified: (date === null ? null : parseHttpDate(date)) ?? NaN,
    }
    this.#names = new Set(headers.keys())
  }

  /** Gives the headers of the same content in a coding. Its tag is weak, since levels make other bytes (RFC 9110 §8.8.1). */
  encoded(coding: Coding): FileHead {
    const headers = new Headers(pairsOf(this.#list))
    const tag = headers.get('etag')
    if (tag?.startsWith('"') === true) headers.set('etag', `W/${tag}`)
    headers.set('content-encoding', coding)
    headers.set('vary', mergeVary(headers.get('vary') ?? '', 'accept-encoding'))
    headers.delete('accept-ranges')
    return new FileHead(headers)
  }

  /** Frees what all replies with these headers share. */
  release(): void {
    this.kept = false
    if (this.#packed !== null) releaseHeaders(this.#packed)
    this.#packed = null
  }

  /** Sets the headers of a whole reply that leaves at once, so that nothing removes one of them by name. */
  placeWhole(ctx: RequestContext): void {
    const { replyHeaders } = ctx
    if (!this.kept || ctx.route.sendHooks !== null || (replyHeaders !== null && this.#meets(replyHeaders))) {
      this.placeValidators(ctx)
      return this.placeContent(ctx)
    }
    const packed = (this.#packed ??= packHeaders(this.#list))
    if (replyHeaders === null) ctx.replyHeaders = ['', packed]
    else replyHeaders.push('', packed)
    if (this.type !== null) ctx.hasType = true
  }

  /** Sets the headers that a 304 has, too. Cache-Control of a middleware stays. */
  placeValidators(ctx: RequestContext): void {
    this.#place(ctx, (name) => !name.startsWith('content-'))
  }

  /** Sets the headers that describe content. Content-Type of a middleware stays. */
  placeContent(ctx: RequestContext): void {
    this.#place(ctx, (name) => name.startsWith('content-'))
  }

  #place(ctx: RequestContext, wanted: (name: string) => boolean): void {
    const list = ctx.replyHeaders ?? []
    const kept = list.filter((name, at) => at % 2 === 0 && own.test(name)).map((name) => name.toLowerCase())
    for (let at = 0; at < this.#list.length; at += 2) {
      const name = this.#list[at] as string
      const value = this.#list[at + 1] as string
      if (!wanted(name) || kept.includes(name)) continue
      // There may be several, and those of a middleware stay.
      if (name === 'set-cookie') ctx.append(name, value)
      else ctx.header(name, value)
    }
  }

  /** True where a list has one of these headers already. What is packed in it has none that describes a file. */
  #meets(list: readonly string[]): boolean {
    for (let at = 0; at < list.length; at += 2) {
      const name = list[at] as string
      if (name !== '' && this.#names.has(name.toLowerCase())) return true
    }
    return false
  }
}

const own = /^(?:cache-control|content-type)$/i

function pairsOf(list: readonly string[]): [string, string][] {
  return list.flatMap((name, at) => (at % 2 === 0 ? [[name, list[at + 1] as string]] : []))
}

/** Gives the headers of a file. */
export function headersOf(
  stats: Stats,
  { settings, path, coding, varies, cacheControl, digest }: HeadOptions,
): Headers {
  const headers = new Headers({ 'content-type': fileType(path) })
  if (cacheControl !== null) headers.set('cache-control', cacheControl)
  if (settings.etag) headers.set('etag', digest === null ? tagOf(stats, coding) : `"${digest}"`)
  if (settings.lastModified && stats.mtimeMs > noTime) {
    headers.set('last-modified', new Date(lastModified(stats)).toUTCString())
  }
  if (settings.acceptRanges) headers.set('accept-ranges', 'bytes')
  if (coding !== 'identity') headers.set('content-encoding', coding)
  if (varies) headers.set('vary', 'accept-encoding')
  const file = { path, size: stats.size, modified: new Date(stats.mtimeMs) }
  const result: unknown = settings.setHeaders?.(headers, file)
  if (isThenable(result)) {
    result.then(undefined, () => {})
    throw new VolantError(
      'E_BAD_HANDLER',
      'setHeaders of a static folder is async: it sets the headers at once',
    )
  }
  return headers
}

/** Gives the tag of a file that is too large to be read for it. Without a time of its own it has that of its inode. */
function tagOf({ size, mtimeMs, ctimeMs }: Stats, coding: CopyCoding): string {
  const tag = weakTag({ size, mtimeMs: mtimeMs > noTime ? mtimeMs : ctimeMs })
  return coding === 'identity' ? tag : `${tag.slice(0, -1)}-${coding}"`
}
