/** The servers that can be measured: a folder each in `entries/`, with a manifest that says how it is started. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { entriesFolder, nullServerPath } from './folders.ts'
import { type NodeProgram, glibcVersion, loader, ownGlibc, standardNode } from './runtimes.ts'
import { type Program, programs } from './scenario.ts'

export interface Entry {
  /** On the command line and in results: that of its folder, with `@22` when it runs on another Node.js. */
  readonly name: string
  readonly folder: string
  readonly title: string
  /** One line: what it is, and what is unusual about it here. */
  readonly about: string
  /** The npm package that is measured; null when it is the runtime alone. */
  readonly package: string | null
  /** Of the package. */
  readonly version: string | null
  /** What reads HTTP. */
  readonly adapter: string
  readonly runtime: 'node' | 'bun' | 'deno' | 'binary'
  /** Absolute; of no meaning for a binary. */
  readonly server: string
  readonly programs: readonly Program[]
  /** Added to that of its process. */
  readonly environment: Readonly<Record<string, string>>
  /** False when its replies are made without JavaScript. */
  readonly javascript: boolean
  /** The Node.js that it runs on. */
  readonly node: NodeProgram
  /** Major versions of Node.js that it runs on; null: all of them. */
  readonly engines: readonly number[] | null
  /** The least version of glibc that it needs, `2.38`; null: any. */
  readonly glibc: string | null
  /** Of its package: those for versions of Node.js that the newest does not run on, and last the newest. */
  readonly releases: readonly Release[]
}

export interface Release {
  /** Major versions of Node.js. */
  readonly node: readonly number[]
  readonly package: string | null
  readonly version: string | null
  readonly glibc: string | null
}

const keys = [
  'title',
  'about',
  'package',
  'version',
  'adapter',
  'runtime',
  'server',
  'programs',
  'environment',
  'javascript',
  'engines',
  'glibc',
  'releases',
]

/** All entries, by name, the limit first. Throws a `Failure` for a manifest that is wrong. */
export function readEntries(folder: string = entriesFolder): Entry[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((item) => item.isDirectory() && existsSync(join(folder, item.name, 'entry.json')))
    .map((item) => readEntry(join(folder, item.name), item.name))
    .toSorted((a, b) => Number(a.javascript) - Number(b.javascript) || a.name.localeCompare(b.name))
}

/** Throws a `Failure` that names the key. */
export function readEntry(folder: string, name: string): Entry {
  const file = join(folder, 'entry.json')
  const fault = (what: string): Failure => new Failure(`${file}: ${what}; see entries/README.md`, 2)
  let manifest: Record<string, unknown>
  try {
    manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
  } catch (error) {
    throw fault((error as Error).message)
  }
  if (typeof manifest !== 'object' || manifest === null) throw fault('it must be an object')
  const unknown = Object.keys(manifest).find((key) => !keys.includes(key))
  if (unknown !== undefined) throw fault(`unknown key ${unknown}`)
  const text = (key: string, standard?: string | null): string => {
    const value = manifest[key] ?? standard
    if (typeof value !== 'string') throw fault(`${key} must be a string`)
    return value
  }
  const optional = (key: string): string | null =>
    manifest[key] === undefined || manifest[key] === null ? null : text(key)
  const runtime = text('runtime', 'node')
  if (runtime !== 'node' && runtime !== 'bun' && runtime !== 'deno' && runtime !== 'binary')
    throw fault('runtime must be node, bun, deno or binary')
  const served = manifest['programs']
  if (!Array.isArray(served)) throw fault('programs must be a list')
  const stranger = served.find((program) => !programs.includes(program as Program))
  if (stranger !== undefined) throw fault(`unknown program ${String(stranger)}`)
  const environment = manifest['environment'] ?? {}
  if (
    typeof environment !== 'object' ||
    Object.values(environment).some((value) => typeof value !== 'string')
  )
    throw fault('environment must be texts by name')
  const engines = manifest['engines'] ?? null
  if (engines !== null && !isMajors(engines)) throw fault('engines must be a list of major versions')
  const releases = manifest['releases'] ?? []
  if (!Array.isArray(releases) || !releases.every(isRelease))
    throw fault('releases must be a list of { node, package, version }')
  const entry: Entry = {
    name,
    folder,
    title: text('title'),
    about: text('about'),
    package: optional('package'),
    version: optional('version'),
    adapter: text('adapter'),
    runtime,
    server: join(folder, text('server', 'server.mjs')),
    programs: served as Program[],
    environment: environment as Record<string, string>,
    javascript: manifest['javascript'] !== false,
    node: standardNode(),
    engines,
    glibc: optional('glibc'),
    releases: [
      ...releases.map((release: Release) => ({ ...release, glibc: release.glibc ?? null })),
      {
        node: engines ?? [],
        package: optional('package'),
        version: optional('version'),
        glibc: optional('glibc'),
      },
    ],
  }
  return onNode(entry, entry.node)
}

