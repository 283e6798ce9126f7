/** What `ctx.cookie`, `ctx.earlyHints`, `ctx.file` and `ctx.stream` take. */
import type { Readable } from 'node:stream'

/** Attributes of a cookie (RFC 6265 §4.1.2). */
export interface CookieOptions {
  /** Default `/`. */
  path?: string | undefined
  /** Default: the host that sets it, and none below it. */
  domain?: string | undefined
  /** Seconds, an integer; 0 and below end the cookie. Default: it ends with the browser's session. */
  maxAge?: number | undefined
  /** When it ends; `maxAge` is the surer way to say so. */
  expires?: Date | undefined
  /** Kept from scripts. Default true. */
  httpOnly?: boolean | undefined
  /**
   * Sent over TLS only. Default: true if the request came over it, for names with a prefix, for `sameSite: 'none'`
   * and `partitioned`; browsers refuse those without.
   */
  secure?: boolean | undefined
  /** Default `lax`. */
  sameSite?: 'strict' | 'lax' | 'none' | undefined
  /** Kept apart by the site it is embedded in (CHIPS). Default false. */
  partitioned?: boolean | undefined
  /** Which cookies a browser drops last when it has too many; not every browser looks. */
  priority?: 'low' | 'medium' | 'high' | undefined
}

/** Names and values; an array gives its name several fields. */
export type Hints = Readonly<Record<string, string | readonly string[]>>

/** Options of `ctx.file`. */
export interface FileOptions {
  /**
   * The folder the path stays in, for paths that come from clients: `..`, symbolic links that lead out of it and, unless
   * `dotfiles` says otherwise, names that begin with a dot are 404, also where a link leads to one.
   */
  root?: string | undefined
  /** Whether `root` gives away names that begin with a dot. Default false. */
  dotfiles?: boolean | undefined
  /** Sent to be saved rather than shown: under this name, or under its own with true. */
  download?: string | true | undefined
  /** Content type. Default: by the name's extension, or application/octet-stream. */
  type?: string | undefined
}

/** One part of a streamed body; strings are sent in UTF-8. */
export type Chunk = string | Uint8Array

/** What can be streamed: a web or Node.js stream, or an iterator (a generator's, too) of strings and bytes. */
export type Source =
  | ReadableStream<Chunk>
  | Readable
  | AsyncIterable<Chunk>
  | Iterable<Chunk>
  | AsyncIterator<Chunk>
  | Iterator<Chunk>

/** Options of `ctx.stream`. */
export interface StreamOptions {
  /** Default the one set by `ctx.status`, else 200. */
  status?: number | undefined
  /** Content type; default application/octet-stream unless a header set it. Null for none. */
  type?: string | null | undefined
  /** Length in bytes, if known: sent as Content-Length. */
  length?: number | undefined
}
