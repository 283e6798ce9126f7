/** Files of tests, and the processes in which they run. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../command.mjs'
import { longest, slowReason, suiteOf } from './suites.mjs'

/** How many files one process runs at most: a failure of one costs the time of all of them. */
const mostShared = 150

/** All compiled test files whose source exists: `tsc -b` leaves the output of deleted files behind. */
export function testFiles() {
  return workspaces().flatMap((workspace) => {
    const dist = join(root, workspace, 'dist')
    if (!existsSync(dist)) return []
    return readdirSync(dist, { recursive: true })
      .filter((name) => name.endsWith('.test.js') && !name.includes('node_modules'))
      .map((name) => ({ source: `${workspace}/${name.replace(/\.js$/, '.ts')}`, compiled: join(dist, name) }))
      .filter(({ source }) => existsSync(join(root, source)))
      .toSorted((one, other) => (one.source < other.source ? -1 : 1))
  })
}

/**
 * The jobs that run these files, each a process: `{ name, files, env }`. `times` has the seconds that files took before, by
 * path; the longest begin first, so that none runs on when all others have ended.
 */
export function jobsOf(files, times) {
  const shared = new Map()
  const jobs = []
  for (const file of files) {
    const { process: kind = 'own', parts = 1, group } = suiteOf(file.source)
    if (kind === 'shared') {
      if (!shared.has(group)) shared.set(group, [])
      shared.get(group).push(file)
      continue
    }
    for (let part = 1; part <= parts; part++) {
      const name = parts === 1 ? file.source : `${file.source} (part ${part} of ${parts})`
      jobs.push({ name, files: [file], env: parts === 1 ? {} : { TEST_PART: `${part}/${parts}` } })
    }
  }
  for (const [group, its] of shared) jobs.push(...sharedJobs(group, its))
  return jobs.toSorted((one, other) => expected(other, times) - expected(one, times))
}

/**
 * Files that share processes. Who runs before whom depends on nothing but the paths, so that what one leaves behind is
 * found on every machine or on none.
 */
function sharedJobs(group, files) {
  const count = Math.min(files.length, Math.max(2, Math.ceil(files.length / mostShared)))
  return Array.from({ length: count }, (_, at) => ({
    name: count === 1 ? `${group} (${files.length} files)` : `${group} (process ${at + 1} of ${count})`,
    files: files.filter((_, index) => index % count === at),
    env: {},
    isShared: true,
  }))
}

/** How long a file takes that was never run: those that the list of suites names as slow begin first. */
function timeOf({ source }, times) {
  return times[source] ?? (slowReason(source) === undefined ? 1 : longest / 1_000)
}

function expected({ name, files }, times) {
  return times[name] ?? files.reduce((sum, file) => sum + timeOf(file, times), 0)
}

function workspaces() {
  const { workspaces } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return workspaces.flatMap((pattern) => {
    if (!pattern.endsWith('/*')) return [pattern]
    const group = pattern.slice(0, -2)
    return readdirSync(join(root, group), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${group}/${entry.name}`)
      .toSorted()
  })
}