function isMajors(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every(Number.isInteger)
}

function isRelease(value: Partial<Release> | null): boolean {
  return isMajors(value?.node) && typeof value?.package === 'string' && typeof value.version === 'string'
}

/** The entry on this Node.js, with the release of its package that runs there. An entry on another runtime stays. */
export function onNode(entry: Entry, node: NodeProgram, name: string = entry.name): Entry {
  if (entry.runtime !== 'node') return entry
  const fitting = entry.releases.find((one) => one.node.includes(node.major))
  const { package: packageName, version, glibc } = fitting ?? (entry.releases.at(-1) as Release)
  return { ...entry, name, node, package: packageName, version, glibc }
}

/** What the entry needs and does not have here, with what to do about it; null when nothing is missing. */
export function lackOf({ runtime, engines, releases, glibc, node }: Entry): string | null {
  if (runtime !== 'node') return null
  const majors = releases.flatMap((release) => release.node)
  if (engines !== null && !majors.includes(node.major)) {
    return `it needs Node.js ${majors.join(' or ')}, and this is ${node.major}: choose one with --node`
  }
  const found = glibcVersion()
  if (glibc === null || (found !== null && !isOlder(found, glibc))) return null
  const newer = ownGlibc === found ? ': --newer-glibc brings that of Debian 13' : ''
  return `it needs glibc ${glibc}, and this is ${found ?? 'another C library'}${newer}`
}

function isOlder(version: string, wanted: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [leastMajor = 0, leastMinor = 0] = wanted.split('.').map(Number)
  return major < leastMajor || (major === leastMajor && minor < leastMinor)
}

/** Throws a `Failure` for a name that is not among them. */
export function entryOf(name: string, entries: readonly Entry[] = readEntries()): Entry {
  const entry = entries.find((candidate) => candidate.name === name)
  if (entry) return entry
  throw new Failure(`unknown entry ${name}; known: ${entries.map((one) => one.name).join(' ')}`, 2)
}

/** The executable and its arguments. Throws a `Failure` when it is not there. */
export function commandOf(entry: Entry): string[] {
  if (entry.runtime === 'node') return [...loader(), entry.node.path, entry.server]
  if (entry.runtime === 'bun') return [packagedPath(entry, '@oven', 'bin/bun'), entry.server]
  if (entry.runtime === 'deno') {
    return [packagedPath(entry, '@deno', 'deno'), 'run', '--allow-all', '--quiet', entry.server]
  }
  if (existsSync(nullServerPath)) return [nullServerPath]
  throw new Failure(`${entry.name} is not built: cargo build --release -p volant-load`, 2)
}

/** The program itself: the command of the package is only put in place by an install script. */
function packagedPath(entry: Entry, scope: string, file: string): string {
  const folder = join(entry.folder, 'node_modules', scope)
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name, file)
    if (existsSync(path)) return path
  }
  throw new Failure(`${entry.name}: ${entry.runtime} has no build for this platform, or is not installed`)
}
