/** The request of a handshake, as libraries written for `ws` see it: the parts of an IncomingMessage that last. */
import type { Context } from '../types/context.ts'

/** What a library gets as the request of a connection. It is no stream. */
export class UpgradeRequest {
  /** It has the path and the query, without scheme and host. */
  readonly url: string
  /** The method is always GET. */
  readonly method = 'GET'
  /** The version is always 1.1. */
  readonly httpVersion = '1.1'
  /** The fields are found by their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The same fields as name, value, name, value, …; names are in lower case. */
  readonly rawHeaders: readonly string[]
  /** It is always true: there is no body. */
  readonly complete = true
  /** The address of the client as `ctx.ip`, and whether `ctx.protocol` is https. */
  readonly socket: { readonly remoteAddress: string; readonly encrypted: boolean }

  constructor(ctx: Context) {
    this.url = ctx.url
    // Libraries read members as `headers.host`, and expect an ordinary object.
    this.headers = { ...ctx.headers }
    this.rawHeaders = Object.entries(ctx.headers).flatMap(([name, value]) =>
      value === undefined ? [] : [name, value],
    )
    this.socket = { remoteAddress: ctx.ip, encrypted: ctx.protocol === 'https' }
  }

  /** `socket` had this name before. */
  get connection(): UpgradeRequest['socket'] {
    return this.socket
  }
}
