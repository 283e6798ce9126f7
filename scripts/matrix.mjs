/**
 * The cases about adapters and about the framework on other versions of Node.js: `npm run matrix [-- 22 24 26]`.
 *
 * Prints a line for each version and suite, and below it the output of a run that failed; the exit code is 1 when
 * any did. The versions are those of scripts/nodes.mjs.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from './build.mjs'
import { root } from './command.mjs'
import { bring, versions } from './nodes.mjs'
import { jobsOf, testFiles } from './testing/jobs.mjs'
import { runJob } from './testing/run-job.mjs'
import { isMeasuring } from './testing/suites.mjs'

/** Which files belong to a suite, by their path. */
const suites = {
  native: (path) => path === 'conformance/adapters/test/native.test.ts',
  'node-http': (path) => path === 'conformance/adapters/test/node-http.test.ts',
  // Streams and node:http are what middlewares see; the other files of this suite see the same through these.
  connect: (path) => /^conformance\/connect\/test\/(objects|faults|sessions|apps)\b/.test(path),
  // The context of a span is carried by what Node.js has for async contexts, which changed with 24.
  otel: (path) =>
    /^conformance\/otel\/test\/(faults|http-instrumentation|otlp|postgres|spans|trace-parents)\b/.test(path),
  'without a socket': (path) => path.startsWith('packages/volant/test/') && usesKit(path),
}

const asked = process.argv.slice(2)
const unknown = asked.find((major) => !Object.hasOwn(versions, major))
if (unknown === undefined) await runAll(asked.length ? asked : Object.keys(versions).filter(isOther))
else {
  console.error(
    `no version is pinned for ${unknown}: give some of ${Object.keys(versions).join(', ')}, or none for all`,
  )
  process.exitCode = 1
}

/** The version that runs this one has `npm test`. */
function isOther(major) {
  return major !== process.versions.node.split('.')[0]
}

/** The cases about the framework are written with a kit. */
function usesKit(path) {
  return readFileSync(join(root, path), 'utf8').includes("kit.ts'")
}

async function runAll(majors) {
  const folder = mkdtempSync(join(tmpdir(), 'volant-matrix-'))
  try {
    await build()
    const files = testFiles().filter(({ source }) => !isMeasuring(source))
    const queue = []
    for (const major of majors) {
      const node = await bring(versions[major])
      const into = join(folder, major)
      for (const [name, isOf] of Object.entries(suites)) {
        queue.push(
          ...tasksOf(
            node,
            major,
            name,
            files.filter(({ source }) => isOf(source)),
            into,
          ),
        )
      }
    }
    const lanes = Array.from({ length: availableParallelism() + 1 }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await next()
    })
    await Promise.all(lanes)
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What runs a suite on a version: its last task says what came of it. */
function tasksOf(node, major, name, files, folder) {
  const version = versions[major]
  const jobs = jobsOf(files, {})
  if (jobs.length === 0)
    throw new Error(`no file of tests belongs to the suite "${name}": name its path anew`)
  const sum = { passed: 0, failed: 0, skipped: 0, worked: 0 }
  const outputs = []
  let left = jobs.length
  return jobs.map((job) => async () => {
    const { results, output, cpu } = await runJob(job, `${folder}-${name.replaceAll(' ', '-')}`, null, node)
    for (const { result } of results) sum[result] += 1
    sum.worked += cpu ?? 0
    for (const { source, name: test, result, error } of results)
      if (result === 'failed') outputs.push(`✖ ${source}\n  ${test}\n${error}\n`)
    if (results.some(({ result }) => result === 'failed')) outputs.push(output)
    left -= 1
    if (left > 0) return
    console.log(
      `Node.js ${version}, ${name}: ${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped, ` +
        `${(sum.worked / 1_000).toFixed(1)} s of processor time`,
    )
    // An adapter that does not load skips the whole suite.
    if (sum.failed === 0 && sum.passed > 0) return
    process.exitCode = 1
    console.log(outputs.join('\n'))
  })
}
