/** Answers requests with the files of a folder. `app.static` loads this when the app starts. */
import { sep } from 'node:path'
import { ContentType } from '@volant/engine'
import { type Compression, compressionOf } from '../compression/compress.ts'
import { refusal } from '../errors/errors.ts'
import { asksForPart } from '../reply/conditional.ts'
import { type OpenFile, openInside } from '../reply/open-file.ts'
import { send } from '../reply/send.ts'
import { type FileReply, sendFileReply } from '../reply/send-file.ts'
import { acceptedType } from '../request/accepts.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'
import { largestKept, PageCache } from './cache.ts'
import { codingsFor } from './codings.ts'
import { namesOf } from './names.ts'
import type { FolderSettings } from './options.ts'
import { type Copy, type EncodedCopy, type Page, PageReader } from './page.ts'

/** What a path stands for. */
type Found =
  | {
      readonly file: OpenFile
      readonly path: string
      readonly cacheControl: string | null
      /** The paths that would have been served in its place. */
      readonly before: readonly string[]
    }
  | 'redirect'
  | 'refused'
  | null

/** Makes the handler of a folder. */
export function serveFolder(settings: FolderSettings): (ctx: RequestContext) => unknown {
  const folder = new Folder(settings)
  return (ctx) => folder.serve(ctx)
}

const windows = sep === '\\'
/** Stands for the fallback among the paths, none of which has this character. */
const fallbackKey = '\0'

class Folder {
  readonly #settings: FolderSettings
  readonly #cache: PageCache | null
  /** The pattern of the route that was asked for last, and where the part of the path begins that is below it. */
  #pattern: string | null = null
  #slashes = 0

  constructor(settings: FolderSettings) {
    this.#settings = settings
    this.#cache = settings.cache ? new PageCache() : null
  }

  serve(ctx: RequestContext): unknown {
    const path = this.#below(ctx)
    if (path === null) return this.#find(ctx, null)
    const page = this.#cache?.get(path)
    if (page === undefined) return this.#find(ctx, path)
    return this.#answer(ctx, path, page)
  }

