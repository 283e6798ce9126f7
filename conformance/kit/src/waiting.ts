/** Waiting for a condition. Each of these fails after a time that only a hang takes, so a slow machine passes too. */
import { setTimeout as sleep } from 'node:timers/promises'

/** For how long a condition may not hold before the test fails, in ms. */
const patience = 30_000

/** A promise and the function that settles it. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Waits until `test` holds; asks every 2 ms. */
export async function eventually(test: () => boolean, what: string): Promise<void> {
  const deadline = Date.now() + patience
  while (!test()) {
    if (Date.now() > deadline) throw new Error(`never: ${what}`)
    await sleep(2)
  }
}

/** Waits until `value` is above zero and stays the same for 30 looks, 2 ms apart: until whoever raises it waits. */
export async function unchanging(value: () => number, what: string): Promise<void> {
  let last = 0
  let looks = 0
  await eventually(() => {
    const now = value()
    looks = now === last && now > 0 ? looks + 1 : 0
    last = now
    return looks >= 30
  }, what)
}

/** Fails if `promise` takes longer than `ms`. */
export async function within<T>(promise: Promise<T>, ms: number, what: string): Promise<T> {
  const cancel = new AbortController()
  const late = sleep(ms, undefined, { signal: cancel.signal }).then(() => {
    throw new Error(`${what} took longer than ${ms} ms`)
  })
  late.catch(() => {})
  try {
    return await Promise.race([promise, late])
  } finally {
    cancel.abort()
  }
}
