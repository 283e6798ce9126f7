/** One build at a time per checkout: a lock file that names its holder and outlives no crash. */
// proper-lockfile has had no release since 4.1.2 and brings three packages (docs/decisions/0013-what-libraries-do.md).
import {
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The holder touches its lock this often, in ms. */
const beat = 5_000
/** A lock not touched for this long, in ms, is stale even if some process has its pid: pids are reused. */
const staleAfter = 60_000
/** How long a process that took over a stale lock waits, in ms, to see that no other did so at the same moment. */
const settle = 200

/** Runs `work` while holding the lock file `path`. Waits as long as a live process holds it. */
export async function withLock(path, work) {
  await acquire(path)
  const timer = setInterval(() => touch(path), beat)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (holder(path) === process.pid) rmSync(path, { force: true })
  }
}

async function acquire(path) {
  mkdirSync(dirname(path), { recursive: true })
  const own = `${path}.${process.pid}`
  for (let told = false; ;) {
    writeFileSync(own, `${process.pid}\n`)
    if (link(own, path)) return rmSync(own)
    if (isStale(path)) {
      renameSync(own, path)
      await sleep(settle)
      if (holder(path) === process.pid) return
      continue
    }
    if (!told)
      console.log(`Waiting for process ${holder(path) ?? '(just ended)'}, which is building (${path})`)
    told = true
    await sleep(300)
  }
}

/** A lock file appears with its pid in it, or not at all: link() neither overwrites nor shows a half-written file. */
function link(from, to) {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

function holder(path) {
  try {
    return Number(readFileSync(path, 'utf8'))
  } catch {
    return null
  }
}

function isStale(path) {
  const pid = holder(path)
  if (pid === null) return false
  try {
    process.kill(pid, 0)
    return Date.now() - statSync(path).mtimeMs > staleAfter
  } catch (error) {
    return error.code === 'ESRCH'
  }
}

function touch(path) {
  const now = new Date()
  try {
    utimesSync(path, now, now)
  } catch {
    // Taken over while this process was suspended; `withLock` then leaves the new holder's file alone.
  }
}
