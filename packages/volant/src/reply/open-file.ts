/** Opens files for replies. With a folder around them, no path and no link leads out of it. */
import { constants, type Stats } from 'node:fs'
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { join, sep } from 'node:path'

/** A regular file that is open. Who has it closes the handle. */
export interface OpenFile {
  readonly handle: FileHandle
  readonly stats: Stats
}

// Without O_NONBLOCK opening a pipe would wait for a writer.
const reading = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)
const readingNoLink = reading | (constants.O_NOFOLLOW ?? 0)

/** Gives null where there is no such file: also for a pipe, a socket and a device. */
export async function openFile(name: string): Promise<OpenFile | null> {
  const opened = await openAs(name, reading)
  return opened === 'folder' ? null : opened
}

/**
 * Opens `name`, which has no `..`, in `folder`, the real path of a folder. Gives null for what is not there and for what
 * a link shows from outside, and for names that begin with a dot unless `dotfiles` is set: a link without a dot may lead
 * to a name that has one.
 */
export async function openInside(
  folder: string,
  name: string,
  dotfiles: boolean,
): Promise<OpenFile | 'folder' | null> {
  const path = join(folder, name)
  const target = await realPath(path)
  if (target === null || !isInside(folder, target, dotfiles)) return null
  if (foldsCase && isOtherCase(path, target)) return null
  const opened = await openAs(target, readingNoLink)
  if (opened === null || opened === 'folder') return opened
  let holds = false
  try {
    holds = isInside(folder, await pathOf(opened, path), dotfiles)
    return holds ? opened : null
  } finally {
    if (!holds) await opened.handle.close()
  }
}

/** True where a folder finds a name in another case, too. A guard of the path /private would not see /Private. */
const foldsCase = process.platform === 'darwin' || process.platform === 'win32'

/** True where the path of a file is the one that was asked for but for the case of letters. */
export function isOtherCase(path: string, target: string): boolean {
  if (path === target) return false
  // macOS keeps names composed or decomposed, and finds them by both.
  const [asked, real] = [path.normalize(), target.normalize()]
  return asked !== real && asked.toLowerCase() === real.toLowerCase()
}

async function openAs(name: string, flags: number): Promise<OpenFile | 'folder' | null> {
  let handle: FileHandle
  try {
    handle = await open(name, flags)
  } catch (error) {
    return unlessAbsent(error)
  }
  let isFile = false
  try {
    const stats = await handle.stat()
    isFile = stats.isFile()
    return isFile ? { handle, stats } : stats.isDirectory() ? 'folder' : null
  } finally {
    if (!isFile) await handle.close()
  }
}

async function realPath(path: string): Promise<string | null> {
  try {
    return await realpath(path)
  } catch (error) {
    return unlessAbsent(error)
  }
}

/**
 * Gives the path of a file that is open. Between the check of a path and its opening a folder in it may have been
 * replaced by a link, so this asks the system which file was opened; where the system does not tell, the file at the
 * path must be the same one still.
 */
async function pathOf({ handle, stats }: OpenFile, path: string): Promise<string> {
  if (process.platform === 'linux') {
    const link = await readlink(`/proc/self/fd/${handle.fd}`).catch(() => null)
    if (link !== null) return link
  }
  const again = await realPath(path)
  const now = again === null ? null : await stat(again).catch(() => null)
  return now !== null && now.ino === stats.ino && now.dev === stats.dev ? (again as string) : ''
}

function isInside(folder: string, path: string, dotfiles: boolean): boolean {
  const inside = folder.endsWith(sep) ? folder : folder + sep
  // A root that is a link's target may be asked for itself.
  if (path === folder) return true
  return path.startsWith(inside) && (dotfiles || !path.slice(inside.length).split(sep).some(isHidden))
}

export function isHidden(segment: string): boolean {
  return segment.startsWith('.')
}

const absent = new Set<string | undefined>(['EISDIR', 'ELOOP', 'ENAMETOOLONG', 'ENOENT', 'ENOTDIR', 'ENXIO'])

function unlessAbsent(error: unknown): null {
  if (absent.has((error as NodeJS.ErrnoException).code)) return null
  throw error
}
