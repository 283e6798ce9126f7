/**
 * Is loaded in a worker before the app, by `node --import`: connects it with its supervisor. In threads of a worker, and in
 * processes that it starts, it does nothing.
 */
import { isMainThread } from 'node:worker_threads'
import { supervisorAddon } from '@volant/engine/supervisor'
import { WorkerEnd } from './worker-end.ts'
import type { WorkerStart } from './messages.ts'
import { setSupervision } from './supervision.ts'
import { version } from './version.ts'

const variable = 'VOLANT_WORKER'

// A thread has the options of its process, and processes that it forks would get them.
const at = process.execArgv.indexOf(import.meta.url)
if (at > 0) process.execArgv.splice(at - 1, 2)

if (isMainThread && process.env[variable] !== undefined && process.send !== undefined) {
  const start = JSON.parse(process.env[variable]) as WorkerStart
  // Neither threads nor processes that the app starts are workers of the supervisor.
  delete process.env[variable]
  if (start.version !== version) {
    throw new Error(
      `volant: this worker has version ${version}, and its supervisor ${start.version}: restart the supervisor`,
    )
  }
  const found = supervisorAddon()
  if ('reason' in found) throw new Error(`volant: a worker cannot start, because ${found.reason}`)
  const link = new WorkerEnd(start, found.addon)
  link.open()
  setSupervision(link)
}
