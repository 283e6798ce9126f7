/** The servers that can be measured: a folder each in `entries/`, with a manifest that says how it is started. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { entriesFolder, nullServerPath } from './folders.ts'
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
  readonly runtime: 'node' | 'bun' | 'binary'
  /** Absolute; of no meaning for a binary. */
  readonly server: string
  readonly programs: readonly Program[]
  /** Added to that of its process. */
  readonly environment: Readonly<Record<string, string>>
  /** False when its replies are made without JavaScript. */
  readonly javascript: boolean
  /** The Node.js it runs on. */
  readonly node: string
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
  if (runtime !== 'node' && runtime !== 'bun' && runtime !== 'binary')
    throw fault('runtime must be node, bun or binary')
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
  return {
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
    node: process.execPath,
  }
}

/** Throws a `Failure` for a name that is not among them. */
export function entryOf(name: string, entries: readonly Entry[] = readEntries()): Entry {
  const entry = entries.find((candidate) => candidate.name === name)
  if (entry) return entry
  throw new Failure(`unknown entry ${name}; known: ${entries.map((one) => one.name).join(' ')}`, 2)
}

/** The executable and its arguments. Throws a `Failure` when it is not there. */
export function commandOf(entry: Entry): string[] {
  if (entry.runtime === 'node') return [entry.node, entry.server]
  if (entry.runtime === 'bun') return [bunPath(entry), entry.server]
  if (existsSync(nullServerPath)) return [nullServerPath]
  throw new Failure(`${entry.name} is not built: cargo build --release -p volant-load`, 2)
}

/** The program itself: the `bun` command of the package is only put in place by an install script. */
function bunPath(entry: Entry): string {
  const folder = join(entry.folder, 'node_modules/@oven')
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name, 'bin/bun')
    if (existsSync(path)) return path
  }
  throw new Failure(`${entry.name}: bun has no build for this platform, or is not installed`)
}
