/**
 * `npm run fuzz -- [--seconds N] [target …]`: coverage-guided fuzzing with cargo-fuzz on nightly Rust, one target
 * after the other, 60 s each unless told otherwise. Installs the pinned cargo-fuzz when it is missing. Stops at the
 * first crash; the input that caused it stays in the crate's `fuzz/artifacts`.
 */
import { existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { output, root, run } from './command.mjs'

const version = '0.13.2'

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '60' } },
  allowPositionals: true,
})
const seconds = Number(values.seconds)
if (!Number.isInteger(seconds) || seconds < 1)
  fail(`--seconds must be a positive integer, not ${values.seconds}`)

const known = fuzzTargets()
if (known.length === 0) fail('There are no fuzz targets')
const chosen = positionals.length ? positionals : known.map((target) => target.name)
for (const name of chosen) {
  if (!known.some((target) => target.name === name))
    fail(`No fuzz target ${name}; there are: ${known.map((target) => target.name).join(', ')}`)
}

if (output('cargo', ['+nightly', '--version']) === null)
  fail('Fuzzing needs nightly Rust: rustup toolchain install nightly')
if (output('cargo', ['fuzz', '--version']) !== `cargo-fuzz ${version}`) {
  if (await run('cargo', ['install', '--locked', `cargo-fuzz@${version}`])) fail('cargo-fuzz did not install')
}

for (const { crate, name } of known.filter((target) => chosen.includes(target.name))) {
  console.log(`\n== ${basename(crate)}: ${name}, ${seconds} s`)
  const args = [
    '+nightly',
    'fuzz',
    'run',
    name,
    '--',
    `-max_total_time=${seconds}`,
    '-rss_limit_mb=512',
    '-timeout=1',
  ]
  if (await run('cargo', args, { cwd: crate }))
    fail(`${name} failed; an input that crashes it is in ${join(crate, 'fuzz/artifacts', name)}`)
}

function fuzzTargets() {
  return readdirSync(join(root, 'crates'))
    .map((name) => join(root, 'crates', name))
    .filter((crate) => existsSync(join(crate, 'fuzz/fuzz_targets')))
    .flatMap((crate) =>
      readdirSync(join(crate, 'fuzz/fuzz_targets')).map((file) => ({
        crate,
        name: file.replace(/\.rs$/, ''),
      })),
    )
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
