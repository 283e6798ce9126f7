/**
 * `npm run asan`: the native engine built with AddressSanitizer, under every pair of operations in every callback, the
 * wire cases at every cut, the contract suite, replies of every size, and sealed texts; and the engine without Node.js, over
 * real sockets: the delayed transport of its other tests has no unsafe code below it. Needs nightly Rust and gcc's libasan;
 * says so and passes where either is missing. Node itself is not instrumented, so leaks are looked for only without it.
 */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { output, root, run } from './command.mjs'

const target = process.arch === 'arm64' ? 'aarch64-unknown-linux-gnu' : 'x86_64-unknown-linux-gnu'
const folder = join(root, 'target/asan')
const addon = join(folder, 'volant.node')
/** Two rows of suites, each row one after the other: the cuts take about as long as the others. */
const rows = [
  [['conformance/wire/dist/src/run.js', '--adapter', 'native', '--cuts']],
  [
    ['packages/engine/dist/test/reentrancy.test.js'],
    ['conformance/adapters/dist/test/native.test.js'],
    ...['amounts', 'encoding', 'lifetime', 'references'].map((part) => [
      `conformance/adapters/dist/test/engine-reply-memory/${part}.test.js`,
    ]),
    ['packages/volant/dist/test/sealer.test.js'],
  ],
]

const library = output('gcc', ['-print-file-name=libasan.so'])
if (process.platform !== 'linux') skip('it runs on Linux')
if (output('cargo', ['+nightly', '--version']) === null) skip('nightly Rust is not installed')
if (library === null || !existsSync(library)) skip("gcc's libasan was not found")

await build()
process.env.RUSTFLAGS = '-Zsanitizer=address'
const into = ['--locked', '--target', target, '--target-dir', folder]
if (await run('cargo', ['+nightly', 'build', '-p', 'volant-node', ...into])) {
  fail('the engine did not build with AddressSanitizer')
}
const tests = ['test', '-p', 'volant-engine', '--features', 'volant-engine/faults', ...into]
if (await run('cargo', ['+nightly', ...tests, '--test', 'direct'])) {
  fail("the engine's tests failed under AddressSanitizer")
}
console.log('== tests of the engine passed')
mkdirSync(folder, { recursive: true })
copyFileSync(join(folder, target, 'debug/libvolant_node.so'), addon)

process.env.ASAN_OPTIONS = 'detect_leaks=0'
process.env.VOLANT_ENGINE = addon
await Promise.all(rows.map(runRow))

async function runRow(suites) {
  for (const [script, ...rest] of suites) {
    // `env`: only the measured process is preloaded, not this one.
    const code = await run('env', [`LD_PRELOAD=${library}`, process.execPath, join(root, script), ...rest])
    if (code) fail(`${script} failed under AddressSanitizer`)
    console.log(`== ${script} ${rest.join(' ')} passed`)
  }
}

function skip(reason) {
  console.log(`AddressSanitizer run skipped: ${reason}`)
  process.exit(0)
}

function fail(reason) {
  console.error(reason)
  process.exit(1)
}
