/** The packages of the entries: each folder's own, installed when a run first needs them. */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Entry, commandOf, lackOf } from './entry.ts'
import { Failure } from './failure.ts'
import { glibcVersion, ownGlibc } from './runtimes.ts'

/**
 * Installs what the lock file says unless that was done before. Throws a `Failure` with npm's last line, or with what the
 * entry needs and does not have here.
 */
export async function installEntry(entry: Entry): Promise<void> {
  const lack = lackOf(entry)
  if (lack !== null) throw new Failure(lack)
  const lockfile = join(entry.folder, 'package-lock.json')
  if (!existsSync(lockfile)) return
  const marker = join(entry.folder, 'node_modules/.installed')
  const wanted = createHash('sha256').update(readFileSync(lockfile)).digest('hex')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === wanted) return
  console.error(`Installing ${entry.name} (once)`)
  // A server may run on another Node.js than npm: with --force npm installs builds that its own could not load.
  const flags = [
    '--force',
    '--ignore-scripts',
    '--workspaces=false',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  // `npm ci` refuses the lock file of uWebSockets.js, which names builds for platforms that were never published.
  const fault =
    (await npm(entry.folder, ['ci', ...flags])) &&
    (await npm(entry.folder, ['install', '--no-save', ...flags]))
  if (fault) throw new Failure(`${entry.name} could not be installed: ${fault}`)
  writeFileSync(marker, wanted)
}

/** The version of what is measured: of the package as installed, or of the runtime; of our own binary none. */
export function installedVersion(entry: Entry): string {
  if (entry.runtime === 'binary') return ''
  if (entry.package === null) return programVersion(entry)
  try {
    const path = packageFile(entry, entry.package)
    return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version
  } catch {
    return entry.version ?? 'unknown'
  }
}

/** `Node.js 26.10.0`, `Node.js 26.10.0 with glibc 2.41`, `Bun 1.4.5`, `native code`. */
export function runtimeOf(entry: Entry): string {
  if (entry.runtime === 'binary') return 'native code'
  const version = programVersion(entry)
  if (entry.runtime === 'bun') return `Bun ${version}`
  if (entry.runtime === 'deno') return `Deno ${version}`
  const glibc = glibcVersion()
  return `Node.js ${version}${glibc === ownGlibc ? '' : ` with glibc ${glibc ?? 'unknown'}`}`
}

function programVersion(entry: Entry): string {
  const [command, ...before] = commandOf(entry).slice(0, -1) as [string, ...string[]]
  const more = entry.runtime === 'deno' ? [] : before
  const printed = spawnSync(command, [...more, '--version'], { encoding: 'utf8' }).stdout
  return /\d+\.\d+\.\d+\S*/.exec(printed ?? '')?.[0] ?? 'unknown'
}

function packageFile(entry: Entry, name: string): string {
  const own = join(entry.folder, 'node_modules', name, 'package.json')
  if (existsSync(own)) return own
  const found = createRequire(entry.server).resolve(name)
  const end = join('node_modules', name)
  return join(found.slice(0, found.lastIndexOf(end) + end.length), 'package.json')
}

/** Null when it went well, else npm's last line. */
async function npm(folder: string, args: string[]): Promise<string | null> {
  const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  return code === 0 ? null : (errors.trim().split('\n').at(-1) ?? `exit code ${code}`)
}
