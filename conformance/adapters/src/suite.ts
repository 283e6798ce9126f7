/** The behaviour of an application, on whichever adapter it runs: every adapter passes all of this. */
import { describe, test } from 'node:test'
import { thrownMessage } from '@volant/test-kit'
import { type AdapterType, createApp, type TlsOptions } from 'volant'
import { aborts } from './cases/aborts/index.ts'
import { asyncContext } from './cases/async-context.ts'
import { authCases } from './cases/auth.ts'
import { bodies } from './cases/bodies/index.ts'
import { busCases } from './cases/bus.ts'
import { client } from './cases/client/index.ts'
import { compression } from './cases/compression/index.ts'
import { connectCases } from './cases/connect/index.ts'
import { connectTimeLimits } from './cases/connect/time-limits.ts'
import { cookies } from './cases/cookies.ts'
import { connections } from './cases/connections/index.ts'
import { connectionsTimeLimits } from './cases/connections/time-limits.ts'
import { debugCases } from './cases/debug.ts'
import { drain } from './cases/drain/index.ts'
import { drainTimeLimits } from './cases/drain/time-limits.ts'
import { earlyHints } from './cases/early-hints/index.ts'
import { errors } from './cases/errors/index.ts'
import { errorsTimeLimits } from './cases/errors/time-limits.ts'
import { etags } from './cases/etag.ts'
import { files } from './cases/files/index.ts'
import { forms } from './cases/forms/index.ts'
import { formsTimeLimits } from './cases/forms/time-limits.ts'
import { headers } from './cases/headers.ts'
import { headerRules } from './cases/header-rules.ts'
import { inject } from './cases/inject.ts'
import { jwtCases } from './cases/jwt/index.ts'
import { lateReplies } from './cases/late.ts'
import { lifecycle } from './cases/lifecycle/index.ts'
import { unixSocketTimeLimits } from './cases/lifecycle/time-limits.ts'
import { limits } from './cases/limits/index.ts'
import { timeLimits } from './cases/limits/time-limits.ts'
import { methods } from './cases/methods/index.ts'
import { observing } from './cases/observing.ts'
import { loggerCases } from './cases/logger.ts'
import { logCases } from './cases/log.ts'
import { metricsCases } from './cases/metrics.ts'
import { openapiCases } from './cases/openapi.ts'
import { protection } from './cases/protection/index.ts'
import { proxy } from './cases/proxy/index.ts'
import { rateLimits } from './cases/rate-limits.ts'
import { replies } from './cases/replies/index.ts'
import { routing } from './cases/routing/index.ts'
import { inheritedSockets } from './cases/inherited-sockets.ts'
import { sharedPort } from './cases/shared-port.ts'
import { sendHooks } from './cases/send-hooks.ts'
import { sessions } from './cases/sessions.ts'
import { sse } from './cases/sse.ts'
import { sseClosing } from './cases/sse-closing.ts'
import { sseEnds } from './cases/sse-ends.ts'
import { sseTimeLimits } from './cases/sse-time-limits.ts'
import { sseSlowClients } from './cases/sse-slow-clients.ts'
import { sockets } from './cases/sockets/index.ts'
import { socketUpgrades } from './cases/sockets-upgrade/index.ts'
import { socketCloses } from './cases/sockets-close.ts'
import { hostileSockets } from './cases/sockets-hostile/index.ts'
import { socketLimits } from './cases/sockets-limits/index.ts'
import { socketTimeLimits } from './cases/sockets-limits/time-limits.ts'
import { socketTopics } from './cases/sockets-topics/index.ts'
import { duplex } from './cases/duplex/streams.ts'
import { duplexTimeLimits } from './cases/duplex/time-limits.ts'
import { smoke } from './cases/smoke.ts'
import { staticFolders } from './cases/static/index.ts'
import { staticTraversal } from './cases/static-traversal.ts'
import { streams } from './cases/streams/index.ts'
import { trailers } from './cases/trailers/index.ts'
import { http2Cases, http2TimeLimits } from './cases/http2/index.ts'
import { http2Sockets } from './cases/http2-sockets.ts'
import { tlsCases } from './cases/tls/index.ts'
import { tlsTimeLimits } from './cases/tls/time-limits.ts'
import { trpcCases } from './cases/trpc.ts'
import { upgrade } from './cases/upgrade.ts'
import { wsLibraries } from './cases/ws-libraries/index.ts'
import { Kit } from './kit.ts'

