/** Proof of equal work, before anything is measured. */
import { randomUUID } from 'node:crypto'
import { forgeryFault, withCredentials } from './credentials.ts'
import type { Entry } from './entry.ts'
import { Failure } from './failure.ts'
import { runLoad } from './generators/load.ts'
import { runSockets } from './generators/sockets.ts'
import { ask, silenceOf, tryProof } from './proof.ts'
import type { Scenario, Transport, Variant } from './scenario.ts'
import { type RunningServer, startServer } from './server.ts'
import { socketFault } from './socket-proof.ts'
import { compareReplies } from './transport.ts'

/** Requests of the scenario itself that are compared byte for byte, where it says nothing else. */
const usuallyCompared = 200

/**
 * Starts the entry and checks the replies to the scenario's proofs, that another path is refused (so a router runs) and
 * changed credentials too, every reply to 200 requests as they are sent under load, that its handler ran for each of them, and that it logs when
 * it must. Null when all is right, else what differs.
 */
export async function conformance(
  entry: Entry,
  scenario: Scenario,
  variant: Variant,
  core: number | null,
  port: number,
): Promise<string | null> {
  const server = await startServer({
    entry,
    program: scenario.program,
    core,
    port,
    ...(variant.environment && { environment: variant.environment }),
    traced: variant.spans !== undefined,
    ...(variant.transport && { transport: variant.transport }),
  })
  try {
    return await faultOf(server, entry, scenario, variant)
  } finally {
    await server.stop().catch(() => undefined)
  }
}

async function faultOf(
  server: RunningServer,
  entry: Entry,
  scenario: Scenario,
  variant: Variant,
): Promise<string | null> {
  const { measure, transport } = variant
  const { load } = measure
  const { compared = usuallyCompared } = scenario
  const counted = entry.javascript && variant.handler !== false
  const proofs = [...scenario.proofs, ...(variant.proofs ?? [])]
  for (const proof of proofs) {
    const fault = await tryProof(server.port, proof, transport)
    if (fault !== null) return fault
  }
  // The limit answers everything alike: it has no router, and says so.
  if (entry.javascript) {
    const missing = await ask(
      server.port,
      { path: `/${randomUUID()}/${randomUUID()}`, status: 404 },
      false,
      transport,
    )
    if (typeof missing === 'string') return missing
    // 404 is right; what else refuses (ZapJS: 500) is the framework's fault, but no sign that no router runs.
    if (missing.status < 400) return `an unknown path is answered with ${missing.status}: no router runs`
  }
  if ('messages' in measure) {
    const fault = await socketFault(server.port, measure.messages.path)
    if (fault !== null) return fault
  }
  const forgery = await forgeryFault(load, server.port)
  if (forgery !== null) return forgery
  const { credentials } = load
  const known = await withCredentials(
    { ...load, ...(credentials && { credentials: { ...credentials, count: compared } }) },
    server.port,
  )
  const before = counted ? await server.ran() : 0
  const sockets = 'messages' in measure && {
    // Those that are held are asked as the others are.
    mode: measure.kind === 'publish' ? ('publish' as const) : ('echo' as const),
    messages: measure.messages,
  }
  const overTransport = async (by: Transport) => {
    const fault = await compareReplies(by, server.port, load, compared)
    return { fault, requests: compared, replies: compared, errors: 0 }
  }
  const result = transport
    ? await overTransport(transport)
    : await (sockets ? runSockets : runLoad)({
        load: { ...known, connections: Math.min(load.connections, 10), warmup: 0, order: 'rotate' },
        port: server.port,
        seconds: 5,
        maxRequests: compared,
        verifyEvery: 1,
        core: null,
        ...(sockets && { sockets }),
      })
  if (result.fault !== null) return result.fault
  if (result.requests < compared)
    return `only ${result.requests} of ${compared} requests were answered under load`
  if (result.errors > 0) return `${result.errors} connections failed under load`
  if (counted) {
    const after = before === null ? null : await server.ran()
    if (before === null || after === null) {
      const silence = await silenceOf(server.port, transport)
      if (silence !== null) throw new Failure(`it stopped answering: ${silence}`)
      return 'it does not say how often its handlers ran (entries/ran.mjs)'
    }
    const handled = ('handled' in result ? result.handled : undefined) ?? result.replies
    if (after - before < handled)
      return `its handlers ran ${after - before} times for ${handled} ${sockets ? 'messages' : 'replies'}`
  }
  const line = logOf(scenario, variant)
  if (line !== null) {
    const wanted = scenario.proofs.length + result.replies
    for (let waited = 0; server.logged(line) < wanted && waited < 20; waited += 1) {
      await pause(100)
      // A server that stands still is not one that logs nothing: the wait goes on when it runs again.
      if (counted) await server.ran()
    }
    const lines = server.logged(line)
    if (lines < wanted) return `its log has ${lines} lines for ${wanted} requests`
  }
  if (variant.spans === 'each') {
    for (let waited = 0; server.spans() < result.replies && waited < 50; waited += 1) await pause(100)
    const spans = server.spans()
    if (spans < result.replies) return `${spans} spans of ${result.replies} requests arrived`
  }
  return null
}

/** What the line that each request of the variant must leave matches; null where it leaves none. */
export function logOf(scenario: Scenario, variant: Variant): RegExp | null {
  return variant.logs === false ? null : (scenario.logs ?? null)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds))
}
