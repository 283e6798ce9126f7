/** Authenticated encryption of small texts by the addon. It needs no engine that runs. */
import { loadAddon, type TextSealer } from './load.ts'

/**
 * Makes a sealer of derived keys, the newest first: 32 bytes of each key, and 6 of its id. Gives null where the addon
 * does not load.
 */
export function nativeSealer(derived: Uint8Array): TextSealer | null {
  const loaded = loadAddon()
  return 'addon' in loaded ? (loaded.addon.sealer?.(derived) ?? null) : null
}
