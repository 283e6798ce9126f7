/** The head of a request, for adapters written in JavaScript: the checks before dispatch, and the headers. */
import { AsyncResource } from 'node:async_hooks'
import { type AbortReason, combine, type Host, methods, Miss, wideBag } from '@volant/engine'
import type { ErrorCode } from '../errors/errors.ts'
import { isHost } from '../routing/host.ts'
import { canonicalPath, endsInWildcard } from '../routing/path.ts'
import { type Found, RouteTable } from '../routing/router.ts'

/** `requireManualDestroy` saves a finalisation entry for each request. */
const resourceOptions = { requireManualDestroy: true } as const

/** The route table of a host, for adapters that do not have the engine's. */
export class Routes {
  readonly router: RouteTable
  /** The routes of WebSockets; null without any. */
  readonly sockets: RouteTable | null
  /**
   * The routes whose path has no parameters, by target and method. A target that is such a path needs neither a check
   * nor a walk. The map is no larger than the route table, since nothing else is kept in it.
   */
  readonly fixed: ReadonlyMap<string, Map<string, Found>>

  constructor(host: Host) {
    this.router = new RouteTable(host.router)
    // No route has the last two methods. They are answered as if other methods of the path had routes.
    const known = [...methods, ...host.router.methods, 'TRACE', 'CONNECT']
    this.fixed = new Map(known.map((method) => [method, new Map()]))
    this.sockets = host.routes.some(({ socket }) => socket !== undefined) ? new RouteTable(host.router) : null
    for (const [id, { method, pattern, socket }] of host.routes.entries()) {
      const table = socket === undefined ? this.router : (this.sockets as RouteTable)
      table.add(method, pattern, id)
    }
  }
}

/** The part of an exchange that does not depend on where its bytes come from. */
export abstract class Head extends AsyncResource {
  readonly method: string
  /** The request target as sent. */
  abstract readonly target: string
  abstract readonly httpVersion: '1.0' | '1.1' | '2'
  path = ''
  query = ''
  /** The route id or `Miss`, and the allowed methods, as `Host.dispatch` takes them. */
  id = 0
  allow = 0
  /** The bytes of the body by Content-Length; −1 for a chunked body, 0 without a body. */
  declaredLength = 0
  /** True where the request has Expect: 100-continue. */
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

  /** Finds the route. Gives the code of the refusal if the request is refused before it reaches the app, else null. */
  admit(target: string, host: Host, routes: Routes): ErrorCode | null {
    const { limits } = host
    const fixed = routes.fixed.get(this.method)
    if (fixed === undefined) return 'E_METHOD_UNKNOWN'
    if (target.length > limits.maxUrlLength) return 'E_TARGET_TOO_LONG'
    const refusal = this.#readFields(limits.maxHeaders, limits.maxHeaderLine)
    if (refusal !== null) return refusal
    const asksForWebSocket = this.id === Miss.upgradeRequired
    const known = asksForWebSocket ? undefined : fixed.get(target)
    if (known !== undefined) {
      this.path = target
      this.id = known.id
    } else {
      const path = this.#splitTarget(target)
      if (path === null) return 'E_BAD_REQUEST'
      // Percent-encoding a character makes the path longer.
      if (path.length > limits.maxUrlLength) return 'E_TARGET_TOO_LONG'
      this.path = path
      const found = asksForWebSocket ? findSocket(routes, path) : routes.router.find(this.method, path)
      this.id = found.id
      this.allow = found.allow
      const { params } = found
      this.#params = params
      for (let at = 0; at < params.length; at++) {
        if ((params[at] as string).length <= limits.maxParamLength) continue
        // The rest of a path is bounded by maxUrlLength.
        const rest = at === params.length - 1 && endsInWildcard(host.routes[found.id]?.pattern ?? '')
        if (!rest) return 'E_PARAM_TOO_LONG'
      }
      if (
        !asksForWebSocket &&
        found.id >= 0 &&
        params.length === 0 &&
        fixed.size < host.routes.length &&
        path === target &&
        host.routes[found.id]?.pattern === target
      ) {
        fixed.set(target, found)
      }
    }
    if (
      this.declaredLength > 0 &&
      this.id >= 0 &&
      this.declaredLength > (host.routes[this.id]?.maxBodySize ?? 0)
    ) {
      return 'E_BODY_TOO_LARGE'
    }
    return null
  }

