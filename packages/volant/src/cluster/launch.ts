/** How the process of a worker is started. */
import { existsSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { version } from '../worker/version.ts'
import type { SupervisePlan } from './options.ts'
import type { Mode } from './supervisor.ts'
import type { WorkerPlan } from './worker-process.ts'

/** The share of a container's memory that the heaps of all workers may have together. */
const heapShare = 0.75

/** The module is found anew at each start: its path may lead through a link that a deployment has moved. */
export function launchOf(plan: SupervisePlan, slot: number, mode: Mode): WorkerPlan {
  const file = resolve(plan.folder, plan.module)
  return {
    folder: plan.folder,
    file,
    args: plan.args,
    execArgv: [...process.execArgv, ...heapOptions(plan.workers), '--import', preloadOf(file)],
    table: mode.table,
    start: {
      version,
      worker: slot,
      workers: plan.workers,
      isDevelopment: mode.isDevelopment,
    },
  }
}

/**
 * Gives the URL of `worker/preload.js`: of the copy of this package that the app has, or of this one. `require.resolve`
 * would remember where a link led once.
 */
function preloadOf(file: string): string {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const found = join(folder, 'node_modules/volant', preload)
    // The worker knows itself by the path behind all links.
    if (existsSync(found)) return pathToFileURL(realpathSync(found)).href
    if (folder === dirname(folder)) break
  }
  if (existsSync(own)) return pathToFileURL(own).href
  throw new Error(
    `volant is not installed beside ${file}, and the copy that the supervisor was started from is gone: restart the supervisor`,
  )
}

const preload = 'dist/src/worker/preload.js'
/** The one of this copy, wherever a link leads later. */
const own = join(dirname(createRequire(import.meta.url).resolve('volant/package.json')), preload)

/**
 * Without an option each worker would let its heap grow as if it had the container alone. `constrainedMemory` gives a huge
 * number, or none, where there is no limit.
 */
function heapOptions(workers: number): string[] {
  const given = [...process.execArgv, process.env['NODE_OPTIONS'] ?? '']
  if (given.some((each) => /--max[-_](?:old[-_]space|heap)[-_]size/.test(each))) return []
  const limit = process.constrainedMemory() ?? 0
  if (limit <= 0 || limit >= totalmem()) return []
  return [`--max-old-space-size=${Math.floor((limit * heapShare) / workers / 2 ** 20)}`]
}
