/**
 * The fuzz of `.ci/run`: seeded mutations on stable Rust, side by side, each for some seconds (FUZZ_SECONDS replaces them).
 * They run the binaries that the tests of Rust compile. A test that was renamed or lost fails the run.
 */
import { capture } from './run-job.mjs'
import { compileRust } from './rust.mjs'

/** Seconds by the name of the test. */
const tests = {
  'crates/wire mutate': 30,
  'crates/ws mutate': 60,
  'crates/share model': 30,
  'crates/h2 hpack_fuzz': 60,
  'crates/h2 session_fuzz': 60,
  'crates/tls link_fuzz': 60,
  'crates/engine connection_fuzz': 30,
  'crates/engine websocket_fuzz': 30,
  'crates/engine http2_fuzz': 60,
}

const { binaries, error } = await compileRust()
if (error !== undefined) {
  console.error(error)
  process.exit(1)
}
await Promise.all(Object.entries(tests).map(([name, seconds]) => fuzz(name, seconds)))

async function fuzz(name, seconds) {
  const found = binaries.find((each) => each.name === name)
  if (found === undefined) {
    console.error(
      `${name}: there is no such test of Rust; name it in scripts/testing/short-fuzz.mjs as it is named now`,
    )
    process.exitCode = 1
    return
  }
  const env = { ...process.env, FUZZ_SECONDS: process.env.FUZZ_SECONDS ?? String(seconds) }
  const { code, output, wall } = await capture(found.binary, [], { cwd: found.folder, env })
  console.log(
    `${name}: ${code === 0 ? 'passed' : 'FAILED'}, ${(wall / 1_000).toFixed(1)} s\n${output.trim()}`,
  )
  if (code !== 0) process.exitCode = 1
}
