/** A file of a static folder with its precompressed copies, as it was when it was read. */
import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { readInto } from '../reply/file-chunks.ts'
import type { Coding } from '../compression/codings.ts'
import type { Compression } from '../compression/compress.ts'
import { type OpenFile, openInside } from '../reply/open-file.ts'
import { type CopyCoding, codings } from './codings.ts'
import { FileHead, headersOf } from './head.ts'
import type { FolderSettings } from './options.ts'

/** One representation of the file. */
export interface Copy {
  readonly coding: CopyCoding
  readonly head: FileHead
  readonly size: number
  /** The content; null where it is too large to be kept. */
  readonly bytes: Buffer | null
  /** The path in the folder; the extension of the coding is part of it. */
  readonly path: string
  readonly stats: Stats
}

/** A path that was looked at and not served. As long as it stays as it was, so does the page. */
interface Beside {
  readonly path: string
  /** Null where there was nothing. */
  readonly stats: Stats | null
}

/** The original in a coding that was not on disk. */
export type EncodedCopy = Pick<Copy, 'head' | 'size'> & { readonly bytes: Buffer }

/** What the headers of a copy take in memory, about. */
const headBytes = 2_048

/** How long a file is taken to be as it was when it was looked at, in milliseconds. */
const lookAgain = 1_000
/**
 * A file that was changed this shortly before it was read may change once more and keep its time, whose steps are as
 * long as those of the kernel's clock, or of the file system: 2 s on FAT.
 */
const settlesIn = 2_500

/**
 * A precompressed copy that is older than its original by more than this, in milliseconds, is of another version. What
 * copies a folder may write it shortly before the original.
 */
const copiedWithin = 2_000

export class Page {
  /** The original, and behind it the precompressed ones. */
  readonly copies: readonly Copy[]
  readonly #root: string
  readonly #beside: readonly Beside[]
  readonly #settled: boolean
  #looked = performance.now()
  #looking: Promise<boolean> | null = null
  #kept = false
  used = false
  /** The bytes that it takes in memory, with those of its headers. */
  bytes: number
  /** The content as compressors of scopes made it; null where it did not get shorter. */
  readonly #encoded = new Map<Compression, Map<Coding, Promise<EncodedCopy | null> | EncodedCopy | null>>()

