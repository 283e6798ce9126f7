import type { Adapter } from '@volant/engine'

/** The native engine, or why it cannot be used here. */
export function nativeAdapter(): { adapter: Adapter } | { reason: string } {
  return { reason: 'the engine is not built' }
}
