/**
 * `npm test`: builds what is stale, then runs the tests that a change needs. `npm run test:all` runs every test, the
 * long ones in full. `npm test -- cors engine` runs the files whose path has one of these words, and no Rust.
 *
 * A line for each file as it ends; what a file printed is shown when a test in it failed. The end names each test that
 * failed, and the last line is the sum alone: `N passed, N failed, N skipped`. The exit code is 1 when anything failed.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build, missingToolchain } from './build.mjs'
import { root } from './command.mjs'

const all = process.argv.includes('--all')
const words = process.argv.slice(2).filter((word) => word !== '--all')

/** For `test:all` alone: these take longer than a change waits for. */
const long = [
  // Packs, installs and compiles what users install.
  'conformance/install/test/install.test.ts',
  // Uploads 300 MiB.
  'conformance/adapters/test/engine-upload-memory.test.ts',
  // Kills the service twenty times.
  'examples/reference-api/test/durability.test.ts',
  // A rate limit's time on each of three adapters.
  'examples/reference-api/test/samples.test.ts',
  // Measure servers under load.
  'lab/test/bad-runs.test.ts',
  'lab/test/cluster-processes.test.ts',
  'lab/test/conformance.test.ts',
  'lab/test/interrupted-run.test.ts',
  'lab/test/measured-guards.test.ts',
  'lab/test/open-loop.test.ts',
  'lab/test/result-files.test.ts',
  'lab/test/soak.test.ts',
  'lab/test/startup.test.ts',
]

/** These begin first, so that the longest does not run on when all others have ended. */
const first = ['conformance/', 'lab/', 'examples/reference-api/']

/** These measure time: they run one after the other when all others have ended. */
const alone = ['lab/test/measured-guards.test.ts', 'lab/test/open-loop.test.ts', 'lab/test/startup.test.ts']

/** How many files run at a time. Most of them wait more than they compute. */
const lanes = availableParallelism() + 1

/** A file that takes longer has failed, in ms. */
const longest = 900_000

const folder = mkdtempSync(join(tmpdir(), 'volant-test-'))
const sum = { passed: 0, failed: 0, skipped: 0 }
const failures = []
const begun = Date.now()
let stopped = false

