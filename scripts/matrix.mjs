/**
 * The contract suite on other versions of Node.js: `npm run matrix [-- 22 24 26]`.
 *
 * Prints a line for each version and adapter, and below it the output of a run that failed; the exit code is 1 when
 * any did. The versions are those of scripts/nodes.mjs.
 */
import { build } from './build.mjs'
import { root } from './command.mjs'
import { bring, capture, versions } from './nodes.mjs'

const adapters = ['native', 'node-http']

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
        for (const adapter of adapters) await runSuite(node, version, adapter)
      }),
    )
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

async function runSuite(node, version, adapter) {
  const file = `conformance/adapters/dist/test/${adapter}.test.js`
  const args = ['--enable-source-maps', '--test', '--test-reporter=tap', file]
  const { code, stdout, stderr } = await capture(node, args, root)
  const count = (name) => Number(new RegExp(`^# ${name} (\\d+)$`, 'm').exec(stdout)?.[1] ?? 0)
  const passed = count('pass')
  const failed = count('fail') + count('cancelled')
  console.log(
    `Node.js ${version}, ${adapter}: ${passed} passed, ${failed} failed, ${count('skipped')} skipped`,
  )
  // An adapter that does not load skips the whole suite.
  if (code === 0 && failed === 0 && passed > 0) return
  process.exitCode = 1
  console.log(stdout + stderr)
}
