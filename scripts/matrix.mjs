/**
 * The cases about adapters and about the framework on other versions of Node.js: `npm run matrix [-- 22 24 26]`.
 *
 * Prints a line for each version and suite, and below it the output of a run that failed; the exit code is 1 when
 * any did. The versions are those of scripts/nodes.mjs.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { root } from './command.mjs'
import { bring, capture, versions } from './nodes.mjs'

const suites = {
  native: ['conformance/adapters/dist/test/native.test.js'],
  'node-http': ['conformance/adapters/dist/test/node-http.test.js'],
  // Streams and node:http are what middlewares see; the other files of this suite see the same through these.
  connect: ['objects', 'faults', 'sessions', 'apps'].map(
    (name) => `conformance/connect/dist/test/${name}.test.js`,
  ),
  // The context of a span is carried by what Node.js has for async contexts, which changed with 24.
  otel: ['faults', 'http-instrumentation', 'otlp', 'postgres', 'spans', 'trace-parents'].map(
    (name) => `conformance/otel/dist/test/${name}.test.js`,
  ),
  'without a socket': inMemory(),
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

async function runAll(majors) {
  try {
    await build()
    const nodes = []
    for (const major of majors) nodes.push([await bring(versions[major]), versions[major]])
    // Side by side: the suite waits more than it computes.
    await Promise.all(
      nodes.map(async ([node, version]) => {
        for (const name of Object.keys(suites)) await runSuite(node, version, name)
      }),
    )
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

/** The cases about the framework: those that are written with the kit. */
function inMemory() {
  const folder = 'packages/volant/test'
  return readdirSync(join(root, folder))
    .filter((name) => name.endsWith('.test.ts'))
    .filter((name) => readFileSync(join(root, folder, name), 'utf8').includes("from './kit.ts'"))
    .map((name) => `packages/volant/dist/test/${name.replace(/\.ts$/, '.js')}`)
}

async function runSuite(node, version, name) {
  const args = ['--enable-source-maps', '--test', '--test-reporter=tap', ...suites[name]]
  const { code, stdout, stderr } = await capture(node, args, root)
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0)
  const passed = count('pass')
  const failed = count('fail') + count('cancelled')
  console.log(`Node.js ${version}, ${name}: ${passed} passed, ${failed} failed, ${count('skipped')} skipped`)
  // An adapter that does not load skips the whole suite.
  if (code === 0 && failed === 0 && passed > 0) return
  process.exitCode = 1
  console.log(stdout + stderr)
}
