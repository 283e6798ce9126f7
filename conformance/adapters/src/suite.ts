/** The behaviour of an application, on whichever adapter it runs: every adapter passes all of this. */
import { describe, test } from 'node:test'
import { type AdapterType, createApp } from 'volant'
import { aborts } from './cases/aborts.ts'
import { asyncContext } from './cases/async-context.ts'
import { authCases } from './cases/auth.ts'
import { bodies } from './cases/bodies.ts'
import { busCases } from './cases/bus.ts'
import { client } from './cases/client.ts'
import { compression } from './cases/compression.ts'
import { connectCases } from './cases/connect.ts'
import { cookies } from './cases/cookies.ts'
import { connections } from './cases/connections.ts'
import { debugCases } from './cases/debug.ts'
import { drain } from './cases/drain.ts'
import { earlyHints } from './cases/early-hints.ts'
import { errors } from './cases/errors.ts'
import { etags } from './cases/etag.ts'
import { files } from './cases/files.ts'
import { forms } from './cases/forms.ts'
import { headers } from './cases/headers.ts'
import { headerRules } from './cases/header-rules.ts'
import { inject } from './cases/inject.ts'
import { jwtCases } from './cases/jwt.ts'
import { lateReplies } from './cases/late.ts'
import { lifecycle } from './cases/lifecycle.ts'
import { limits } from './cases/limits.ts'
import { methods } from './cases/methods.ts'
import { observing } from './cases/observing.ts'
import { loggerCases } from './cases/logger.ts'
import { logCases } from './cases/log.ts'
import { metricsCases } from './cases/metrics.ts'
import { openapiCases } from './cases/openapi.ts'
import { protection } from './cases/protection.ts'
import { proxy } from './cases/proxy.ts'
import { rateLimits } from './cases/rate-limits.ts'
import { replies } from './cases/replies.ts'
import { routing } from './cases/routing.ts'
import { sharedPort } from './cases/shared-port.ts'
import { sendHooks } from './cases/send-hooks.ts'
import { sessions } from './cases/sessions.ts'
import { sse } from './cases/sse.ts'
import { sseClosing } from './cases/sse-closing.ts'
import { sseEnds } from './cases/sse-ends.ts'
import { sseSlowClients } from './cases/sse-slow-clients.ts'
import { sockets } from './cases/sockets.ts'
import { socketUpgrades } from './cases/sockets-upgrade.ts'
import { socketCloses } from './cases/sockets-close.ts'
import { hostileSockets } from './cases/sockets-hostile.ts'
import { socketLimits } from './cases/sockets-limits.ts'
import { socketTopics } from './cases/sockets-topics.ts'
import { smoke } from './cases/smoke.ts'
import { staticFolders } from './cases/static.ts'
import { staticTraversal } from './cases/static-traversal.ts'
import { streams } from './cases/streams.ts'
import { trpcCases } from './cases/trpc.ts'
import { upgrade } from './cases/upgrade.ts'
import { wsLibraries } from './cases/ws-libraries.ts'
import { Kit } from './kit.ts'

const groups = {
  routing,
  methods,
  upgrade,
  bus: busCases,
  sockets,
  'socket-upgrades': socketUpgrades,
  'socket-topics': socketTopics,
  'socket-limits': socketLimits,
  'socket-closes': socketCloses,
  'hostile-sockets': hostileSockets,
  trpc: trpcCases,
  client,
  observing,
  replies,
  headers,
  bodies,
  limits,
  errors,
  'late-replies': lateReplies,
  'send-hooks': sendHooks,
  streams,
  sse,
  'sse-slow-clients': sseSlowClients,
  'sse-ends': sseEnds,
  'sse-closing': sseClosing,
  aborts,
  'async-context': asyncContext,
  connections,
  'early-hints': earlyHints,
  smoke,
  lifecycle,
  drain,
  'shared-port': sharedPort,
  inject,
  files,
  forms,
  'static-folders': staticFolders,
  'static-traversal': staticTraversal,
  etag: etags,
  compression,
  auth: authCases,
  'rate-limits': rateLimits,
  sessions,
  jwt: jwtCases,
  connect: connectCases,
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

export interface ContractOptions {
  /** Names of the groups to run; default all. */
  groups?: (keyof typeof groups)[]
}

/** Registers the suite for one adapter with node:test; an adapter that cannot load is skipped with its reason. */
export function contract(adapter: AdapterType, chosen: ContractOptions = {}): void {
  const reason = unloadable(adapter)
  if (reason !== null) {
    test(`contract on ${adapter}`, { skip: reason }, () => {})
    return
  }
  const kit = new Kit(adapter)
  describe(`contract on ${adapter}`, () => {
    for (const [name, group] of Object.entries(groups)) {
      if (chosen.groups === undefined || chosen.groups.includes(name as keyof typeof groups)) group(kit)
    }
  })
}

/** Why the adapter cannot run here, or null. */
export function unloadable(adapter: AdapterType): string | null {
  try {
    createApp({ adapter: { type: adapter }, signals: false })
    return null
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
