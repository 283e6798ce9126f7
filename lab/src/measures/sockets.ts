/** WebSockets: what a message and a delivery cost, and what one that is held keeps in memory. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Job } from '../generators/generator.ts'
import { littleFault } from '../guards.ts'
import { readOwnMemory } from '../readings.ts'
import type { RunningServer } from '../server.ts'
import { latencies } from './load.ts'
import {
  type Assignment,
  Disqualified,
  type Finding,
  generate,
  loadOf,
  windowOf,
  withServer,
} from './measurement.ts'
import { watch } from './watched.ts'

/** Each socket sends when its last message has come back. */
export function measureEcho(assignment: Assignment): Promise<Finding> {
  return withServer(assignment, async (server, commands) => {
    const [load, seconds, sockets] = [loadOf(assignment), windowOf(assignment), socketsOf(assignment)]
    const watched = await watch(server, assignment, { load, seconds, sockets }, commands)
    const { result, cpu, busy, waited, flags, memory } = watched
    const little = littleFault(result, load.connections)
    const metrics = {
      ...latencies(result),
      messageCpu: (cpu * 1e6) / result.requests,
      messageRate: result.requests / result.seconds,
      rss: memory / 1e6,
      busy: busy * 100,
      waited: waited * 100,
      requests: result.requests,
      ...(little.share !== null && { little: little.share }),
    }
    const status = little.fault === null ? ('measured' as const) : ('discarded' as const)
    return { status, ...(little.fault !== null && { reason: little.fault }), metrics, flags, commands }
  })
}

/** One sends when all others have its last message. */
export function measurePublish(assignment: Assignment): Promise<Finding> {
  return withServer(assignment, async (server, commands) => {
    const [load, seconds, sockets] = [loadOf(assignment), windowOf(assignment), socketsOf(assignment)]
    const watched = await watch(server, assignment, { load, seconds, sockets }, commands)
    const { result, cpu, busy, waited, flags, memory } = watched
    const metrics = {
      ...latencies(result),
      deliveryCpu: (cpu * 1e6) / result.requests,
      deliveryRate: result.requests / result.seconds,
      rss: memory / 1e6,
      busy: busy * 100,
      waited: waited * 100,
      requests: result.requests,
    }
    return { status: 'measured', metrics, flags, commands }
  })
}

/** Collections of garbage before memory is read, and the time between them, ms. */
const collections = 3
const between = 200
/** Before anything is held, so that code and buffers which stay are there. */
const first = { connections: 10, messages: 2_000 }

/** Memory with the sockets, less that before them; both after garbage collection. Then one more is served. */
export function measureHeld(assignment: Assignment): Promise<Finding> {
  const { method } = assignment
  return withServer(assignment, async (server, commands) => {
    const [load, sockets] = [loadOf(assignment), socketsOf(assignment)]
    const { port } = server
    const warm = { ...load, connections: first.connections, warmup: 0 }
    const greeting = { ...sockets, mode: 'echo' as const }
    await generate(method, { load: warm, port, seconds: 5, maxRequests: first.messages, sockets: greeting })
    const before = await memoryOf(server)
    let during = 0
    const result = await generate(method, {
      load,
      port,
      seconds: windowOf(assignment),
      sockets,
      onMeasured: async () => {
        during = await memoryOf(server)
      },
    })
    commands.push(result.command)
    if (result.fault !== null) throw new Disqualified(result.fault)
    if (during <= before) {
      const reason =
        'it had less memory with the sockets than before them: it gave other memory back meanwhile'
      return { status: 'discarded', reason, metrics: {}, flags: [], commands }
    }
    const metrics = {
      socketMemory: (during - before) / load.connections,
      ...(result.firstEcho !== undefined && { firstEcho: result.firstEcho }),
      idleRss: before / 1e6,
      loadedRss: during / 1e6,
    }
    return { status: 'measured', metrics, flags: [], commands }
  })
}

/** The server collects its garbage when it is asked for its count, in a scenario with `COLLECT`. */
async function memoryOf(server: RunningServer): Promise<number> {
  let done = 0
  // One that collects for longer than a count may take is asked again.
  for (let asked = 0; done < collections && asked < 2 * collections; asked += 1) {
    if ((await server.ran()) !== null) done += 1
    await sleep(between)
  }
  if (done === collections) return readOwnMemory(server.pid, server.mark)
  throw new Disqualified('it does not say how often its handlers ran (entries/ran.mjs)')
}

function socketsOf({ variant: { measure } }: Assignment): NonNullable<Job['sockets']> {
  if (!('messages' in measure)) throw new TypeError('not a scenario of WebSockets')
  return { mode: measure.kind, messages: measure.messages }
}
