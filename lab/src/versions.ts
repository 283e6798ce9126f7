/** Which release of what ran: beside the names in tables. */
import type { Run, RunEntry } from './cell.ts'
import { isOurs } from './ours.ts'

/** `uWebSockets.js 20.69.0`, `Fastify 5.12.8`, and the Node.js behind it where it is not that of most entries. */
export function titleWithVersion(entry: RunEntry, run: Run): string {
  const { title, version, runtime, package: packageName } = entry
  const usual = usualRuntime(run)
  const words = title.split(' ')
  // The title of Fastify 5 has a part of its version already.
  const short = version.startsWith(`${words.at(-1)}.`) ? words.slice(0, -1).join(' ') : title
  const versioned = packageName === null || isOurs(entry) || version === '' ? title : `${short} ${version}`
  const foreign = runtime.startsWith('Node.js') && runtime !== usual ? `, ${runtime}` : ''
  return `${versioned}${foreign}`
}

/** `Node.js 26.10.0`: what most entries ran on; empty when none ran on Node.js. */
export function usualRuntime({ entries }: Run): string {
  const counts = new Map<string, number>()
  for (const { runtime, name } of entries) {
    if (runtime.startsWith('Node.js') && !name.includes('@'))
      counts.set(runtime, (counts.get(runtime) ?? 0) + 1)
  }
  const [first] = [...counts].toSorted(([, a], [, b]) => b - a)
  return first?.[0] ?? entries.find(({ runtime }) => runtime.startsWith('Node.js'))?.runtime ?? ''
}

/** `uWebSockets.js 20.69.0, fastify 5.12.8; Node.js 26.10.0`: a line for tables whose rows have short names. */
export function versionsLine(run: Run): string {
  const named = run.entries
    .filter(({ error, version, package: name }) => error === undefined && name !== null && version !== '')
    .map(({ name, version, runtime }) => {
      const foreign = runtime !== usualRuntime(run) && runtime.startsWith('Node.js') ? ` (${runtime})` : ''
      return `${name} ${version}${foreign}`
    })
  return [usualRuntime(run), ...named].filter(Boolean).join(', ')
}

/** Gives the generators of the load: `load`, or `h2load 1.52.0`, or `load, and h2load 1.52.0 for tls-json`. */
export function generatorsOf({ settings, machine, scenarios }: Run): string {
  const version = settings.generator === 'wrk' ? machine.wrk : null
  const usual = version === null ? settings.generator : `${settings.generator} ${version}`
  const h2load = machine.h2load ? `h2load ${machine.h2load}` : 'h2load'
  const byH2load = scenarios.flatMap(({ name, variants }) => {
    const own = variants.filter(({ transport }) => transport !== undefined)
    return own.length === variants.length ? [name] : own.map((variant) => `${name}:${variant.name}`)
  })
  if (byH2load.length === 0) return usual
  return byH2load.join() === scenarios.map(({ name }) => name).join()
    ? h2load
    : `${usual}, and ${h2load} for ${byH2load.join(', ')}`
}
