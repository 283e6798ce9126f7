/**
 * `npm test`: builds what is stale, then runs the tests that a change needs. `npm run test:all` runs every test, the long
 * ones in full; `npm test -- --ci` runs those that `.ci/run` has for each change.
 *
 * - `npm test -- cors engine`: the files whose path has one of these words, and no Rust.
 * - `npm test -- cors --name 'a preflight'`: of these files the cases whose name has this text.
 * - `npm test -- --changed`: the files that reach what changed since HEAD (`--changed=REV`: since REV), the nearest first.
 * - `npm test -- --watch cors`: the same again whenever a source changes.
 *
 * scripts/testing/suites.mjs says what runs where and why. A line for each file as it ends; what a file printed is shown
 * when a test in it failed. The end names each test that failed and the slowest files, and the last line is the sum alone:
 * `N passed, N failed, N skipped`. The exit code is 1 when anything failed.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build, missingToolchain } from './build.mjs'
import { root } from './command.mjs'
import { changedFiles, nearest } from './testing/changed.mjs'
import { jobsOf, testFiles } from './testing/jobs.mjs'
import { Report } from './testing/report.mjs'
import { isStopped, runJob } from './testing/run-job.mjs'
import { compileRust, runDocTests, runRust } from './testing/rust.mjs'
import { isMeasuring, isWaiting, longest, runsIn, slowReason } from './testing/suites.mjs'
import { watchSources } from './testing/watch.mjs'

/** The seconds that files took, by path; they decide what begins first. */
const timesPath = join(root, '.cache/test-times.json')

const options = optionsOf(process.argv.slice(2))

/** How many processes run at a time: some of them wait for sockets, disks and processes, and long forms wait more. */
const lanes = availableParallelism() + (options.scope === 'all' ? 2 : 1)

if (options.error !== undefined) {
  console.error(options.error)
  process.exitCode = 2
} else {
  // The tests that have a short and a long form ask for it.
  if (options.scope === 'all') process.env.TEST_ALL = '1'
  await runOnce()
  if (options.watch) await watchSources(runOnce)
}

function optionsOf(given) {
  const options = { scope: 'always', watch: false, changed: null, name: null, words: [] }
  for (let at = 0; at < given.length; at++) {
    const each = given[at]
    if (each === '--all' || each === '--ci') options.scope = each.slice(2)
    else if (each === '--watch') options.watch = true
    else if (each === '--changed') options.changed = 'HEAD'
    else if (each.startsWith('--changed=')) options.changed = each.slice('--changed='.length)
    else if (each === '--name' && given[at + 1] !== undefined) options.name = given[++at]
    else if (each.startsWith('--'))
      options.error = `npm test has no option ${each}: give words, --name TEXT, --changed[=REV], --watch, --ci or --all`
    else options.words.push(each)
  }
  if (
    options.scope !== 'always' &&
    (options.words.length > 0 || options.changed !== null || options.name !== null)
  )
    options.error = `npm test: --${options.scope} says which files run, and so do words, --name and --changed: give one of them`
  return options
}

async function runOnce() {
  const folder = mkdtempSync(join(tmpdir(), 'volant-test-'))
  const report = new Report()
  try {
    await runChosen(report, folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  report.end({ reasonOf: slowReason, longest })
  process.exitCode = report.failed === 0 ? 0 : 1
}

async function runChosen(report, folder) {
  // Without words all of Rust is tested, and compiling it takes longer than anything else: it begins at once.
  const isWhole = options.words.length === 0 && options.changed === null && options.name === null
  const compiled = isWhole && missingToolchain() === null ? compileRust() : null
  try {
    // The lab's tests need the load generator, and Linux.
    await build({ load: process.platform === 'linux' })
  } catch (error) {
    return report.fail('what is stale is built', error.message)
  }
  const times = readTimes()
  const { files, rust } = choose(testFiles(), times)
  if (files.length === 0 && !rust) {
    return report.fail('there are tests', `the path of no test file has ${options.words.join(' or ')}`)
  }
  const measuring = files.filter(({ source }) => isMeasuring(source))
  const others = files.filter(({ source }) => !isMeasuring(source))
  const task = (job) => async () => report.add(job.name, await runJob(job, folder, options.name))
  const queue = jobsOf(others, times).map(task)
  const last = []
  if (rust) queue.unshift(() => testRust(compiled, queue, last, report))
  await Promise.all(Array.from({ length: lanes }, () => runEach(queue)))
  const waiting = measuring.filter(({ source }) => isWaiting(source))
  await Promise.all(jobsOf(waiting, times).map((job) => task(job)()))
  const alone = measuring.filter(({ source }) => !isWaiting(source))
  await runEach([...last, ...jobsOf(alone, times).map(task)])
  keepTimes({ ...times, ...report.times })
}

function choose(files, times) {
  const { scope, words, changed, name } = options
  if (changed !== null) return nearest(files, changedFiles(changed), times)
  if (words.length > 0)
    return { files: files.filter(({ source }) => words.some((word) => source.includes(word))), rust: false }
  return { files: files.filter(({ source }) => runsIn(source, scope)), rust: name === null }
}

async function testRust(compiled, queue, last, report) {
  const missing = missingToolchain()
  if (missing !== null) {
    const name = `Rust tests: ${missing}`
    return report.add(name, { results: [{ source: name, name, result: 'skipped', error: '' }] })
  }
  const { binaries, error, wall } = await (compiled ?? compileRust())
  if (error !== undefined) return report.fail('the crates compile', error)
  console.log(`  Tests of Rust compiled, ${(wall / 1_000).toFixed(1)} s`)
  for (const each of binaries) {
    const into = isMeasuring(each.name) ? last : queue
    into.push(async () => report.add(each.name, await runRust(each)))
  }
  if (options.scope === 'all') queue.push(async () => report.add('doc tests', await runDocTests()))
  // Lanes that found the queue empty have ended: this one takes what came since, as wide as all of them.
  await Promise.all(Array.from({ length: lanes }, () => runEach(queue)))
}

async function runEach(queue) {
  for (let next = queue.shift(); next !== undefined && !isStopped(); next = queue.shift()) await next()
}

function readTimes() {
  try {
    return JSON.parse(readFileSync(timesPath, 'utf8'))
  } catch {
    return {}
  }
}

function keepTimes(times) {
  mkdirSync(dirname(timesPath), { recursive: true })
  writeFileSync(timesPath, JSON.stringify(times, null, 1))
}
