/** The options of `app.static`, checked when a folder is registered. What serves it is loaded when the app starts. */
import { realpathSync, statSync } from 'node:fs'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import {
  checkChoice,
  checkEach,
  checkFlag,
  checkFunction,
  checkInteger,
  checkNames,
} from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { namesOf } from './names.ts'

/** A file of a static folder, as `setHeaders` sees it. */
export interface StaticFile {
  /** The path of the file in the folder, with `/` between its segments: `css/site.css`. */
  readonly path: string
  /** The size in bytes. */
  readonly size: number
  /** The time of the last change. */
  readonly modified: Date
}

/** The options of `app.static`. */
export interface StaticOptions {
  /**
   * The files that stand for a folder, the first that exists. False serves none. Default `index.html`. A folder that is
   * asked for without a slash at its end is redirected to the path with it (308).
   */
  index?: string | readonly string[] | false | undefined
  /** The extensions that are tried where there is no such file: with `['html']`, `/about` is `about.html`. Default none. */
  extensions?: readonly string[] | undefined
  /** How long clients may use their copies without asking, in seconds. Default 0. */
  maxAge?: number | undefined
  /**
   * True says that no file ever changes, for folders whose names contain a hash of the content. Without `maxAge` that is
   * for a year. Index files and the fallback are left out. Default false.
   */
  immutable?: boolean | undefined
  /** False leaves Cache-Control out, for a middleware that sets it. Default true. */
  cacheControl?: boolean | undefined
  /** False leaves the ETag out. Default true. */
  etag?: boolean | undefined
  /** False leaves Last-Modified out. Default true. */
  lastModified?: boolean | undefined
  /** False sends files as a whole, whatever Range asks for. Default true. */
  acceptRanges?: boolean | undefined
  /**
   * True sends `app.js.br`, `app.js.zst` or `app.js.gz` in place of `app.js` to clients that accept it, unless it is
   * older than `app.js` by more than 2 s. Default false.
   */
  precompressed?: boolean | undefined
  /**
   * The page that answers paths without a file, for single-page apps: `fallback: 'index.html'`. It answers GET and HEAD
   * of clients that accept HTML, where the last segment has no dot, and where Sec-Fetch-Dest is `document` or absent.
   * Default none.
   */
  fallback?: string | undefined
  /**
   * `'allow'` serves names that begin with a dot; `'ignore'` answers them with 404, `.well-known` too. Default
   * `'ignore'`.
   */
  dotfiles?: 'ignore' | 'allow' | undefined
  /**
   * Changes the headers of a file: `(headers) => headers.set('cross-origin-resource-policy', 'cross-origin')`. It is
   * called when the file is opened. For a file in memory that is not for each request.
   */
  setHeaders?: ((headers: Headers, file: StaticFile) => void) | undefined
  /**
   * False reads every file for each request. By default up to 1,000 files of at most 64 KiB, 32 MiB in all, are kept in
   * memory, and each is looked at again after a second.
   */
  cache?: boolean | undefined
}

/** The checked options. */
export interface FolderSettings {
  /** The real path of the folder. */
  readonly root: string
  readonly index: readonly string[]
  readonly extensions: readonly string[]
  /** The value of Cache-Control; null for none. */
  readonly cacheControl: string | null
  /** The same for index files. */
  readonly indexControl: string | null
  readonly etag: boolean
  readonly lastModified: boolean
  readonly acceptRanges: boolean
  readonly precompressed: boolean
  /** The path of the fallback in the root; null for none. */
  readonly fallback: string | null
  readonly dotfiles: boolean
  readonly setHeaders: ((headers: Headers, file: StaticFile) => unknown) | null
  readonly cache: boolean
}

const names = [
  'index',
  'extensions',
  'maxAge',
  'immutable',
  'cacheControl',
  'etag',
  'lastModified',
  'acceptRanges',
  'precompressed',
  'fallback',
  'dotfiles',
  'setHeaders',
  'cache',
] as const

/** More makes no sense (RFC 9111 has no limit; its predecessor RFC 2616 §14.21 asked for at most a year). */
const year = 31_536_000

