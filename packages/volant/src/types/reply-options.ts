/** The options of `ctx.cookie`, `ctx.file` and `ctx.stream`, and the headers of `ctx.earlyHints`. */
import type { Readable } from 'node:stream'

/** The attributes of a cookie (RFC 6265 §4.1.2). */
export interface CookieOptions {
  /** The path that the cookie is for. Default `/`. */
  path?: string | undefined
  /** The domain that the cookie is for. Default: the host that sets it, without its subdomains. */
  domain?: string | undefined
  /**
   * The life of the cookie in seconds, an integer; 0 and below delete it. Default: it ends with the browser's session.
   */
  maxAge?: number | undefined
  /** The time when the cookie ends. `maxAge` does not depend on the client's clock. */
  expires?: Date | undefined
  /** True hides the cookie from scripts. Default true. */
  httpOnly?: boolean | undefined
  /**
   * True restricts the cookie to TLS. Default: true if the request came over TLS, for names with a prefix, for
   * `sameSite: 'none'` and for `partitioned`; browsers refuse those without.
   */
  secure?: boolean | undefined
  /** The requests from other sites that carry the cookie. Default `lax`. */
  sameSite?: 'strict' | 'lax' | 'none' | undefined
  /** True keeps one cookie for each site that embeds this one (CHIPS). Default false. */
  partitioned?: boolean | undefined
  /** The order in which a browser drops cookies when it has too many. Not every browser follows it. */
  priority?: 'low' | 'medium' | 'high' | undefined
}

/** The headers by name; an array is sent as several fields. */
export type Hints = Readonly<Record<string, string | readonly string[]>>

/** The options of `ctx.file`. */
export interface FileOptions {
  /**
   * The folder that the path may not leave, for paths that come from clients. `..`, symbolic links that lead out of it
   * and, unless `dotfiles` says otherwise, names that begin with a dot are answered with 404, also where a link leads
   * to one.
   */
  root?: string | undefined
  /** True serves names that begin with a dot. Default false. */
  dotfiles?: boolean | undefined
  /** Asks the client to save the file rather than show it: under this name, or with true under the file's own. */
  download?: string | true | undefined
  /** The content type. Default: by the name's extension, or application/octet-stream. */
  type?: string | undefined
}

/** A part of a streamed body; strings are sent in UTF-8. */
export type Chunk = string | Uint8Array

/** A source that can be streamed: a web or Node.js stream, or an iterator (a generator's, too) of strings and bytes. */
export type Source =
  | ReadableStream<Chunk>
  | Readable
  | AsyncIterable<Chunk>
  | Iterable<Chunk>
  | AsyncIterator<Chunk>
  | Iterator<Chunk>

/** The options of `ctx.stream`. */
export interface StreamOptions {
  /** The status. Default: the one that `ctx.status` set, else 200. */
  status?: number | undefined
  /** The content type; null sends none. Default: application/octet-stream unless a header set another. */
  type?: string | null | undefined
  /** The length in bytes, if it is known. It is sent as Content-Length. */
  length?: number | undefined
}