  /** Answers with a page of the cache. */
  #answer(ctx: RequestContext, path: string, page: Page): unknown {
    if (!page.isFresh) return this.#lookAgain(ctx, path, page)
    page.used = true
    const copy = page.copies.length === 1 ? (page.copies[0] as Copy) : page.copyFor(accepted(ctx))
    // The large one of several copies has to be opened.
    if (copy.bytes === null) return path === fallbackKey ? this.#readFallback(ctx) : this.#find(ctx, path)
    return this.#sendKept(ctx, path, page, copy)
  }

  /** Sends a copy in memory, compressed if the scope compresses. */
  #sendKept(ctx: RequestContext, path: string, page: Page, copy: Copy): Promise<void> | void {
    const compression = ctx.route.encoder === null ? null : compressionFor(ctx, copy)
    const bytes = copy.bytes as Buffer
    const coding = compression?.codingFor(ctx, copy.head.type as string, bytes.length) ?? null
    if (compression === null || coding === null)
      return sendKept(ctx, copy, bytes, this.#settings.acceptRanges)
    const encoded = page.encoded(compression, coding, (more) => this.#cache?.grow(path, page, more))
    const go = (found: EncodedCopy | null): Promise<void> | void => {
      if (found === null) return sendKept(ctx, copy, bytes, this.#settings.acceptRanges)
      return sendKept(ctx, found, found.bytes, false)
    }
    return encoded instanceof Promise ? encoded.then(go) : go(encoded)
  }

  async #lookAgain(ctx: RequestContext, path: string, page: Page): Promise<unknown> {
    if (await page.isUnchanged()) return this.#answer(ctx, path, page)
    // Another request may have read it meanwhile.
    const now = this.#cache?.get(path)
    if (now !== undefined && now !== page && now.isFresh) return this.#answer(ctx, path, now)
    if (now === page) this.#cache?.delete(path)
    return path === fallbackKey ? this.#fallback(ctx) : this.#find(ctx, path)
  }

  /**
   * Gives the path below the folder's prefix; null for the prefix itself, without a slash. The prefix may have
   * parameters, and an app may be mounted at several places.
   */
  #below(ctx: RequestContext): string | null {
    const { path, pattern } = ctx
    if (pattern !== this.#pattern) {
      this.#pattern = pattern
      this.#slashes = slashesOf(pattern as string)
    }
    let at = 0
    for (let count = this.#slashes; count > 0; count--) {
      at = path.indexOf('/', at) + 1
      if (at === 0) return null
    }
    return path.slice(at)
  }

  /** Looks for what a path stands for, reads it and answers with it. */
  async #find(ctx: RequestContext, path: string | null): Promise<unknown> {
    const found = await this.#locate(path)
    if (found === 'redirect') return redirect(ctx)
    if (found === 'refused') return missing(ctx)
    if (found !== null) return this.#read(ctx, path as string, found)
    if (this.#settings.fallback === null) return missing(ctx)
    // What opens a page gets the fallback, and what a page loads gets 404 (RFC 9110 §12.5.5).
    ctx.vary('accept, sec-fetch-dest')
    return isNavigation(ctx) ? this.#fallback(ctx) : missing(ctx)
  }

  #fallback(ctx: RequestContext): unknown {
    const page = this.#cache?.get(fallbackKey)
    return page === undefined ? this.#readFallback(ctx) : this.#answer(ctx, fallbackKey, page)
  }

  async #readFallback(ctx: RequestContext): Promise<unknown> {
    const { root, fallback, dotfiles, cacheControl } = this.#settings
    const file = await openInside(root, fallback as string, dotfiles)
    if (file === null || file === 'folder') return missing(ctx)
    const control = cacheControl === null ? null : 'no-cache'
    const found = { file, path: fallback as string, cacheControl: control, before: [] }
    return this.#read(ctx, fallbackKey, found)
  }

  async #read(
    ctx: RequestContext,
    key: string,
    { file, path, cacheControl, before }: Exclude<Found, string | null>,
  ): Promise<void> {
    const largest = Math.min(largestKept, ctx.app.limits.maxBufferedReplies)
    const reader = new PageReader(this.#settings, largest)
    let sent = false
    try {
      const page = await reader.read(path, file, cacheControl, before)
      if (page.copies.some(({ bytes }) => bytes !== null)) this.#cache?.set(key, page)
      const copy = page.copyFor(page.copies.length === 1 ? [] : accepted(ctx))
      if (ctx.phase > ReplyPhase.reopened) return
      const opened = reader.open.get(copy.coding)
      await reader.closeExcept(copy.coding)
      if (copy.bytes !== null) await this.#sendKept(ctx, key, page, copy)
      else if (opened !== undefined) {
        copy.head.placeValidators(ctx)
        sent = await sendFileReply(ctx, replyOf(copy, opened.handle, this.#settings.acceptRanges))
      }
    } finally {
      if (!sent) await reader.closeExcept(null)
    }
  }

  async #locate(asked: string | null): Promise<Found> {
    const { root, dotfiles, extensions, cacheControl } = this.#settings
    if (asked === null) return this.#hasIndex('')
    const names = namesOf(asked, dotfiles, windows)
    if (names === null) return 'refused'
    const name = names.join('/')
    if (name === '' || name.endsWith('/')) return this.#indexOf(name)
    const file = await openInside(root, name, dotfiles)
    if (file !== null && file !== 'folder') return { file, path: name, cacheControl, before: [] }
    if (file === 'folder' && (await this.#hasIndex(`${name}/`)) !== null) return 'redirect'
    const before = [name]
    for (const extension of extensions) {
      const path = name + extension
      const other = await openInside(root, path, dotfiles)
      if (other !== null && other !== 'folder') return { file: other, path, cacheControl, before }
      before.push(path)
    }
    return null
  }

  /** Opens the index file of a folder, whose path is empty or ends with a slash. */
  async #indexOf(folder: string): Promise<Exclude<Found, string>> {
    const { root, index, dotfiles, indexControl } = this.#settings
    const before: string[] = []
    for (const name of index) {
      const path = folder + name
      const file = await openInside(root, path, dotfiles)
      if (file !== null && file !== 'folder') return { file, path, cacheControl: indexControl, before }
      before.push(path)
    }
    return null
  }

  /** A folder without an index file is not told from one that does not exist. */
  async #hasIndex(folder: string): Promise<'redirect' | null> {
    const index = await this.#indexOf(folder)
    if (index === null) return null
    await index.file.handle.close()
    return 'redirect'
  }
}

/** Gives how many slashes stand before what is below the prefix: the pattern is the prefix, with `/` or `/*` behind it. */
function slashesOf(pattern: string): number {
  const count = pattern.split('/').length - 1
  return pattern.endsWith('/') || pattern.endsWith('/*') ? count : count + 1
}

function accepted(ctx: RequestContext): ReturnType<typeof codingsFor> {
  return codingsFor(ctx.exchange.header('accept-encoding'))
}

/**
 * Gives the compression of the scope, if the copy may go through it ahead of time: other hooks see the content as it is,
 * and parts are those of the content as it is.
 */
function compressionFor(ctx: RequestContext, { coding, head }: Copy): Compression | null {
  if (coding !== 'identity' || !head.mayEncode || head.type === null || ctx.route.sendHooks?.length !== 1)
    return null
  if (ctx.hasType || hasCacheControl(ctx) || ctx.exchange.header('range') !== undefined) return null
  return compressionOf(ctx)
}

/** A middleware may have set `no-transform`. */
function hasCacheControl({ replyHeaders }: RequestContext): boolean {
  return replyHeaders?.some((name, at) => at % 2 === 0 && /^cache-control$/i.test(name)) === true
}

function sendKept(
  ctx: RequestContext,
  copy: Pick<Copy, 'head' | 'size'>,
  bytes: Buffer,
  ranges: boolean,
): Promise<void> | void {
  if (asksForPart(ctx.exchange)) {
    copy.head.placeValidators(ctx)
    return sendPart(ctx, copy, bytes, ranges)
  }
  copy.head.placeWhole(ctx)
  send(ctx, ContentType.custom, bytes, undefined, 'static')
}

async function sendPart(
  ctx: RequestContext,
  copy: Pick<Copy, 'head' | 'size'>,
  bytes: Buffer,
  ranges: boolean,
): Promise<void> {
  await sendFileReply(ctx, replyOf(copy, bytes, ranges))
}

function replyOf(
  { head, size }: Pick<Copy, 'head' | 'size'>,
  content: FileReply['content'],
  ranges: boolean,
): FileReply {
  return {
    content,
    size,
    type: head.type,
    describe: (ctx) => head.placeContent(ctx),
    validators: head.validators,
    ranges,
  }
}

/** The path has no empty segment before its end, so the location cannot be taken for that of another host. */
function redirect(ctx: RequestContext): void {
  const { path } = ctx
  const { query } = ctx.exchange
  ctx.redirect(query === '' ? `${path}/` : `${path}/?${query}`, 308)
}

function missing(ctx: RequestContext): unknown {
  const { notFound } = ctx.route
  if (notFound === null) throw refusal('E_NOT_FOUND', 'There is no such file')
  return notFound(ctx)
}

/** True for a browser that opens a page. What a page loads has another Sec-Fetch-Dest, and usually an extension. */
function isNavigation(ctx: RequestContext): boolean {
  const destination = ctx.exchange.header('sec-fetch-dest') ?? 'document'
  if (destination !== 'document' || ctx.path.includes('.', ctx.path.lastIndexOf('/'))) return false
  return acceptedType(ctx.exchange.header('accept'), ['text/html']) !== false
}