/** Throws `E_BAD_OPTION` for what makes no sense, and for a folder that does not exist. */
export function folderSettings(prefix: string, given: unknown, options: StaticOptions): FolderSettings {
  const where = `static(${prefix})`
  checkNames(where, options, names, foreignNames.static)
  const root = rootOf(where, given)
  const dotfiles =
    checkChoice(`${where}: dotfiles`, options.dotfiles ?? 'ignore', ['ignore', 'allow']) === 'allow'
  const { setHeaders } = options
  checkFunction(`${where}: setHeaders`, setHeaders)
  return {
    root,
    dotfiles,
    index: indexOf(where, options.index, dotfiles),
    extensions: checkEach(
      `${where}: extensions`,
      options.extensions ?? [],
      "an array such as ['html']",
      extension,
    ),
    ...cachingOf(where, options),
    etag: checkFlag(`${where}: etag`, options.etag, true),
    lastModified: checkFlag(`${where}: lastModified`, options.lastModified, true),
    acceptRanges: checkFlag(`${where}: acceptRanges`, options.acceptRanges, true),
    precompressed: checkFlag(`${where}: precompressed`, options.precompressed, false),
    fallback: fallbackOf(where, options.fallback, root, dotfiles),
    setHeaders: setHeaders ?? null,
    cache: checkFlag(`${where}: cache`, options.cache, true),
  }
}

function rootOf(where: string, given: unknown): string {
  const wanted = 'the path of a folder, or its file: URL'
  const isURL = given instanceof URL && given.protocol === 'file:'
  if (!isURL && (typeof given !== 'string' || given === '' || given.includes('\0'))) {
    throw bad(`${where}: root`, given, wanted)
  }
  const path = resolve(isURL ? fileURLToPath(given) : (given as string))
  try {
    // The system's own gives the case of letters that the folder has, as the paths of its files have it.
    const root = realpathSync.native(path)
    if (statSync(root).isDirectory()) return root
  } catch (error) {
    throw new VolantError('E_BAD_OPTION', `${where}: root takes a folder that exists; ${path} does not`, {
      cause: error,
    })
  }
  throw new VolantError('E_BAD_OPTION', `${where}: root takes a folder; ${path} is none`)
}

function indexOf(where: string, value: StaticOptions['index'], dotfiles: boolean): readonly string[] {
  if (value === false) return []
  const wanted = "the name of a file such as 'index.html', an array of such names, or false"
  const list = Array.isArray(value) ? value : [value ?? 'index.html']
  return checkEach(`${where}: index`, list, wanted, (name, each) => {
    if (typeof each === 'string' && !each.includes('/') && isPath(each, dotfiles)) return each
    throw bad(name, each, wanted)
  })
}

/** True for a relative path that a client could ask for as well. */
function isPath(path: string, dotfiles: boolean): boolean {
  const segments =
    path === '' || path.endsWith('/') ? null : path.split('/').map(encodeURIComponent).join('/')
  return segments !== null && namesOf(segments, dotfiles, sep === '\\') !== null
}

function extension(name: string, value: unknown): string {
  if (typeof value === 'string' && /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/.test(value)) return `.${value}`
  throw bad(name, value, "extensions without their dot, such as 'html'")
}

function cachingOf(
  where: string,
  options: StaticOptions,
): Pick<FolderSettings, 'cacheControl' | 'indexControl'> {
  const immutable = checkFlag(`${where}: immutable`, options.immutable, false)
  const wanted = `a number of seconds, at most ${year}, a year (other packages take milliseconds)`
  const given = options.maxAge
  const maxAge = given === undefined ? null : checkInteger(`${where}: maxAge`, given, [0, year], wanted)
  if (!checkFlag(`${where}: cacheControl`, options.cacheControl, true)) {
    if (immutable || maxAge !== null) {
      throw new VolantError(
        'E_BAD_OPTION',
        `${where}: maxAge and immutable are sent in Cache-Control, which cacheControl: false leaves out: give one or the other`,
      )
    }
    return { cacheControl: null, indexControl: null }
  }
  const plain = `public, max-age=${maxAge ?? 0}`
  if (!immutable) return { cacheControl: plain, indexControl: plain }
  return { cacheControl: `public, max-age=${maxAge ?? year}, immutable`, indexControl: 'public, max-age=0' }
}

function fallbackOf(where: string, value: unknown, root: string, dotfiles: boolean): string | null {
  if (value === undefined) return null
  if (typeof value !== 'string' || !isPath(value, dotfiles)) {
    throw bad(`${where}: fallback`, value, "the path of a page in the folder, such as 'index.html'")
  }
  const path = join(root, value)
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return value
  throw new VolantError('E_BAD_OPTION', `${where}: fallback takes a page that exists; ${path} does not`)
}