const groups = {
  routing,
  tls: tlsCases,
  'tls-time-limits': tlsTimeLimits,
  http2: http2Cases,
  'http2-time-limits': http2TimeLimits,
  'http2-sockets': http2Sockets,
  methods,
  upgrade,
  bus: busCases,
  sockets,
  'socket-upgrades': socketUpgrades,
  'socket-topics': socketTopics,
  'socket-limits': socketLimits,
  'sockets-time-limits': socketTimeLimits,
  'socket-closes': socketCloses,
  'hostile-sockets': hostileSockets,
  trpc: trpcCases,
  client,
  observing,
  replies,
  headers,
  bodies,
  limits,
  'limits-time-limits': timeLimits,
  errors,
  'errors-time-limits': errorsTimeLimits,
  'late-replies': lateReplies,
  'send-hooks': sendHooks,
  streams,
  trailers,
  duplex,
  'duplex-time-limits': duplexTimeLimits,
  sse,
  'sse-time-limits': sseTimeLimits,
  'sse-slow-clients': sseSlowClients,
  'sse-ends': sseEnds,
  'sse-closing': sseClosing,
  aborts,
  'async-context': asyncContext,
  connections,
  'connections-time-limits': connectionsTimeLimits,
  'early-hints': earlyHints,
  smoke,
  lifecycle,
  'lifecycle-time-limits': unixSocketTimeLimits,
  drain,
  'drain-time-limits': drainTimeLimits,
  'shared-port': sharedPort,
  'inherited-sockets': inheritedSockets,
  inject,
  files,
  forms,
  'forms-time-limits': formsTimeLimits,
  'static-folders': staticFolders,
  'static-traversal': staticTraversal,
  etag: etags,
  compression,
  auth: authCases,
  'rate-limits': rateLimits,
  sessions,
  jwt: jwtCases,
  connect: connectCases,
  'connect-time-limits': connectTimeLimits,
  cookies,
  protection,
  'header-rules': headerRules,
  proxy,
  metrics: metricsCases,
  openapi: openapiCases,
  logger: loggerCases,
  log: logCases,
  debug: debugCases,
  'ws-libraries': wsLibraries,
}

type Group = keyof typeof groups

/** The groups that do not run over TLS, each with its reason. */
const notOverTls: Partial<Record<Group, string>> = {
  tls: 'its apps listen with TLS of their own',
  'tls-time-limits': 'its apps listen with TLS of their own',
  http2: 'its apps listen with and without TLS of their own',
  'http2-time-limits': 'its apps listen with and without TLS of their own',
  'http2-sockets': 'its apps listen with and without TLS of their own',
  'shared-port': 'who gets a connection is settled before anything is encrypted',
  'hostile-sockets': 'it takes long, and frames are what they are without TLS',
  'static-traversal': 'it takes long, and paths are what they are without TLS',
  proxy: 'its rows name addresses of http',
  client: 'it names addresses of http',
  lifecycle: 'it names addresses of http, and has processes of its own without TLS',
  'lifecycle-time-limits': 'its app listens on a Unix socket',
  drain: 'it has processes of its own without TLS',
  'drain-time-limits': 'it runs where `drain` does',
  'rate-limits': 'it asks by addresses of http',
  jwt: 'the servers of its key sets are asked by http',
}

