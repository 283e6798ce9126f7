/**
 * The queue of work on bodies that would hold up the event loop. Without one, 30,000 replies at once took 2.9 GB
 * (https://github.com/nodejs/node/issues/15301).
 */
import { mostJobs } from './codings.ts'

/** The jobs and bytes that may wait. What comes then is done without. */
const mostWaiting = 256
const mostBytes = 33_554_432

interface Job {
  readonly bytes: number
  run(): void
}

const waiting: Job[] = []
let bytesWaiting = 0
let running = 0

/**
 * Runs `work` when its turn comes; gives null where too much waits. The promise resolves to null where nobody waits
 * for the result any more, as `isDue` says when the turn comes.
 */
export function queued<T>(
  bytes: number,
  isDue: () => boolean,
  work: () => Promise<T>,
): Promise<T | null> | null {
  if (running < mostJobs) return start(work)
  if (waiting.length >= mostWaiting || bytesWaiting + bytes > mostBytes) return null
  return new Promise((resolve, reject) => {
    bytesWaiting += bytes
    waiting.push({
      bytes,
      run: () => {
        if (isDue()) start(work).then(resolve, reject)
        else {
          resolve(null)
          next()
        }
      },
    })
  })
}

async function start<T>(work: () => Promise<T>): Promise<T> {
  running++
  try {
    return await work()
  } finally {
    running--
    next()
  }
}

function next(): void {
  const job = waiting.shift()
  if (job === undefined) return
  bytesWaiting -= job.bytes
  job.run()
}
