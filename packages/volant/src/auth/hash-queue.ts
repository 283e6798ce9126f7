/** The queue of hashes: each takes a thread of the pool that also reads files, for up to half a second. */
import { refusal } from '../errors/errors.ts'

/** The threads of the pool are four unless UV_THREADPOOL_SIZE says otherwise. */
const mostRunning = 2
const mostWaiting = 100

const waiting: (() => void)[] = []
let running = 0

/** Runs `work` when its turn comes. Rejects with 503 `E_PASSWORD_QUEUE` where too many wait. */
export async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= mostRunning) {
    if (waiting.length >= mostWaiting) {
      throw refusal('E_PASSWORD_QUEUE', 'Too many passwords wait to be checked', { 'retry-after': '5' })
    }
    // Who ends gives its place to who waits.
    await new Promise<void>((resolve) => waiting.push(resolve))
  } else running++
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}
