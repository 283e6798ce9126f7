/**
 * Builds what is stale: TypeScript with `tsc -b`, and the native engine with cargo when its sources are newer than
 * the binary. Without a Rust toolchain it says so in one line and goes on: the framework then runs on node:http.
 *
 * `node scripts/build.mjs [--load]`; `--load` also builds the load generator and the null server of the lab.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  statSync,
  utimesSync,
} from 'node:fs'
import { join, resolve } from 'node:path'
import { output, root, run } from './command.mjs'
import { withLock } from './lock.mjs'

const targetDir = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target')
const libraries = { linux: 'libvolant_node.so', darwin: 'libvolant_node.dylib' }

/** Where the engine package looks for its binary in a checkout. */
export const enginePath = join(root, `packages/engine/native/volant.${process.platform}-${process.arch}.node`)

/** The null server of `lab/load`: the limit that the lab compares with. */
export const nullServerPath = join(targetDir, 'release/null-server')

/** Builds everything under the checkout's lock. Throws an `Error` when a compiler refuses the sources. */
export async function build({ load = false } = {}) {
  await withLock(join(root, '.cache/build.lock'), async () => {
    await buildTypeScript()
    await buildEngine()
    if (load) await buildLoad()
  })
}

/** Why Rust cannot be compiled here, in half a sentence; null when it can. */
export function missingToolchain() {
  const required = /^rust-version = "(.+)"$/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))[1]
  const found = /^cargo (\d+\.\d+)/.exec(output('cargo', ['--version']) ?? '')?.[1]
  if (!found) return 'cargo was not found'
  if (isOlder(found, required)) return `cargo ${found} is older than ${required}`
  if (output(process.env.CC ?? 'cc', ['--version']) === null) return 'the C compiler cc was not found'
  return null
}

async function buildTypeScript() {
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  if (!existsSync(compiler)) throw new Error('TypeScript is not installed: run npm ci first')
  if (await run(process.execPath, [compiler, '-b'])) throw new Error('TypeScript did not compile')
}

async function buildEngine() {
  const library = libraries[process.platform]
  if (!library) return console.log(`Native engine not built: it does not support ${process.platform}`)
  if (modified(enginePath) >= newest(engineSources())) return
  const missing = missingToolchain()
  if (missing) return console.log(`Native engine not built: ${missing}`)

  const started = new Date()
  console.log('Building the native engine')
  await cargo('-p', 'volant-node')
  mkdirSync(join(enginePath, '..'), { recursive: true })
  // A running server has the old file mapped: writing into it would crash that server, a rename does not.
  const temporary = `${enginePath}.${process.pid}`
  copyFileSync(join(targetDir, 'release', library), temporary)
  // Sources saved while cargo ran count as newer than the binary.
  utimesSync(temporary, started, started)
  renameSync(temporary, enginePath)
}

async function buildLoad() {
  const missing = missingToolchain()
  if (missing) return console.log(`Load generator and null server not built: ${missing}`)
  await cargo('-p', 'volant-load')
}

async function cargo(...args) {
  if (await run('cargo', ['build', '--release', '--locked', ...args])) throw new Error('Rust did not compile')
}

/** Everything that can change the binary; tests, benches and fuzz targets cannot. */
function* engineSources() {
  yield* ['Cargo.toml', 'Cargo.lock', 'scripts/layout.mjs'].map((name) => join(root, name))
  for (const crate of readdirSync(join(root, 'crates'))) {
    const folder = join(root, 'crates', crate)
    yield* [join(folder, 'Cargo.toml'), join(folder, 'build.rs')]
    yield* filesIn(join(folder, 'src'))
  }
}

function* filesIn(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else yield path
  }
}

function newest(paths) {
  let latest = 0
  for (const path of paths) latest = Math.max(latest, modified(path))
  return latest
}

/** Modification time in ms; 0 for a file that does not exist. */
function modified(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

function isOlder(version, required) {
  const [major, minor] = version.split('.').map(Number)
  const [leastMajor, leastMinor] = required.split('.').map(Number)
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}

if (process.argv[1] && realpathSync(process.argv[1]) === import.meta.filename) {
  try {
    await build({ load: process.argv.includes('--load') })
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}