  constructor(root: string, copies: readonly Copy[], beside: readonly Beside[], read: number) {
    this.#root = root
    this.copies = copies
    this.#beside = beside
    this.bytes = copies.reduce((sum, { bytes }) => sum + (bytes?.length ?? 0) + headBytes, 0)
    // What came into being while the file was looked for is among them, and was perhaps not seen.
    this.#settled = [...copies, ...beside].every(
      ({ stats }) => stats === null || read - Math.max(stats.mtimeMs, stats.ctimeMs) > settlesIn,
    )
  }

  get isFresh(): boolean {
    return performance.now() - this.#looked < lookAgain
  }

  /** Gives the copy for a client. The original is for those that accept nothing. */
  copyFor(accepted: readonly CopyCoding[]): Copy {
    const { copies } = this
    for (const each of accepted) {
      const copy = copies.find(({ coding }) => coding === each)
      if (copy !== undefined) return copy
    }
    return copies[0] as Copy
  }

  /**
   * Gives the original as `compression` makes it, which is done once. `made` is called with the bytes that it takes in
   * memory. Null says that it would not get shorter, or that too much waits to be compressed.
   */
  encoded(
    compression: Compression,
    coding: Coding,
    made: (bytes: number) => void,
  ): Promise<EncodedCopy | null> | EncodedCopy | null {
    const byCoding = this.#encoded.get(compression) ?? new Map<Coding, EncodedCopy | null>()
    this.#encoded.set(compression, byCoding)
    const known = byCoding.get(coding)
    if (known !== undefined) return known
    const { head, bytes } = this.copies[0] as Copy
    const put = (packed: Buffer | null): EncodedCopy | null => {
      const shorter = packed !== null && packed.length < (bytes as Buffer).length
      const copy = shorter ? { head: head.encoded(coding), size: packed.length, bytes: packed } : null
      if (packed === null) byCoding.delete(coding)
      else byCoding.set(coding, copy)
      if (copy !== null) {
        copy.head.kept = this.#kept
        made(copy.size + headBytes)
      }
      return copy
    }
    const packed = compression.bytes(coding, bytes as Buffer, () => true)
    if (!(packed instanceof Promise)) return put(packed)
    const later = packed.then(put)
    byCoding.set(coding, later)
    // The next request tries again.
    later.catch(() => byCoding.delete(coding))
    return later
  }

  /** Takes notice that it is in memory from now on. */
  keep(): void {
    this.#kept = true
    for (const { head } of this.copies) head.kept = true
  }

  release(): void {
    this.#kept = false
    for (const { head } of this.copies) head.release()
    for (const byCoding of this.#encoded.values()) {
      for (const copy of byCoding.values()) if (copy !== null && 'head' in copy) copy.head.release()
    }
  }

  /** Resolves to false if a file is not the same any more. All that ask meanwhile get the same answer. */
  isUnchanged(): Promise<boolean> {
    if (!this.#settled) return Promise.resolve(false)
    return (this.#looking ??= this.#look().finally(() => (this.#looking = null)))
  }

  async #look(): Promise<boolean> {
    const started = performance.now()
    for (const { path, stats } of [...this.copies, ...this.#beside]) {
      const now = await statOf(join(this.#root, path))
      if (now === null || stats === null ? now !== stats : !isSame(now, stats)) return false
    }
    this.#looked = started
    return true
  }
}

async function statOf(path: string): Promise<Stats | null> {
  return stat(path).catch(() => null)
}

function isSame(a: Stats, b: Stats): boolean {
  return (
    a.ino === b.ino &&
    a.dev === b.dev &&
    a.size === b.size &&
    a.mtimeMs === b.mtimeMs &&
    a.ctimeMs === b.ctimeMs
  )
}

/** Reads the file at `path`, whose original is open, and its precompressed copies. */
export class PageReader {
  readonly #settings: FolderSettings
  readonly #largest: number
  /** The files that are open: the large ones, until they are sent. */
  readonly open = new Map<CopyCoding, OpenFile>()

  constructor(settings: FolderSettings, largest: number) {
    this.#settings = settings
    this.#largest = largest
  }

  /** Names in `before` the paths that would have been served in place of this one. */
  async read(
    path: string,
    original: OpenFile,
    cacheControl: string | null,
    before: readonly string[],
  ): Promise<Page> {
    const { root, precompressed, dotfiles } = this.#settings
    const read = Date.now()
    const files: { coding: CopyCoding; path: string; file: OpenFile }[] = [
      { coding: 'identity', path, file: original },
    ]
    const beside: Beside[] = []
    for (const each of before) beside.push({ path: each, stats: await statOf(join(root, each)) })
    this.open.set('identity', original)
    for (const { name, extension } of precompressed ? codings : []) {
      const copy = path + extension
      const file = await openInside(root, copy, dotfiles)
      if (file === null || file === 'folder') {
        beside.push({ path: copy, stats: await statOf(join(root, copy)) })
        continue
      }
      this.open.set(name, file)
      if (file.stats.mtimeMs < original.stats.mtimeMs - copiedWithin) {
        await this.#close(name)
        beside.push({ path: copy, stats: file.stats })
      } else files.push({ coding: name, path: copy, file })
    }
    const copies: Copy[] = []
    for (const { coding, path: copy, file } of files) {
      const { handle, stats } = file
      const { size } = stats
      const keeps = size <= this.#largest
      const bytes = keeps ? await readInto(handle, Buffer.allocUnsafeSlow(size), 0) : null
      const digest = bytes === null ? null : createHash('sha1').update(bytes).digest('base64').slice(0, 27)
      const varies = files.length > 1
      const of = { settings: this.#settings, path, coding, varies, cacheControl, digest }
      const head = new FileHead(headersOf(stats, of))
      if (bytes !== null) await this.#close(coding)
      copies.push({ coding, head, size, bytes, path: copy, stats })
    }
    return new Page(root, copies, beside, read)
  }

  async closeExcept(kept: CopyCoding | null): Promise<void> {
    for (const coding of this.open.keys()) if (coding !== kept) await this.#close(coding)
  }

  async #close(coding: CopyCoding): Promise<void> {
    const file = this.open.get(coding)
    this.open.delete(coding)
    await file?.handle.close()
  }
}