process.setMaxListeners(0)
// The tests that have a short and a long form ask for it.
if (all) process.env.TEST_ALL = '1'
try {
  await runAll()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
for (const { where, name, error } of failures) console.log(`\n✖ ${where}\n  ${name}\n  ${firstLine(error)}`)
console.log(`\n${seconds(begun)}\n${line(sum)}`)
process.exitCode = sum.failed ? 1 : 0

async function runAll() {
  try {
    // The lab's tests need the load generator, and Linux.
    await build({ load: process.platform === 'linux' })
  } catch (error) {
    return add('build', begun, [{ name: 'what is stale is built', result: 'failed', error: error.message }])
  }
  if (words.length === 0) await testRust()
  const files = workspaces().flatMap(testFiles).filter(isWanted)
  if (files.length === 0) {
    const error = `the path of no test file has ${words.join(' or ')}`
    return add('selection', begun, [{ name: 'there are tests', result: 'failed', error }])
  }
  const measuring = files.filter((file) => alone.includes(file.source))
  const queue = files
    .filter((file) => !measuring.includes(file))
    .toSorted((one, other) => rank(one) - rank(other))
  await Promise.all(Array.from({ length: lanes }, () => runEach(queue)))
  await runEach(measuring)
}

function isWanted({ source }) {
  return words.length > 0 ? words.some((word) => source.includes(word)) : all || !long.includes(source)
}

function rank({ source }) {
  const at = first.findIndex((start) => source.startsWith(start))
  return at < 0 ? first.length : at
}

async function runEach(queue) {
  for (let file = queue.shift(); file !== undefined && !stopped; file = queue.shift()) await testFile(file)
}

async function testFile({ source, compiled }) {
  const started = Date.now()
  const report = join(folder, source.replaceAll('/', '+'))
  const { code, output } = await capture(process.execPath, [
    '--enable-source-maps',
    `--test-reporter=${join(root, 'scripts/test-reporter.mjs')}`,
    `--test-reporter-destination=${report}`,
    compiled,
  ])
  const text = existsSync(report) ? readFileSync(report, 'utf8') : ''
  const results = text.split('\n').flatMap((each) => (each === '' ? [] : [JSON.parse(each)]))
  if (results.length === 0 || (code !== 0 && !results.some(({ result }) => result === 'failed'))) {
    results.push({ name: `it runs to its end (exit code ${code})`, result: 'failed', error: output })
  }
  add(source, started, results, output)
}

async function testRust() {
  const started = Date.now()
  const missing = missingToolchain()
  if (missing) return add(`Rust tests: ${missing}`, started, [{ name: 'Rust', result: 'skipped', error: '' }])
  // `faults`: injected panics, for the tests that need them.
  const args = ['test', '--workspace', '--features', 'volant-engine/faults', '--locked', '--no-fail-fast']
  const { code, output } = await capture('cargo', args)
  const words = { ok: 'passed', FAILED: 'failed', ignored: 'skipped' }
  const results = [...output.matchAll(/^test (.+) \.\.\. (ok|FAILED|ignored)/gm)].map(([, name, word]) => ({
    name,
    result: words[word],
    error: word === 'FAILED' ? panicOf(name, output) : '',
  }))
  if (code !== 0 && !results.some(({ result }) => result === 'failed')) {
    results.push({ name: 'the crates compile', result: 'failed', error: output })
  }
  add('cargo test', started, results, output)
}

function panicOf(name, output) {
  const at = output.indexOf(`---- ${name} stdout ----`)
  const lines = at < 0 ? [] : output.slice(at).split('\n')
  const panicked = lines.findIndex((each) => each.includes('panicked at'))
  return panicked < 0 ? '' : lines.slice(panicked, panicked + 2).join(' ')
}

/** Counts the results, and says in a line what came of them. */
function add(where, started, results, output = '') {
  const counts = { passed: 0, failed: 0, skipped: 0 }
  for (const { name, result, error } of results) {
    counts[result] += 1
    sum[result] += 1
    if (result === 'failed') failures.push({ where, name, error })
  }
  console.log(`${counts.failed ? '✖' : '✔'} ${where}: ${line(counts)}, ${seconds(started)}`)
  if (counts.failed === 0) return
  console.log(output)
  for (const { name, result, error } of results) if (result === 'failed') console.log(`✖ ${name}\n${error}\n`)
}

function line({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed, ${skipped} skipped`
}

function seconds(since) {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`
}

function firstLine(text) {
  return (
    text
      .split('\n')
      .find((each) => each.trim() !== '')
      ?.trim() ?? ''
  )
}

/** Runs a command to its end; SIGINT and SIGTERM end it with this process. */
function capture(command, args) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: longest })
    const parts = []
    const end = (signal) => {
      stopped = true
      child.kill(signal)
    }
    process.on('SIGINT', end).on('SIGTERM', end)
    child.stdout.on('data', (part) => parts.push(part))
    child.stderr.on('data', (part) => parts.push(part))
    const settle = (code) => {
      process.off('SIGINT', end).off('SIGTERM', end)
      resolve({ code, output: Buffer.concat(parts).toString() })
    }
    child.on('error', (error) => {
      parts.push(Buffer.from(error.message))
      settle(1)
    })
    child.on('close', (code) => settle(code ?? 1))
  })
}

function workspaces() {
  const folders = ['packages', 'conformance', 'examples'].flatMap((group) =>
    readdirSync(join(root, group), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => `${group}/${entry.name}`)
      .sort(),
  )
  return [...folders, 'lab']
}

/** Compiled tests whose source still exists: `tsc -b` leaves the output of deleted files behind. */
function testFiles(workspace) {
  const dist = join(root, workspace, 'dist')
  if (!existsSync(dist)) return []
  return readdirSync(dist, { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .map((name) => ({ source: `${workspace}/${name.replace(/\.js$/, '.ts')}`, compiled: join(dist, name) }))
    .filter(({ source }) => existsSync(join(root, source)))
    .toSorted((one, other) => (one.source < other.source ? -1 : 1))
}