  /**
   * Checks the limits of the headers and reads the few that the adapter itself needs, in one pass. Sets `id` for a
   * WebSocket.
   */
  #readFields(maxHeaders: number, maxLine: number): ErrorCode | null {
    const { raw } = this
    let hosts = 0
    let websocket = false
    if (raw.length > maxHeaders * 2) return 'E_TOO_MANY_FIELDS'
    for (let at = 0; at < raw.length; at += 2) {
      const name = raw[at] as string
      const value = raw[at + 1] as string
      // The line has ': ' between name and value.
      if (name.length + value.length + 2 > maxLine) return 'E_FIELD_LINE_TOO_LONG'
      // Length and first letter are compared before the name, since most headers are not among these.
      const first = name.charCodeAt(0) | 0x20
      if (name.length === 4) {
        if (first !== letter.h || name.toLowerCase() !== 'host') continue
        // A second Host is an error, and so is a Host that is not an authority (RFC 9112 §3.2). node:http accepts both.
        if (++hosts > 1) return 'E_HOST_REPEATED'
        if (value !== goodHost) {
          if (!isHost(value)) return 'E_HOST_SYNTAX'
          goodHost = value
        }
      } else if (name.length === 6) {
        if (first !== letter.e || name.toLowerCase() !== 'expect') continue
        if (value.toLowerCase() !== '100-continue') return 'E_EXPECTATION'
        this.expects = true
      } else if (name.length === 7) {
        if (first === letter.u && name.toLowerCase() === 'upgrade') websocket ||= namesWebSocket.test(value)
      } else if (name.length === 14) {
        if (first === letter.c && name.toLowerCase() === 'content-length') this.declaredLength = Number(value)
      } else if (name.length === 17) {
        if (first !== letter.t || name.toLowerCase() !== 'transfer-encoding') continue
        const refusal = this.#checkCoding(value)
        if (refusal !== null) return refusal
        this.declaredLength = -1
      }
    }
    if (websocket && this.method === 'GET' && this.httpVersion === '1.1') {
      if (namesUpgrade.test(this.header('connection') ?? '')) this.id = Miss.upgradeRequired
      // node:http, which looks for Host (RFC 9112 §3.2), does not where it lets go of the connection.
      if (hosts === 0) return 'E_HOST_MISSING'
    }
    return null
  }

  /**
   * Refuses any Transfer-Encoding but a single `chunked`, and any in HTTP/1.0 (RFC 9112 §6.1). node:http accepts more.
   */
  #checkCoding(value: string): ErrorCode | null {
    if (this.httpVersion === '1.0') return 'E_CODING_VERSION'
    if (this.declaredLength === -1) return 'E_CODING_SYNTAX'
    const coding = value.toLowerCase()
    if (coding === 'chunked') return null
    return codings.test(coding) && !/chunked,.*chunked/.test(coding) ? 'E_CODING_UNKNOWN' : 'E_CODING_SYNTAX'
  }

  /** Sets `query` and gives the canonical path, or null if the target is malformed (RFC 9112 §3.2). */
  #splitTarget(target: string): string | null {
    if (this.method === 'CONNECT') return this.#splitAuthority(target)
    const mark = target.indexOf('?')
    const before = mark === -1 ? target : target.slice(0, mark)
    if (mark !== -1) {
      this.query = target.slice(mark + 1)
      // oxlint-disable-next-line no-control-regex -- they are what is looked for
      if (/[\x00-\x20\x7f-\uffff#]/.test(this.query)) return null
    }
    if (target === '*') return this.method === 'OPTIONS' ? '*' : null
    return pathIn(before)
  }

  /** CONNECT is about the server, as `*` is. It takes only an authority with a port (RFC 9112 §3.2.3). */
  #splitAuthority(target: string): string | null {
    // The bytes after the head were meant for a tunnel.
    this.declaredLength = 0
    return /:\d+$/.test(target) && isHost(target) ? '*' : null
  }

  get authority(): string {
    const { target } = this
    if (this.method === 'CONNECT') return target
    const authority = target.charCodeAt(0) === 0x2f ? undefined : absolute.exec(target)?.[1]
    return authority ?? this.header('host') ?? ''
  }

  header(name: string): string | undefined {
    const { raw } = this
    let found: string | undefined
    for (let at = 0; at < raw.length; at += 2) {
      const key = raw[at] as string
      if (key.length !== name.length || (key !== name && key.toLowerCase() !== name)) continue
      const value = raw[at + 1] as string
      if (found === undefined) found = value
      else found = combine(name, found, value)
    }
    return found
  }

  headers(): Record<string, string> {
    const { raw } = this
    const fields = wideBag()
    for (let at = 0; at < raw.length; at += 2) {
      const name = (raw[at] as string).toLowerCase()
      const value = raw[at + 1] as string
      const before = fields[name]
      fields[name] = before === undefined ? value : combine(name, before, value)
    }
    return fields
  }

  rawHeaders(): string[] {
    return [...this.raw]
  }

  isRepeated(name: string): boolean {
    const { raw } = this
    let times = 0
    for (let at = 0; at < raw.length; at += 2) {
      const key = raw[at] as string
      if (key.length === name.length && key.toLowerCase() === name) times++
    }
    return times > 1
  }

  param(index: number): string | undefined {
    const value = this.#params[index]
    return value === undefined || !value.includes('%') ? value : decodeURIComponent(value)
  }

  /** Is called when the client closed its sending side. The reply is still sent, but `onAbort` is called. */
  hangUp(): void {
    if (this.halfClosed || this.aborted) return
    this.halfClosed = true
    this.notify('client')
  }

  /** Marks the exchange as aborted: nothing is sent any more. */
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
const noSocket: Found = { id: Miss.upgradeRequired, allow: 0, params: none }

