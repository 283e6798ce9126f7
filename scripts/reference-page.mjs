/**
 * `npm run reference-page`: checks that the bundle of packages/reference-page is the published one that its bundle.json
 * names. `--write` writes it, after a change of that file: the integrity is the registry's, `npm view PACKAGE@VERSION
 * dist.integrity`.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { root } from './command.mjs'

const folder = join(root, 'packages/reference-page')
const kept = join(folder, 'reference.js.gz')

try {
  const published = publishedBundle(JSON.parse(readFileSync(join(folder, 'bundle.json'), 'utf8')))
  if (process.argv.includes('--write')) {
    writeFileSync(kept, gzipSync(published, { level: 9 }))
  } else if (!gunzipSync(readFileSync(kept)).equals(published)) {
    throw new Error(`${kept} is not the published file: npm run reference-page -- --write`)
  }
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

function publishedBundle({ package: name, version, integrity, file }) {
  const temporary = mkdtempSync(join(tmpdir(), 'volant-reference-page-'))
  try {
    succeed('npm', ['pack', `${name}@${version}`, '--ignore-scripts', '--pack-destination', temporary])
    const [archive] = readdirSync(temporary)
    const path = join(temporary, archive)
    const found = `sha512-${createHash('sha512').update(readFileSync(path)).digest('base64')}`
    if (found !== integrity) throw new Error(`${name}@${version} is ${found}, not ${integrity}`)
    return succeed('tar', ['-xzOf', path, file])
  } finally {
    rmSync(temporary, { recursive: true, force: true })
  }
}

function succeed(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { maxBuffer: 1 << 28 })
  if (status !== 0) throw new Error(`${command} failed: ${error?.message ?? stderr}`)
  return stdout
}
