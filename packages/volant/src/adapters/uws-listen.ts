/** Listens with uWebSockets.js, which reports no reason when that fails. */
import { lookup } from 'node:dns/promises'
import { createServer, isIP } from 'node:net'
import { type Address, addressOf, type ListenOptions } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { explain, type ListenError, listenOn, refuseSharing } from './node-listen.ts'
import type { ListenSocket, Uws, UwsApp } from './uws-load.ts'

/** Listens as `options` say. Errors are those of node:net for the same address. */
export async function listenUws(
  uws: Uws,
  app: UwsApp,
  options: ListenOptions,
): Promise<{ socket: ListenSocket; address: Address }> {
  if (options.tls !== undefined || options.http2 === true) {
    throw new VolantError(
      'E_UNSUPPORTED',
      `the adapter uwebsockets has no ${options.tls === undefined ? 'HTTP/2' : 'TLS'}: use the adapter native or node-http, or let a proxy in front of the app have it`,
    )
  }
  for (const name of ['fd', 'backlog', 'ipv6Only'] as const) {
    if (options[name])
      throw new VolantError('E_ADAPTER', `the adapter uwebsockets cannot set ${name}: leave it out`)
  }
  refuseSharing('uwebsockets', options)
  const { path, port = 0, reusePort = false } = options
  if (path !== undefined) {
    // uWebSockets.js would take over the socket file of a running server.
    await probe(options)
    const socket = await new Promise<ListenSocket | false>((resolve) => app.listen_unix(resolve, path))
    if (socket === false) throw explain(new Error('uWebSockets.js refused it'), options)
    return { socket, address: { port: null, host: null, path, url: `unix:${path}` } }
  }
  for (const host of await hostsOf(options)) {
    const socket = await attempt(uws, app, host, port, reusePort)
    if (socket === false) continue
    return { socket, address: addressOf({ host, port: uws.us_socket_local_port(socket) }) }
  }
  await probe(options).catch((error: ListenError) => {
    throw explain(error.cause, options)
  })
  throw explain(new Error('uWebSockets.js refused it, node:net did not'), options)
}

/**
 * Listens on one address. uWebSockets.js would pick a port without SO_REUSEADDR, and nobody could listen there again
 * until its last connection is forgotten. So node:net picks the port; another process may take it in between.
 */
async function attempt(
  uws: Uws,
  app: UwsApp,
  host: string,
  port: number,
  reusePort: boolean,
): Promise<ListenSocket | false> {
  for (let tries = port === 0 ? 5 : 1; tries > 0; tries--) {
    const free = port === 0 ? await probe({ host }).catch(() => null) : port
    if (free === null) return false
    // Without this flag uWebSockets.js sets SO_REUSEPORT.
    const flags = reusePort ? 0 : uws.LIBUS_LISTEN_EXCLUSIVE_PORT
    const socket = await new Promise<ListenSocket | false>((resolve) =>
      app.listen(host, free, flags, resolve),
    )
    if (socket !== false) return socket
  }
  return false
}

/** Gives the addresses to try: without a host both families, or IPv4 alone where there is no IPv6. */
async function hostsOf(options: ListenOptions): Promise<string[]> {
  const { host } = options
  if (host === undefined) return ['::', '0.0.0.0']
  if (isIP(host) !== 0) return [host]
  try {
    return [(await lookup(host)).address]
  } catch (error) {
    throw explain(error, options)
  }
}

/** Listens with node:net, without sharing, and stops. Gives the port. Rejects with a `ListenError`. */
async function probe(options: ListenOptions): Promise<number | null> {
  const server = createServer()
  const { port } = await listenOn(server, { ...options, reusePort: false })
  await new Promise((resolve) => server.close(resolve))
  return port
}
