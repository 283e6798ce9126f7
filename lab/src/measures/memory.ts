/** Resident memory: idle, loaded and after; and over a long time. From the kernel, never from the server. */
import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '../proof.ts'
import { slopeOf } from '../guards.ts'
import { readMemory } from '../readings.ts'
import type { RunningServer } from '../server.ts'
import { type Assignment, Disqualified, type Finding, loadOf, withServer } from './measurement.ts'
import { watch } from './watched.ts'

/** Of the kernel's figure: what a server says of itself may be so far off, since it is read a moment later. */
const honest = 0.15

/** VeloxTS: idle after a second, the most under load, and after a rest. */
export function measureMemory(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'memory') throw new TypeError('not a memory scenario')
  const { seconds, rest } = variant.measure
  return withServer(assignment, async (server, commands) => {
    await sleep(1_000)
    const idle = readMemory(server.pid, server.mark)
    await holdAgainst(server, idle)
    let loaded = 0
    const timer = setInterval(() => (loaded = Math.max(loaded, readMemory(server.pid, server.mark))), 250)
    const load = { ...loadOf(assignment), warmup: 0 }
    const window = method.quick ? 1 : seconds
    const watched = await watch(server, assignment, { load, seconds: window }, commands).finally(() =>
      clearInterval(timer),
    )
    loaded = Math.max(loaded, watched.memory)
    await sleep((method.quick ? 1 : rest) * 1_000)
    const after = readMemory(server.pid, server.mark)
    await holdAgainst(server, after)
    const metrics = { idleRss: idle / 1e6, loadedRss: loaded / 1e6, afterRss: after / 1e6 }
    return { status: 'measured', metrics, flags: [], commands }
  })
}

/** Nessen: a reading every second under load; the slope is that of a line through the second half. */
export function measureSoak(assignment: Assignment): Promise<Finding> {
  const { variant, method } = assignment
  if (variant.measure.kind !== 'soak') throw new TypeError('not a soak')
  const seconds = method.soak ?? (method.quick ? 3 : variant.measure.seconds)
  return withServer(assignment, async (server, commands) => {
    const memory: [number, number][] = []
    const began = performance.now()
    const read = (): void => {
      memory.push([(performance.now() - began) / 1e3, readMemory(server.pid, server.mark) / 1e6])
    }
    read()
    const timer = setInterval(read, Math.min(1_000, (seconds * 1_000) / 12))
    const load = { ...loadOf(assignment), warmup: 0 }
    const { result, flags } = await watch(server, assignment, { load, seconds }, commands).finally(() =>
      clearInterval(timer),
    )
    const slope = slopeOf(memory.filter(([at]) => at >= seconds / 2))
    const metrics = {
      ...(slope !== null && { slope: slope * 60 }),
      idleRss: memory[0]?.[1] as number,
      mostRss: Math.max(...memory.map(([, megabytes]) => megabytes)),
      rate: result.requests / result.seconds,
      requests: result.requests,
      errors: result.errors,
      non2xx: result.non2xx,
    }
    return { status: 'measured', metrics, flags, commands, series: { memory } }
  })
}

/** Throws `Disqualified` when what the server says of its memory is not what the kernel says. */
async function holdAgainst(server: RunningServer, kernel: number): Promise<void> {
  const reply = await ask(server.port, { path: '/debug/memory', status: 200 })
  const said = typeof reply === 'string' ? NaN : Number(/"rss":(\d+)/.exec(reply.body.toString())?.[1])
  if (Math.abs(said - kernel) <= honest * kernel) return
  throw new Disqualified(
    `its memory endpoint says ${(said / 1e6).toFixed(1)} MB and the kernel says ${(kernel / 1e6).toFixed(1)} MB`,
  )
}
