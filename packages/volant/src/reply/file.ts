/** Replies with a file, for `ctx.file`, which loads this at its first call. */
import type { Stats } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Validators } from './conditional.ts'
import type { FileOptions } from '../types/reply-options.ts'
import { attachment } from './disposition.ts'
import { type HTTPError, refusal, VolantError } from '../errors/errors.ts'
import { fileType, lastModified, weakTag } from './file-type.ts'
import { checkHeaderName } from './header.ts'
import { parseHttpDate } from './http-date.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { dropReply } from './late-reply.ts'
import { isHidden, type OpenFile, openFile, openInside } from './open-file.ts'
import { sendFileReply } from './send-file.ts'
import { ReplyPhase } from '../types/phases.ts'
import type { RequestContext } from '../types/request.ts'

export async function sendFile(
  ctx: RequestContext,
  path: string | URL,
  options: FileOptions = {},
): Promise<void> {
  check(path, options)
  const name = typeof path === 'string' ? path : fileURLToPath(path)
  const { handle, stats } = await find(name, options)
  let sending = false
  try {
    // Another reply was sent while the file was opened.
    if (ctx.phase > ReplyPhase.reopened) return dropReply(ctx, 'file')
    const type = headerOf(ctx, 'content-type') ?? options.type ?? fileType(name)
    const disposition = dispositionOf(name, options)
    sending = await sendFileReply(ctx, {
      content: handle,
      size: stats.size,
      type,
      describe: () => {
        ctx.header('content-type', type)
        if (disposition !== null) ctx.header('content-disposition', disposition)
      },
      validators: validatorsOf(ctx, stats),
      ranges: true,
    })
  } finally {
    if (!sending) await handle.close()
  }
}

/** Keeps what the handler has set. The tag is weak: two versions of one size within a millisecond share it. */
function validatorsOf(ctx: RequestContext, stats: Stats): Validators {
  const given = headerOf(ctx, 'last-modified')
  const changed = lastModified(stats)
  const modified = (given === undefined ? null : parseHttpDate(given)) ?? changed
  const etag = headerOf(ctx, 'etag') ?? weakTag(stats)
  ctx.header('etag', etag)
  if (given === undefined) ctx.header('last-modified', new Date(changed).toUTCString())
  return { etag, modified }
}

function headerOf(ctx: RequestContext, name: string): string | undefined {
  const list = ctx.replyHeaders ?? []
  const at = list.findIndex((text, index) => index % 2 === 0 && text !== '' && checkHeaderName(text) === name)
  return at === -1 ? undefined : list[at + 1]
}

async function find(name: string, { root, dotfiles = false }: FileOptions): Promise<OpenFile> {
  if (name.includes('\0')) throw notFound()
  // A root that does not exist is not the client's mistake.
  const folder = root === undefined ? null : await folderOf(root)
  if (folder !== null) confine(name, dotfiles)
  const found = folder === null ? await openFile(name) : await openInside(folder, name, dotfiles)
  if (found === null || found === 'folder') throw notFound()
  return found
}

async function folderOf(root: string): Promise<string> {
  try {
    return await realpath(root)
  } catch (error) {
    const { message } = bad('file: root', root, 'a folder that exists')
    throw new VolantError('E_BAD_OPTION', message, { cause: error })
  }
}

function notFound(): HTTPError {
  return refusal('E_NOT_FOUND', 'There is no such file')
}

/** Refuses names that are not one below a root. Both kinds of slashes separate segments on every system. */
function confine(name: string, dotfiles: boolean): void {
  const segments = name.split(/[\\/]/)
  if (segments.includes('..') || (!dotfiles && segments.some(isHidden))) throw notFound()
  // A colon names a drive, or a stream beside a file.
  if (sep === '\\' && name.includes(':')) throw notFound()
}

function dispositionOf(name: string, { download }: FileOptions): string | null {
  return download === undefined ? null : attachment(download === true ? name : download)
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
