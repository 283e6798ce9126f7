/**
 * `npm test`: builds what is stale, then runs every Rust and TypeScript test.
 *
 * The last line is the sum alone: `N passed, N failed`, with `, N skipped` when tests were skipped. A step that fails
 * without naming a test (a compiler error, say) counts as one failure. The exit code is 1 when anything failed.
 */
import { existsSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build, missingToolchain } from './build.mjs'
import { root, run } from './command.mjs'

const total = { passed: 0, failed: 0, skipped: 0 }

await section('build', buildAll)
await section('rust', testRust)
for (const folder of workspaces()) {
  const files = testFiles(join(root, folder))
  if (files.length) await section(folder, () => testNode(files))
}

const skipped = total.skipped ? `, ${total.skipped} skipped` : ''
console.log(`\n${total.passed} passed, ${total.failed} failed${skipped}`)
process.exitCode = total.failed ? 1 : 0

async function section(name, work) {
  console.log(`\n== ${name}`)
  const before = total.failed
  let code = 1
  try {
    code = await work()
  } catch (error) {
    console.error(error.message)
  }
  if (code && total.failed === before) total.failed += 1
}

async function buildAll() {
  // The lab's tests need the load generator, and Linux.
  await build({ load: process.platform === 'linux' })
  return 0
}

async function testRust() {
  const missing = missingToolchain()
  if (missing) {
    total.skipped += 1
    console.log(`Rust tests skipped: ${missing}`)
    return 0
  }
  // One summary line for each test binary and each crate's doc tests.
  const summary = /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/
  // `faults`: injected panics, for the tests that need them.
  const features = ['--features', 'volant-engine/faults']
  return run('cargo', ['test', '--workspace', ...features, '--locked', '--no-fail-fast', '--quiet'], {
    onLine(line) {
      const match = summary.exec(line)
      if (match) add(Number(match[1]), Number(match[2]), Number(match[3]))
    },
  })
}

async function testNode(files) {
  const counts = {}
  const names = files.map((file) => relative(root, file))
  const code = await run(
    process.execPath,
    ['--enable-source-maps', '--test', '--test-reporter=spec', ...names],
    {
      onLine(line) {
        const match = /^ℹ (\w+) (\d+)$/.exec(line)
        if (match) counts[match[1]] = Number(match[2])
      },
    },
  )
  // No summary means that no test ran to its end: `section` counts the exit code.
  const { pass = 0, fail = 0, cancelled = 0, skipped: left = 0, todo = 0 } = counts
  add(pass, fail + cancelled, left + todo)
  return pass + fail ? code : 1
}

function add(passed, failed, left) {
  total.passed += passed
  total.failed += failed
  total.skipped += left
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
function testFiles(folder) {
  const compiled = join(folder, 'dist')
  if (!existsSync(compiled)) return []
  return readdirSync(compiled, { recursive: true })
    .filter((name) => name.endsWith('.test.js'))
    .filter((name) => existsSync(join(folder, name.replace(/\.js$/, '.ts'))))
    .map((name) => join(compiled, name))
    .sort()
}
