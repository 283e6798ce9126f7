// What every worker of `lab roll`, `kill`, `balance` and the other commands about clusters does, whatever serves it: it
// says in files of the folder SCRATCH that it serves and which POSTs it ran, so that the lab knows that after a SIGKILL.
import { spawn } from 'node:child_process'
import { existsSync, openSync, renameSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isMainThread, threadId } from 'node:worker_threads'

const folder = process.env.SCRATCH ?? '.'
export const host = '127.0.0.1'
export const port = Number(process.env.PORT ?? 0)
/** In each reply: which worker made it. Threads of one process have a number each. */
export const worker = isMainThread ? String(process.pid) : `${process.pid}.${threadId}`

// A version that cannot start: `lab kill --who start` asks for it.
if (existsSync(join(folder, 'broken'))) throw new Error('this version is broken, as the lab asked for it')

const posts = openSync(join(folder, `posts-${worker}`), 'a')

/** The number that stands at the beginning of a path behind its slash, or of a body. */
export function nonceIn(text) {
  return Number(/^\/?(\d+)/.exec(text)?.[1])
}

/** Half of the requests take a few milliseconds, so that some are in flight whenever a worker ends. */
export async function answer(method, nonce) {
  if (method === 'POST') writeSync(posts, `${nonce}\n`)
  if (nonce % 2 === 0) await sleep(nonce % 16)
  return String(nonce)
}

/** Leaves a process whose parent has ended: who adopts it must wait for it. */
export function orphan() {
  spawn('sh', ['-c', 'sleep 0.2 &'], { stdio: 'ignore' })
  return 'left'
}

/** Says that this worker accepts requests. The file appears whole. */
export function ready() {
  const file = join(folder, `worker-${worker}`)
  writeFileSync(`${file}.new`, '')
  renameSync(`${file}.new`, file)
}
