/** How the process of a worker is started. */
import { existsSync } from 'node:fs'
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
    slot,
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
      supervisor: process.pid,
    },
  }
}

/** Gives the URL of `worker/preload.js`: of the copy of this package that the app has, or of this one. */
function preloadOf(file: string): string {
  const beside = (from: string) =>
    join(dirname(createRequire(from).resolve('volant/package.json')), 'dist/src/worker/preload.js')
  try {
    const found = beside(file)
    if (existsSync(found)) return pathToFileURL(found).href
  } catch {
    // The app does not import the package by its name.
  }
  return pathToFileURL(beside(import.meta.url)).href
}

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
