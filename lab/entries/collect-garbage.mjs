// A full garbage collection, as the runtime offers it.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function collectGarbage() {
  if (typeof Bun !== 'undefined') return Bun.gc(true)
  // Deno has it by a flag (entry.json).
  if (typeof gc === 'undefined') {
    setFlagsFromString('--expose-gc')
    globalThis.gc = runInNewContext('gc')
  }
  // The last resort also gives pages back that are free.
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' })
}
