import { readFileSync } from 'node:fs'

/** What one case sends and what must come back. Bytes are strings in which each character is one octet (latin1). */
export type Step =
  | { readonly bytes: string }
  /** Go on once this many replies have arrived in all, interim ones included. */
  | { readonly replies: number }
  /** Nothing may arrive for this many milliseconds. */
  | { readonly quiet: number }
  /** Half-close: the client has sent everything it will. */
  | { readonly fin: true }

/** What the handler of `/echo` and `/p/*` reports; only the members named here are compared. */
export interface Saw {
  readonly method?: string
  /** The canonical path. */
  readonly path?: string
  /** The query as sent, without `?`. */
  readonly query?: string
  readonly version?: '1.0' | '1.1'
  /** `ctx.host`. */
  readonly host?: string
  /** The body, one character an octet; `sha256:<hex>` past 256 octets. */
  readonly body?: string
  /** Octets of the body. */
  readonly length?: number
  /** Field values by lower-case name; `null` means the field must be absent. */
  readonly headers?: Readonly<Record<string, string | null>>
}

export interface ReplyExpected {
  readonly status: number | readonly number[]
  readonly saw?: Saw
  /** Reply fields by lower-case name; `null` means absent, `*` means present with any value. */
  readonly headers?: Readonly<Record<string, string | null>>
  /** The body octet for octet. */
  readonly body?: string
  /** The trailer fields: lower-case name, value, lower-case name, value, …; undefined if there are none. */
  readonly trailers?: readonly string[]
  /** The reply answers HEAD: it has no body whatever its fields say. */
  readonly head?: true
  /** The reply may be missing (a truncated request may be answered with 400 or just closed, RFC 9112 §8). */
  readonly optional?: true
}

/**
 * The connection after the last reply. `open`: a probe request sent then is answered. `closed`: the server has closed its
 * side. `either`: one of the two. `any`: as `either`, but no probe is sent since the request's body is still owed.
 */
export type End = 'open' | 'closed' | 'either' | 'any'

export interface Expected {
  readonly replies: readonly ReplyExpected[]
  readonly end: End
  /** 100 (Continue): `may` since a server that already has content may leave it out (RFC 9110 §10.1.1). */
  readonly interim: 'must' | 'may' | 'never'
}

export interface Case {
  readonly group: string
  readonly id: string
  /** RFC clause, CVE or attack class. */
  readonly ref: string
  readonly steps: readonly Step[]
  readonly expected: Expected
  /** Cuts are tried up to this octet; what follows is a canary that must never be answered. */
  readonly cutLimit: number
  /** False where the case itself is about timing. */
  readonly cut: boolean
}

/** One request as data: accepted when it has no status. One character of `bytes` is one octet (latin1). */
interface Row {
  readonly id: string
  readonly ref: string
  readonly bytes: string
  readonly saw?: Saw
  /** The statuses that may refuse it; a canary follows it on the connection. */
  readonly status?: number | readonly number[]
  /** Why the native engine refuses it (`crates/wire/src/refusal.rs`). */
  readonly code?: string
}

/** A request smuggled behind a refused one or inside a body. The server counts how often its handler ran: never. */
export const canary = 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'

/** Replaced by a name unique to each run of a case, so that runs in parallel do not share server state. */
export const runToken = 'RUNTOKEN'

/** One group of cases: a file of `src/cases`. */
export class Group {
  readonly cases: Case[] = []
  readonly name: string
  readonly ref: string

  constructor(name: string, ref: string) {
    this.name = name
    this.ref = ref
  }

  /** Adds the rows of `corpus/<name>.json`. The tests of `crates/wire` read the same files. */
  corpus(): this {
    const file = new URL(`../../corpus/${this.name}.json`, import.meta.url)
    for (const row of JSON.parse(readFileSync(file, 'utf8')) as Row[]) {
      if (row.status === undefined) this.accept(row.id, row.bytes, row.saw, row.ref)
      else this.refuse(row.id, row.bytes, row.status, row.ref)
    }
    return this
  }

  /** Answered 200 by the echo handler; the connection stays open. */
  accept(id: string, bytes: string, saw: Saw = {}, ref: string = this.ref): void {
    this.exchange(id, bytes, [{ status: 200, saw }], 'open', { ref })
  }

  /** Refused with `status` and closed; the canary behind it is not answered. */
  refuse(id: string, bytes: string, status: number | readonly number[] = 400, ref: string = this.ref): void {
    this.exchange(id, bytes + canary, [{ status }], 'closed', { ref, cutLimit: bytes.length + 2 })
  }

  exchange(
    id: string,
    send: string | readonly Step[],
    replies: readonly ReplyExpected[],
    end: End,
    options: { ref?: string; interim?: Expected['interim']; cut?: boolean; cutLimit?: number } = {},
  ): void {
    const steps = typeof send === 'string' ? [{ bytes: send }] : send
    this.cases.push({
      group: this.name,
      id: `${this.name}/${id}`,
      ref: options.ref ?? this.ref,
      steps,
      expected: { replies, end, interim: options.interim ?? 'never' },
      cutLimit: options.cutLimit ?? Number.POSITIVE_INFINITY,
      cut: options.cut ?? true,
    })
  }
}

/** `GET <target>` with a Host, and more field lines each ending in CRLF. */
export function get(target: string, fields = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n`
}

/** `POST /echo` with a Host; the framing is up to `fields`. */
export function post(fields: string, body = '', target = '/echo'): string {
  return `POST ${target} HTTP/1.1\r\nHost: a\r\n${fields}\r\n${body}`
}

/** `POST /echo` with a chunked body given as raw octets. */
export function chunked(body: string, target = '/echo'): string {
  return post('Transfer-Encoding: chunked\r\n', body, target)
}

/** `hello` as one chunk and the last chunk. */
export const helloChunks = '5\r\nhello\r\n0\r\n\r\n'