/** Finds the route of a request for a WebSocket, which no other route answers. */
function findSocket({ sockets }: Routes, path: string): Found {
  const found = sockets?.find('GET', path)
  return found === undefined || found.id < 0 ? noSocket : found
}
/** Gives the canonical path of a target without its query, in origin or absolute form; null if it is malformed. */
export function pathIn(target: string): string | null {
  if (target.charCodeAt(0) === 0x2f) return canonicalPath(target)
  const [whole = '', authority = ''] = absolute.exec(target) ?? []
  if (authority === '' || !isHost(authority)) return null
  return canonicalPath(target.slice(whole.length) || '/')
}

/** Matches the beginning of a target in absolute form, and the authority in it (RFC 9112 §3.2.2). */
const absolute = /^https?:\/\/([^/?#]+)/i
const letter = { c: 0x63, e: 0x65, h: 0x68, t: 0x74, u: 0x75 } as const

/** Matches `websocket` in a list, in any case (RFC 9110 §7.6.1, §7.8). */
export const namesWebSocket = /(?:^|,)[ \t]*websocket[ \t]*(?:,|$)/i
export const namesUpgrade = /(?:^|,)[ \t]*upgrade[ \t]*(?:,|$)/i

/** Matches a list of the names of codings. */
const codings = /^[!#$%&'*+\-.^_`|~0-9a-z]+(?:[ \t]*,[ \t]*[!#$%&'*+\-.^_`|~0-9a-z]+)*$/
/** The last value of Host that passed the check: most clients of a server send the same. */
let goodHost = ''
