/** An app in a worker: the supervisor has its listeners, and tells it when to leave. */
import type { Address, Limits, ListenOptions, Server } from '@volant/engine'
import { explain } from '../adapters/node-listen.ts'
import { VolantError } from '../errors/errors.ts'
import type { GivenListener } from '../worker/messages.ts'
import type { RequestApp } from '../types/request.ts'
import { type Supervision, supervision } from '../worker/supervision.ts'

/**
 * The apps of this worker that listen, or did: what they have counted stays. Each has the place that it has in the other
 * workers.
 */
export const listeningApps: RequestApp['serving'][] = []

/** How many listeners without a fixed address this worker has asked for. */
let ordinal = 0

/** A server that listens by the supervisor, and how it stops. */
export interface SupervisedServer {
  readonly address: Address
  /** Resolves when no more connections come. */
  stop(): Promise<void>
}

/**
 * Has the supervisor listen, and `server` serve what comes. Rejects with the errors of `listen`, and with
 * `E_UNSUPPORTED` on an adapter that cannot.
 */
export async function listenBySupervisor(
  supervisor: Supervision,
  adapter: string,
  server: Server,
  options: ListenOptions,
): Promise<SupervisedServer> {
  if (adapter === 'uwebsockets') {
    throw new VolantError(
      'E_UNSUPPORTED',
      'the adapter uwebsockets cannot get connections from a supervisor: run its app without volant start, or on another adapter',
    )
  }
  const { port = 0, host = null, path = null, backlog = 511, ipv6Only = false } = options
  const accepts = adapter !== 'native'
  const isEncrypted = options.tls !== undefined
  const isOpen = path === null && port === 0
  const wanted = {
    port,
    host,
    path,
    backlog,
    ipv6Only,
    accepts,
    isEncrypted,
    ordinal: isOpen ? ordinal++ : 0,
  }
  let given: GivenListener
  try {
    given = await supervisor.listen(wanted)
  } catch (error) {
    throw explain(error, options)
  }
  const { tls, http2 } = options
  const kept = { ...(tls !== undefined && { tls }), ...(http2 !== undefined && { http2 }) }
  const { listener } = given
  const source = accepts
    ? { fd: supervisor.receiveListener() }
    : { passed: { ...given, connections: supervisor.connections } }
  try {
    const address = await server.listen({ ...kept, ...source })
    // An adapter on node:net may not know the file of a socket that it did not bind.
    if (given.path !== null) Object.assign(address, { path: given.path, url: `unix:${given.path}` })
    // Not before: nobody would take them.
    if (!accepts) supervisor.take(listener)
    return { address, stop: () => supervisor.unlisten(listener) }
  } catch (error) {
    await supervisor.unlisten(listener)
    throw error
  }
}

/** The most that connections of an old version may take once the new one serves, in milliseconds. */
const developmentShutdown = 500

/** Gives the limits that an app has here: under `volant dev` an old version does not wait for clients that stay connected. */
export function limitsHere(limits: Limits): Limits {
  if (supervision()?.isDevelopment !== true) return limits
  return { ...limits, drainIdle: 0, shutdownTimeout: Math.min(limits.shutdownTimeout, developmentShutdown) }
}
