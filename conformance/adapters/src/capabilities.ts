/** What not every adapter can do. A case that needs such a thing is skipped where it is missing, with the reason. */
import type { AdapterType } from 'volant'

/** Why `uwebsockets` lacks each; `docs/adapters.md` has the same table. */
const lackedByUws = {
  'http-1.0': 'uWebSockets.js answers HTTP/1.0 with 505',
  'target-forms': 'uWebSockets.js answers the absolute form, `OPTIONS *` and CONNECT with 505',
  pipelining: 'uWebSockets.js closes when a request arrives while the one before it waits for its reply',
  'half-close': 'uWebSockets.js closes when the client ends its sending side',
  interim: 'uWebSockets.js cannot send anything ahead of a reply; ctx.earlyHints throws E_UNSUPPORTED',
  trailers:
    'uWebSockets.js refuses trailers of requests with 505 and sends none; ctx.trailer throws E_UNSUPPORTED',
  'upload-pressure':
    'uWebSockets.js reads on while a reply waits for its client: a streamed body is bounded by maxBodySize alone',
  'late-100': 'uWebSockets.js sends 100 Continue before the app sees the request',
  'chunk-extensions': 'uWebSockets.js answers chunk extensions with 400',
  'malformed-body': 'uWebSockets.js answers a malformed chunk itself; to the handler the client left',
  'past-98-fields': 'uWebSockets.js answers more than 98 header fields with 431',
  'own-refusals': 'uWebSockets.js answers a malformed head with a page that names it and its version',
  'streamed-head':
    'uWebSockets.js sends the head of a stream with its first chunk; an empty one has a length',
  'last-chunk':
    'uWebSockets.js cannot end a stream together with its connection: streams of events that a close ends have no last chunk',
  headersTimeout: 'uWebSockets.js has a time of its own, about 10 s, and closes without a reply',
  keepAliveTimeout: 'uWebSockets.js has a time of its own, about 10 s',
  maxConnectionAge: 'uWebSockets.js does not say which connection a request came by',
  maxConnectionsPerAddress: 'uWebSockets.js does not report new connections',
  'idle-connections':
    'uWebSockets.js does not say which connections are idle: they are closed, half a head too, when no reply is awaited',
  lingering: 'uWebSockets.js closes for good: a request that crosses the end meets a reset',
  'socket-faults':
    'uWebSockets.js closes without a close frame what breaks the protocol or is too long: both sides get 1006; the mask bit is not checked',
  'socket-codes':
    'uWebSockets.js takes close codes of the client from 1012 to 3999 for malformed: both sides get none',
  'socket-fragments': 'uWebSockets.js does not count the frames of a message; its bytes are limited',
  'socket-floods':
    'uWebSockets.js resets a client that sends and does not read what comes back, in place of making it wait',
  'socket-early-frames': 'uWebSockets.js loses frames that come before the reply to the upgrade, or closes',
  'socket-close-time':
    'uWebSockets.js waits 4 s for the answer to a close frame; the hook close runs without it',
  'socket-full-publish':
    'uWebSockets.js counts published messages itself: past maxSocketBuffer by one the client is reset, without 1013',
  tls: 'uWebSockets.js takes files of certificates alone; listen({ tls }) throws E_UNSUPPORTED',
  http2: 'uWebSockets.js has no HTTP/2; listen({ http2 }) throws E_UNSUPPORTED',
  'http2-sockets': 'uWebSockets.js has no HTTP/2; WebSockets come by HTTP/1.1 alone',
  unref: 'what uWebSockets.js listens on keeps the process alive; unref() throws E_ADAPTER',
} as const

export type Capability = keyof typeof lackedByUws

const lacking: Readonly<Record<AdapterType, Partial<Record<Capability, string>>>> = {
  native: {},
  'node-http': {
    'http2-sockets':
      'ws takes over connections of HTTP/1.1 alone; node:http2 does not say that it has WebSockets',
  },
  uwebsockets: lackedByUws,
}

/** What the adapter cannot do, and why. */
export function lackedBy(adapter: AdapterType): Partial<Record<Capability, string>> {
  return lacking[adapter]
}
