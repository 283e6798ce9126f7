/** The rivals' packages: installed into `entries/node_modules` when a run first needs them. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import type { Entry } from './roster.ts'
import type { Scenario } from './scenario.ts'

const marker = join(entriesFolder, 'node_modules/.installed')

/** Installs what the lockfile says unless that was done before. Nothing happens when nobody needs a package. */
export async function installRivals(
  sides: readonly { readonly entry: Entry; readonly scenario: Scenario }[],
): Promise<void> {
  const lockfile = readFileSync(join(entriesFolder, 'package-lock.json'))
  const wanted = createHash('sha256').update(lockfile).digest('hex')
  if (!sides.some(({ entry, scenario }) => entry.package || scenario.packages)) return
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return

  console.error(`Installing the rivals into ${entriesFolder} (once, about 130 MB)`)
  // Not `npm ci`: it refuses the lockfile because uWebSockets.js names builds for platforms that were never published.
  const args = ['install', '--no-save', '--ignore-scripts', '--workspaces=false', '--no-audit', '--no-fund']
  args.push('--loglevel=error')
  const child = spawn('npm', args, { cwd: entriesFolder, stdio: ['ignore', 2, 2] })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  if (code !== 0) throw new Failure(`npm install failed in ${entriesFolder}`)
  writeFileSync(marker, wanted)
}

/** The installed version of an entry's package, or null. */
export function installedVersion(entry: Entry): string | null {
  if (!entry.package) return null
  const path = join(entriesFolder, 'node_modules', entry.package, 'package.json')
  if (!existsSync(path)) return null
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
}
