/**
 * Waiting for a condition. What is waited for in vain fails after a time that only a hang takes (`Patience`), so a slow
 * machine passes too. All of this keeps to the real clock while a test holds another (`testClock`).
 */
import { Patience } from './patience.ts'

/** Between two looks at a condition, in ms. */
const look = 2
/** How often the event loop goes round where a test says that nothing happens. */
const rounds = 20

const { setTimeout, clearTimeout, setImmediate } = globalThis

/** A promise and the function that settles it. */
export function deferred<T = void>(): { promise: Promise<T>; resolve: (value: T) => void } {
  let resolve!: (value: T) => void
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

/** Keeps the event loop from running for `ms`, so that what comes meanwhile is not read. */
export function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Waits until `test` holds. `pause`, in ms, is for a look that costs others the processor. */
export async function eventually(
  test: () => boolean | Promise<boolean>,
  what: string,
  pause = look,
): Promise<void> {
  const patience = new Patience()
  while (!(await test())) {
    if (patience.left() === 0) throw new Error(`never: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

/** Waits until `value` is above zero and stays the same for 30 looks: until whoever raises it waits. */
export async function unchanging(value: () => number, what: string): Promise<void> {
  let last = 0
  let looks = 0
  await eventually(() => {
    const current = value()
    looks = current === last && current > 0 ? looks + 1 : 0
    last = current
    return looks >= 30
  }, what)
}

/** Lets the event loop go round: what is ready in this process runs, and what its sockets have received is read. */
export async function turns(count = rounds): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Fails if `promise` hangs. */
export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const patience = new Patience()
  const late = new Promise<never>((_, reject) => {
    const look = (): void => {
      const left = patience.left()
      if (left > 0) timer = setTimeout(look, left)
      // A process that stood still runs its timers before it reads what came.
      else void turns().then(() => reject(new Error(`never: ${what}`)))
    }
    look()
  })
  try {
    return await Promise.race([promise, late])
  } finally {
    clearTimeout(timer)
  }
}
