/** What the tests of the native engine need from the process they run in. */
import { readdirSync } from 'node:fs'
import type { Exchange } from '@volant/engine'
import { type Context, createApp } from 'volant'

/** Why the native engine cannot be tested here; false when it can. */
export const skip: string | false = reason()

function reason(): string | false {
  try {
    createApp({ adapter: { type: 'native' }, signals: false })
    return false
  } catch (error) {
    return (error as Error).message
  }
}

/** File descriptors this process has open. */
export function openFiles(): number {
  // One of them is the folder's own while it is read.
  return readdirSync(process.platform === 'linux' ? '/proc/self/fd' : '/dev/fd').length - 1
}

/** A reproducible source of numbers in [0, 1): mulberry32. */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
}

/** What an adapter sees of a request: for what no user can ask of a context. */
export function exchangeOf(ctx: Context<never> | Context): Exchange {
  return (ctx as unknown as { exchange: Exchange }).exchange
}
