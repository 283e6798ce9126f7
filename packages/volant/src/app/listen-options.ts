/** Checks the options of `listen`. */
import type { ListenOptions as ServerOptions } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkInteger, checkNames } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { type ResolvedTls, resolveTls, type TlsOptions } from '../tls/options.ts'

/** A second port, whose requests are redirected to HTTPS. */
export interface RedirectOptions {
  /** The port, 1 to 65535; usually 80. */
  port: number
  /** The host to listen at. Default: the host of the app. */
  host?: string | undefined
  /** The port to which clients are redirected. Default: the port at which the app listens. */
  httpsPort?: number | undefined
}

/** The address to listen at, and how: `port` and `host`, or `path` for a Unix socket. */
export interface ListenOptions {
  /** The port, 0 to 65535; 0, the default, selects a free one. */
  port?: number | undefined
  /** The host. Default `::` with dual stack where the machine has IPv6, else `0.0.0.0`. */
  host?: string | undefined
  /** The path of a Unix socket; a stale socket file is replaced, a live one is EADDRINUSE. */
  path?: string | undefined
  /**
   * The descriptor of a socket that listens already, from 3: `listen({ fd: 3 })` takes the first one that systemd passes. The
   * app closes it. It stands in place of `port`, `host`, `path`, `backlog`, `ipv6Only` and `reusePort`.
   */
  fd?: number | undefined
  /** The length of the accept queue; default 511. */
  backlog?: number | undefined
  /** True refuses IPv4 on `::`. Default false. */
  ipv6Only?: boolean | undefined
  /**
   * True shares the port with other processes of this user that set it too (SO_REUSEPORT): the kernel spreads new
   * connections over them. It needs Linux; `node-http` needs Node.js 22.12 or 23.1. If it is not supported `listen`
   * rejects with `E_UNSUPPORTED`. Default false.
   */
  reusePort?: boolean | undefined
  /** Encrypts connections: `{ cert, key }`. `app.setTls()` replaces it later. Default: they are not encrypted. */
  tls?: TlsOptions | undefined
  /**
   * True speaks HTTP/2 as well as HTTP/1.1: with `tls` for clients that choose it (ALPN), without `tls` for clients
   * that begin with its preface ("prior knowledge", RFC 9113 §3.3), which browsers never do. Default: true with `tls`,
   * else false. With `app.nodeServer`, whose libraries take only requests of HTTP/1.1, the default is false, and true
   * is refused.
   */
  http2?: boolean | undefined
  /**
   * Listens at a second port without TLS: `{ port: 80 }`. Requests there are redirected to HTTPS with 308, if they name
   * a host of a certificate. Others are answered with 400.
   */
  redirectHttp?: RedirectOptions | undefined
}

/** The options of `listen`, checked. */
export interface ResolvedListen {
  readonly server: ServerOptions
  readonly tls: ResolvedTls | null
  readonly redirect: RedirectOptions | null
}

const names = [
  'port',
  'host',
  'path',
  'backlog',
  'ipv6Only',
  'reusePort',
  'fd',
  'tls',
  'http2',
  'redirectHttp',
] as const

/**
 * Refuses other arguments behind a port: they would be ignored, and with ignored options of TLS the app would listen
 * without encryption.
 */
export function checkArguments(host: unknown, callback: unknown): void {
  const isHost = host === undefined || typeof host === 'string' || typeof host === 'function'
  if (isHost && (callback === undefined || typeof callback === 'function')) return
  throw bad(
    'listen',
    isHost ? callback : host,
    'its options in one object, listen({ port: 8443, tls }), and behind a port only a host and a function',
  )
}

/**
 * Gives the arguments of `listen` before the callback in one form. `lends` says that libraries get the requests from
 * `app.nodeServer`. Throws `E_BAD_OPTION`.
 */
