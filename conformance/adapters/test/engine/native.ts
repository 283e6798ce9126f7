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

/** What an adapter sees of a request: for what no user can ask of a context. */
export function exchangeOf(ctx: Context<never> | Context): Exchange {
  return (ctx as unknown as { exchange: Exchange }).exchange
}
