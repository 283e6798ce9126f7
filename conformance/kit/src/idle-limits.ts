/** Times, in milliseconds, for which a client may be idle or stand still within a request. */
export interface IdleLimits {
  headersTimeout?: number | undefined
  requestTimeout?: number | undefined
  keepAliveTimeout?: number | undefined
  http2IdleTimeout?: number | undefined
}

/**
 * Gives the limits of an app in a test: those given, and ten minutes for the others, which a client on a busy machine does
 * not reach. uWebSockets.js has limits of its own, which no option changes, and a warning on stderr for one that would.
 */
export function idleLimits(adapter: string, given: IdleLimits = {}): IdleLimits {
  if (adapter === 'uwebsockets') return { requestTimeout: 600_000, ...given }
  // A default of headersTimeout follows requestTimeout; what is set must be shorter than it.
  const request = given.requestTimeout ?? 600_000
  const headers = { headersTimeout: request || 600_000, requestTimeout: request }
  return { ...headers, keepAliveTimeout: 600_000, http2IdleTimeout: 600_000, ...given }
}
