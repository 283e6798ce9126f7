/** A request's head as adapters written in JavaScript keep it: the checks before dispatch, and the fields. */
import { AsyncResource } from 'node:async_hooks'
import { type AbortReason, type Host, methods } from '@volant/engine'
import { Bag } from '../bag.ts'
import type { ErrorCode } from '../errors.ts'
import { canonicalPath, Router } from '../router.ts'

/** Of these the first stands, as node:http has it; a second one is dropped. */
const single = new Set(
  (
    'age authorization content-length content-type etag expires from host if-modified-since if-unmodified-since ' +
    'last-modified location max-forwards proxy-authorization referer retry-after server user-agent'
  ).split(' '),
)

const knownMethods: ReadonlySet<string> = new Set(methods)

/** `requireManualDestroy` spares a finalisation entry per request. */
const resourceOptions = { requireManualDestroy: true } as const

/** The route table of a host, for adapters without the engine's. */
export function routerOf(host: Host): Router {
  const router = new Router(host.router)
  host.routes.forEach(({ method, pattern }, id) => router.add(method, pattern, id))
  return router
}

/** The part of an exchange that does not depend on where its bytes come from. */
export abstract class Head extends AsyncResource {
  readonly method: string
  path = ''
  query = ''
  /** Route id or `Miss`, and the allowed methods, as `Host.dispatch` takes them. */
  id = 0
  allow = 0
  /** Bytes of the body by Content-Length; −1 if chunked, 0 without a body. */
  declaredLength = 0
  /** The request has Expect: 100-continue. */
  expects = false

  aborted = false
  halfClosed = false
  onAbort: ((reason: AbortReason) => void) | null = null
  onDrain: (() => void) | null = null

  protected readonly raw: string[]
  #params: readonly string[] = none

  constructor(method: string, raw: string[]) {
    super('VolantExchange', resourceOptions)
    this.method = method
    this.raw = raw
  }

  /** Finds the route; gives the code of the refusal if the request is to be refused without one, else null. */
  admit(target: string, host: Host, router: Router): ErrorCode | null {
    const { limits } = host
    if (!knownMethods.has(this.method)) return 'E_METHOD_UNKNOWN'
    if (target.length > limits.maxUrlLength) return 'E_TARGET_TOO_LONG'
    const overflow = this.#readFields(limits.maxHeaders, limits.maxHeaderLine)
    if (overflow !== null) return overflow
    const path = this.#splitTarget(target)
    if (path === null) return 'E_BAD_REQUEST'
    this.path = path
    const found = router.find(this.method, path)
    this.id = found.id
    this.allow = found.allow
    const params = found.params
    this.#params = params
    for (let at = 0; at < params.length; at++) {
      if ((params[at] as string).length > limits.maxParamLength) return 'E_PARAM_TOO_LONG'
    }
    if (found.id >= 0 && this.declaredLength > (host.routes[found.id]?.maxBodySize ?? 0))
      return 'E_BODY_TOO_LARGE'
    return null
  }

  /** Limits of the fields, and the three the adapter itself needs; one pass. */
  #readFields(maxHeaders: number, maxLine: number): ErrorCode | null {
    const { raw } = this
    let hosts = 0
    if (raw.length > maxHeaders * 2) return 'E_TOO_MANY_FIELDS'
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at] as string
      const value = raw[at + 1] as string
      // ': ' lies between the two.
      if (name.length + value.length + 2 > maxLine) return 'E_FIELD_LINE_TOO_LONG'
      if (name.length === 14 && name.toLowerCase() === 'content-length') this.declaredLength = Number(value)
      else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') this.declaredLength = -1
      else if (name.length === 4 && name.toLowerCase() === 'host') {
        // RFC 9112 §3.2: a second Host is an error; node:http takes it.
        if (++hosts > 1) return 'E_HOST_REPEATED'
      } else if (name.length === 6 && name.toLowerCase() === 'expect') {
        if (value.toLowerCase() !== '100-continue') return 'E_EXPECTATION'
        this.expects = true
      }
    }
    return null
  }

  /** Sets `query`; gives the canonical path, or null if the target is none (RFC 9112 §3.2). */
  #splitTarget(target: string): string | null {
    const mark = target.indexOf('?')
    const before = mark === -1 ? target : target.slice(0, mark)
    if (mark !== -1) {
      this.query = target.slice(mark + 1)
      // oxlint-disable-next-line no-control-regex -- they are what is looked for
      if (/[\x00-\x20\x7f-\uffff#]/.test(this.query)) return null
    }
    if (before.charCodeAt(0) === 0x2f) return canonicalPath(before)
    if (target === '*') return this.method === 'OPTIONS' ? '*' : null
    const absolute = /^https?:\/\/[^/?#]+/i.exec(before)?.[0]
    return absolute === undefined ? null : canonicalPath(before.slice(absolute.length) || '/')
  }

  header(name: string): string | undefined {
    const { raw } = this
    let found: string | undefined
    for (let at = 0; at < raw.length; at += 2) {
      const key = raw[at] as string
      if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
      const value = raw[at + 1] as string
      if (found === undefined) found = value
      else if (!single.has(name)) found += (name === 'cookie' ? '; ' : ', ') + value
    }
    return found
  }

  headers(): Record<string, string> {
    const { raw } = this
    const fields = new Bag() as Record<string, string>
    for (let at = 0; at < raw.length; at += 2) {
      const name = (raw[at] as string).toLowerCase()
      const value = raw[at + 1] as string
      const before = fields[name]
      if (before === undefined) fields[name] = value
      else if (!single.has(name)) fields[name] = before + (name === 'cookie' ? '; ' : ', ') + value
    }
    return fields
  }

  rawHeaders(): string[] {
    return [...this.raw]
  }

  param(index: number): string | undefined {
    const value = this.#params[index]
    return value === undefined || !value.includes('%') ? value : decodeURIComponent(value)
  }

  /** The client closed its sending side: it may still read, so the reply is sent, but who waits is told. */
  hangUp(): void {
    if (this.halfClosed || this.aborted) return
    this.halfClosed = true
    this.notify('client')
  }

  /** The exchange is over: nothing is sent any more. */
  protected markAborted(reason: AbortReason): void {
    if (this.aborted) return
    this.aborted = true
    this.notify(reason)
  }

  private notify(reason: AbortReason): void {
    if (this.onAbort !== null) this.runInAsyncScope(this.onAbort, undefined, reason)
  }
}

const none: readonly string[] = []
