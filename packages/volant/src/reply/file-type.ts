/** What the name and the state of a file say about it: its content type, its tag and its date. */
import type { Stats } from 'node:fs'
import { basename } from 'node:path'
import mime from 'mime'

export function fileType(name: string): string {
  // The slash is needed, since without one `mime` takes a file called `html` for the extension.
  const type = mime.getType(`/${basename(name)}`) ?? 'application/octet-stream'
  return type.startsWith('text/') ? `${type}; charset=utf-8` : type
}

/** The tag is weak: two versions of one size within a millisecond share it. */
export function weakTag({ size, mtimeMs }: Pick<Stats, 'size' | 'mtimeMs'>): string {
  return `W/"${size.toString(36)}-${Math.floor(mtimeMs).toString(36)}"`
}

/** Gives the time in whole seconds. Last-Modified must not be later than now (RFC 9110 §8.8.2.1). */
export function lastModified({ mtimeMs }: Pick<Stats, 'mtimeMs'>): number {
  return Math.floor(Math.min(mtimeMs, Date.now()) / 1_000) * 1_000
}