export function resolveListen(
  target: number | ListenOptions | undefined,
  host?: string,
  lends = false,
): ResolvedListen {
  const options: ListenOptions =
    typeof target === 'object' && target !== null ? { ...target } : { port: target as number }
  checkOptionNames('listen', options, names, foreignNames.listen)
  if (host !== undefined) options.host = host
  for (const name of Object.keys(options) as (keyof ListenOptions)[])
    if (options[name] === undefined) delete options[name]
  const { tls: tlsOptions, redirectHttp, http2, ...rest } = options
  const { fd, port, path, backlog, ipv6Only, reusePort } = rest
  if (fd !== undefined) checkDescriptor(fd, rest)
  if (path !== undefined && (typeof path !== 'string' || path === ''))
    throw bad('path', path, 'the name of a socket file')
  if (path !== undefined && port !== undefined)
    throw bad('path', path, 'nothing beside port: listen on one of the two')
  if (port !== undefined) checkPort('port', port)
  checkHost('host', rest.host)
  if (backlog !== undefined) checkInteger('backlog', backlog, [1, 65_535], 'an integer from 1 to 65535')
  checkFlag('ipv6Only', ipv6Only, false)
  if (checkFlag('reusePort', reusePort, false) && path !== undefined)
    throw bad('reusePort', reusePort, 'a port beside it: a Unix socket belongs to one process')
  const speaksHttp2 = checkFlag('http2', http2, tlsOptions !== undefined && !lends)
  if (speaksHttp2 && lends)
    throw bad('http2', http2, 'false beside app.nodeServer, whose libraries take requests of HTTP/1.1 alone')
  const tls = tlsOptions === undefined ? null : resolveTls(tlsOptions, speaksHttp2)
  return {
    server: {
      ...rest,
      ...(tls !== null && { tls: tls.config }),
      ...(speaksHttp2 && { http2: true }),
    },
    tls,
    redirect: redirectHttp === undefined ? null : checkRedirect(redirectHttp, rest, tls),
  }
}

function checkRedirect(
  options: RedirectOptions,
  { path, host, port }: ServerOptions,
  tls: ResolvedTls | null,
): RedirectOptions {
  if (typeof options !== 'object' || options === null) throw bad('redirectHttp', options, '{ port: 80 }')
  checkNames('redirectHttp', options, ['port', 'host', 'httpsPort'], foreignNames.redirectHttp)
  if (tls === null)
    throw new VolantError('E_BAD_OPTION', 'redirectHttp sends clients to HTTPS, which needs tls beside it')
  if (path !== undefined)
    throw bad(
      'redirectHttp',
      options,
      'an app that listens at a port: clients cannot be sent to a socket file',
    )
  checkPort('redirectHttp.port', options.port, 1)
  checkHost('redirectHttp.host', options.host)
  if (options.httpsPort !== undefined) checkPort('redirectHttp.httpsPort', options.httpsPort, 1)
  const ownHost = options.host ?? host
  if (options.port === port && ownHost === host)
    throw new VolantError(
      'E_BAD_OPTION',
      'redirectHttp.port is the port of the app itself: choose another, usually 80',
    )
  return { ...options, host: ownHost }
}

function checkDescriptor(fd: number, rest: ListenOptions): void {
  checkInteger('fd', fd, [3, 1_048_576], 'the number of a descriptor, from 3')
  const beside = Object.keys(rest).find((name) => name !== 'fd')
  if (beside !== undefined)
    throw bad('fd', fd, `nothing beside it that says where to listen: leave ${beside} out`)
}

function checkHost(name: string, host: unknown): void {
  if (host !== undefined && typeof host !== 'string') throw bad(name, host, 'an address or host name')
}

function checkPort(name: string, port: unknown, least = 0): void {
  const cure =
    typeof port === 'string' ? ': make it one with Number(…)' : Number.isNaN(port) ? ' (is PORT set?)' : ''
  checkInteger(name, port, [least, 65_535], `an integer from ${least} to 65535${cure}`)
}