/** The groups that do not run over HTTP/2, each with its reason. */
const notOverHttp2: Partial<Record<Group, string>> = {
  tls: 'its cases choose the version themselves',
  'tls-time-limits': 'its cases choose the version themselves',
  http2: 'its cases choose the version themselves',
  'http2-time-limits': 'its cases choose the version themselves',
  'http2-sockets': 'its cases choose the version themselves',
  trailers: 'its cases choose the version themselves',
  duplex: 'its cases choose the version themselves',
  'duplex-time-limits': 'its cases choose the version themselves',
  upgrade: 'Upgrade is a field of HTTP/1.1',
  'socket-upgrades': 'Upgrade is a field of HTTP/1.1; `http2-sockets` has what HTTP/2 has in its place',
  sockets: 'its WebSockets open with Upgrade; `http2-sockets` has those of HTTP/2',
  'socket-topics': 'its WebSockets open with Upgrade; `http2-sockets` has those of HTTP/2',
  'socket-limits': 'its WebSockets open with Upgrade; `http2-sockets` has those of HTTP/2',
  'sockets-time-limits': 'its WebSockets open with Upgrade; `http2-sockets` has those of HTTP/2',
  'socket-closes': 'its WebSockets open with Upgrade; `http2-sockets` has those of HTTP/2',
  'hostile-sockets': 'its WebSockets open with Upgrade',
  'ws-libraries': 'its WebSockets open with Upgrade',
  bus: 'its WebSockets open with Upgrade',
  trpc: 'its clients open WebSockets with Upgrade, or ask by HTTP/1.1',
  client: 'its client asks by fetch, which speaks HTTP/1.1',
  'static-traversal': 'it writes requests of HTTP/1 in bytes',
  etag: 'it writes requests of HTTP/1 in bytes',
  'early-hints': 'it reads interim replies of HTTP/1.1 in bytes',
  connections: 'it is about connections of HTTP/1.1 that are kept, piped and closed',
  'connections-time-limits': 'it is about connections of HTTP/1.1',
  'shared-port': 'who gets a connection is settled before a version is spoken',
  aborts: 'its clients end connections of HTTP/1.1',
  streams: 'it reads chunks of HTTP/1.1, and ends connections; `duplex` runs over HTTP/2',
  'sse-ends': 'its clients end connections of HTTP/1.1',
  lifecycle: 'it has processes of its own with HTTP/1.1',
  'lifecycle-time-limits': 'it ends connections of HTTP/1.1',
  drain: 'it has processes of its own with HTTP/1.1',
  'drain-time-limits': 'its clients speak HTTP/1.1',
  limits: 'its sizes are those of heads of HTTP/1.1',
  'limits-time-limits':
    'its clients write requests of HTTP/1 in bytes; `http2-time-limits` has those of HTTP/2',
  proxy: 'it has field values that HTTP/2 refuses',
  'sse-closing': 'it takes long, and counts connections of HTTP/1.1',
  'static-folders': 'it takes long, and replies of files are in `files`',
  debug: 'it takes long, and its replies are ordinary ones',
}

export interface ContractOptions {
  /** Names of the groups to run; default all. */
  groups?: Group[]
  /** Names of the groups to leave out. */
  without?: Group[]
  /** The options of TLS with which all apps of the cases listen. */
  tls?: TlsOptions
  /**
   * True asks with HTTP/2; without TLS by prior knowledge. Requests that only HTTP/1 can have use HTTP/1 at the same
   * port.
   */
  http2?: boolean
  /** True runs the groups about time limits where the adapter's clock cannot be held, and no others. */
  timeLimits?: boolean
}

/** Registers the suite for one adapter with node:test; an adapter that cannot load is skipped with its reason. */
export function contract(adapter: AdapterType, chosen: ContractOptions = {}): void {
  const reason = unloadable(adapter)
  if (reason !== null) {
    test(`contract on ${adapter}`, { skip: reason }, () => {})
    return
  }
  // Some clients, such as fetch, take no options from the cases. The variable has them accept any issuer of a
  // certificate.
  if (chosen.tls !== undefined) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  const kit = new Kit(adapter, chosen.tls, chosen.http2 === true ? '2' : '1.1')
  const over = chosen.http2 === true ? ' over HTTP/2' : chosen.tls === undefined ? '' : ' over TLS'
  describe(`contract on ${adapter}${over}`, () => {
    const all = Object.entries(groups).filter(
      ([name]) => runs(name as Group, chosen) && isTimed(name, adapter) === (chosen.timeLimits === true),
    )
    for (const [, group] of partOf(all)) group(kit)
  })
}

/** True if the cases of a group wait for real time on the adapter. */
function isTimed(name: string, adapter: AdapterType): boolean {
  return adapter !== 'native' && name.endsWith('-time-limits')
}

/** Gives every n-th of these, beginning with the k-th, where TEST_PART is `k/n`: so processes divide them. */
function partOf<T>(all: readonly T[]): T[] {
  const [part = 1, parts = 1] = (process.env['TEST_PART'] ?? '1/1').split('/').map(Number)
  return all.filter((_, at) => at % parts === part - 1)
}

function runs(name: Group, { groups: only, without, tls, http2 }: ContractOptions): boolean {
  if (without?.includes(name)) return false
  if (tls !== undefined && notOverTls[name] !== undefined) return false
  if (http2 === true && notOverHttp2[name] !== undefined) return false
  return only?.includes(name) ?? true
}

/** Why the adapter cannot run here, or null. */
export function unloadable(adapter: AdapterType): string | null {
  return thrownMessage(() => createApp({ adapter: { type: adapter }, signals: false }))
}
