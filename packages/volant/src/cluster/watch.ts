/** Watches the sources of a project. The system says where something happened; what changed is found by a look there. */
import { createHash } from 'node:crypto'
import { type FSWatcher, readdirSync, readFileSync, type Stats, statSync, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { printLine } from '../report/print-line.ts'
import type { Sources } from './sources.ts'

/** A look follows when nothing has happened for so many milliseconds: editors and compilers write in several steps. */
const quiet = 25
/** A look follows at the latest so many milliseconds after the first event. */
const patience = 300
/** The milliseconds between two looks where the system cannot watch. */
const pollTime = 1_000
/** The content of larger files is not compared, in bytes. */
const mostCompared = 2 ** 20

/** A source that changed, appeared or is gone. */
export interface SourceChange {
  readonly path: string
  /** When, as `Date.now()` counts. */
  readonly at: number
}

interface SeenFile {
  modified: number
  size: number
  /** Null until it is computed, and for large files. */
  hash: string | null
}

interface SeenFolder {
  /** Another one may get the same path. */
  readonly inode: number
  readonly watcher: FSWatcher | null
  readonly files: Map<string, SeenFile>
  readonly folders: Set<string>
}

export class SourceWatch {
  readonly #sources: Sources
  readonly #changed: (changes: readonly SourceChange[]) => void
  readonly #folders = new Map<string, SeenFolder>()
  /** The folders in which something happened. */
  readonly #touched = new Set<string>()
  #changes: SourceChange[] = []
  #first = 0
  #timer: NodeJS.Timeout | undefined
  #poll: NodeJS.Timeout | undefined
  #isClosed = false

  /** Begins to watch. `changed` is called with what changed since its last call. */
  constructor(sources: Sources, changed: (changes: readonly SourceChange[]) => void) {
    this.#sources = sources
    this.#changed = changed
    for (const root of sources.roots) this.#look(root)
    this.#changes = []
    void this.#hashAll()
  }

  close(): void {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearInterval(this.#poll)
    for (const { watcher } of this.#folders.values()) watcher?.close()
  }

  #happened(folder: string): void {
    this.#touched.add(folder)
    const now = performance.now()
    if (this.#timer === undefined) this.#first = now
    else if (now - this.#first > patience) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#lookAround(), quiet)
  }

  #lookAround(): void {
    this.#timer = undefined
    const touched = [...this.#touched]
    this.#touched.clear()
    for (const folder of touched) if (this.#folders.has(folder)) this.#look(folder)
    const changes = this.#changes
    this.#changes = []
    if (changes.length > 0) this.#changed(changes)
  }

  /** Compares a folder with what was there, and the new ones below it. */
  #look(path: string): void {
    let inode: number
    let entries
    let folder = this.#folders.get(path)
    try {
      inode = statSync(path).ino
      if (folder?.inode !== inode) {
        folder?.watcher?.close()
        // It is watched before it is read, so that nothing is missed in between.
        const { files = new Map<string, SeenFile>(), folders = new Set<string>() } = folder ?? {}
        this.#folders.set(path, (folder = { inode, watcher: this.#watch(path), files, folders }))
      }
      entries = readdirSync(path, { withFileTypes: true })
    } catch {
      return this.#forget(path)
    }
    const goneFiles = new Set(folder.files.keys())
    const goneFolders = new Set(folder.folders)
    for (const entry of entries) {
      const inside = join(path, entry.name)
      if (entry.isDirectory()) {
        if (this.#sources.isLeftOut(inside)) continue
        goneFolders.delete(inside)
        folder.folders.add(inside)
        if (this.#isOther(inside)) this.#look(inside)
      } else if (this.#sources.has(inside) && this.#compare(inside, folder.files)) {
        goneFiles.delete(inside)
      }
    }
    for (const gone of goneFolders) {
      folder.folders.delete(gone)
      this.#forget(gone)
    }
    for (const gone of goneFiles) {
      folder.files.delete(gone)
      this.#changes.push({ path: gone, at: Date.now() })
    }
  }

  #isOther(path: string): boolean {
    try {
      return this.#folders.get(path)?.inode !== statSync(path).ino
    } catch {
      return true
    }
  }

  /** Gives whether the file is there. */
  #compare(path: string, files: Map<string, SeenFile>): boolean {
    const stats = statsOf(path)
    if (stats === null) return false
    const { mtimeMs: modified, size, ctimeMs } = stats
    const seen = files.get(path)
    if (seen?.modified === modified && seen.size === size) return true
    // Before the first look has ended nothing is a change, and nothing has to be read.
    const hash = seen === undefined ? null : hashOf(path, size)
    files.set(path, { modified, size, hash })
    if (seen !== undefined && hash !== null && seen.hash === hash) return true
    // The clock of another machine may differ.
    const at = Math.abs(Date.now() - ctimeMs) < 10_000 ? ctimeMs : Date.now()
    this.#changes.push({ path, at })
    return true
  }

  /** Everything in a folder that is gone is gone. */
  #forget(path: string): void {
    const folder = this.#folders.get(path)
    if (folder === undefined) return
    this.#folders.delete(path)
    folder.watcher?.close()
    for (const file of folder.files.keys()) this.#changes.push({ path: file, at: Date.now() })
    for (const inside of folder.folders) this.#forget(inside)
  }

  #watch(path: string): FSWatcher | null {
    if (this.#poll !== undefined) return null
    try {
      const watcher = watch(path, (event, name) => {
        // What was written to is known by its name. The app may write a lot here.
        if (
          event === 'change' &&
          name !== null &&
          extname(name) !== '' &&
          !this.#sources.has(join(path, name))
        )
          return
        this.#happened(path)
      })
      return watcher.on('error', () => this.#happened(path))
    } catch (error) {
      this.#pollInstead(error as NodeJS.ErrnoException)
      return null
    }
  }

  /** The system has a limit on what all programs of a user may watch. */
  #pollInstead({ code = 'unknown' }: NodeJS.ErrnoException): void {
    if (code === 'ENOENT' || code === 'EACCES' || code === 'EPERM') return
    const advice =
      code === 'ENOSPC'
        ? ': all programs of this user together watch as much as fs.inotify.max_user_watches allows (sysctl)'
        : code === 'EMFILE'
          ? ': too many programs of this user watch files (fs.inotify.max_user_instances), or too many files are open (ulimit -n)'
          : ''
    printLine(
      `volant: the system cannot watch all folders (${code})${advice}. They are looked at every second instead`,
    )
    this.#poll = setInterval(() => {
      for (const folder of this.#folders.keys()) this.#touched.add(folder)
      this.#lookAround()
    }, pollTime)
  }

  /** A file that is written anew with the same content has not changed. */
  async #hashAll(): Promise<void> {
    for (const { files } of this.#folders.values()) {
      for (const [path, seen] of files) {
        if (this.#isClosed) return
        if (seen.hash !== null || seen.size > mostCompared) continue
        const content = await readFile(path).catch(() => null)
        const now = statsOf(path)
        if (content === null || now?.mtimeMs !== seen.modified || now.size !== seen.size) continue
        seen.hash = digest(content)
      }
    }
  }
}

function statsOf(path: string): Stats | null {
  try {
    const stats = statSync(path)
    return stats.isFile() ? stats : null
  } catch {
    return null
  }
}

function hashOf(path: string, size: number): string | null {
  if (size > mostCompared) return null
  try {
    return digest(readFileSync(path))
  } catch {
    return null
  }
}

function digest(content: Buffer): string {
  return createHash('sha256').update(content).digest('base64')
}
