/** Chooses the adapter that an app runs on. */
import type { Adapter, Limits } from '@volant/engine'
import { limitTable } from '../options/limits.ts'
import { VolantError } from '../errors/errors.ts'
import { printLine } from '../report/print-line.ts'
import { nativeAdapter } from './native.ts'
import { nodeHttpAdapter } from './node-http.ts'
import { uwsAdapter } from './uws.ts'

export const adapterTypes = ['native', 'node-http', 'uwebsockets'] as const
/** The name of an adapter. docs/adapters.md has a table of what each cannot do. */
export type AdapterType = (typeof adapterTypes)[number]

let announced = false

/**
 * Gives the adapter named by `type`. Without a name it gives the native engine, or node:http where the engine cannot
 * load; one line on stderr then says so, once in a process. Throws `E_ADAPTER` if the named adapter cannot be used with
 * these limits.
 */
export function chooseAdapter(type: AdapterType | undefined, limits: Limits): Adapter {
  if (type === 'node-http') return nodeHttpAdapter
  if (type === 'uwebsockets') return uwsAdapter(limits)
  const native = nativeAdapter()
  if ('adapter' in native) return native.adapter
  if (type === 'native')
    throw new VolantError('E_ADAPTER', `the native engine cannot be used: ${native.reason}`)
  if (!announced) printLine(`volant: running on node:http, because ${native.reason}`)
  announced = true
  return nodeHttpAdapter
}

const warned = new Set<string>()

/**
 * Warns on stderr, once in a process, of limits that were changed from their defaults and that the adapter cannot
 * enforce.
 */
export function warnOfUnenforced(adapter: Adapter, limits: Limits): void {
  const names = adapter.unenforced.filter(
    (name) => limits[name] !== limitTable.find((row) => row.name === name)?.default && !warned.has(name),
  )
  if (names.length === 0) return
  for (const name of names) warned.add(name)
  printLine(`volant: the adapter ${adapter.name} cannot enforce ${names.join(' and ')}`)
}
