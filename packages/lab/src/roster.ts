/** The servers that can be compared. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { entriesFolder, nullServerPath } from './folders.ts'
import type { Program, Scenario } from './scenario.ts'

export interface Entry {
  /** The name on the command line. */
  readonly name: string
  /** One line for the list. */
  readonly about: string
  /** The package it needs in `entries/node_modules`, if any. */
  readonly package: string | null
  /** The programs it has, and with them the scenarios it serves. */
  readonly programs: readonly Program[]
  /** It answers everything alike, so it need not say 404. */
  readonly answersAnything: boolean
  /** Added to the environment of its process. */
  readonly environment: Readonly<Record<string, string>>
  /** The executable and its arguments; the port is in `PORT` too. Throws a `Failure` when it is not there. */
  command(program: Program, port: number): string[]
}

const every: readonly Program[] = ['json', 'param', 'middleware', 'users']

export const entries: readonly Entry[] = [
  {
    name: 'limit',
    about: 'null-server: counts heads, sends fixed bytes, runs no JavaScript',
    package: null,
    programs: ['json'],
    answersAnything: true,
    environment: {},
    command(_, port) {
      if (!existsSync(nullServerPath)) {
        throw new Failure('limit is not built: cargo build --release -p volant-load')
      }
      return [nullServerPath, '--port', String(port)]
    },
  },
  node('native', 'Volant on its own engine', { folder: 'volant', programs: every, adapter: 'native' }),
  node('node-http', 'Volant on node:http', { folder: 'volant', programs: every, adapter: 'node-http' }),
  node('uwebsockets', 'Volant on uWebSockets.js', {
    folder: 'volant',
    programs: every,
    adapter: 'uwebsockets',
  }),
  node('node', 'bare node:http', { programs: ['json', 'param', 'users'] }),
  node('uws', 'bare uWebSockets.js', { programs: every, package: 'uWebSockets.js' }),
  node('fastify', 'Fastify 5', { programs: every, package: 'fastify' }),
  node('express', 'Express 4', { programs: ['json'], package: 'express' }),
  {
    name: 'bun',
    about: 'Bun.serve with a JavaScript route',
    package: 'bun',
    programs: ['json'],
    answersAnything: false,
    environment: {},
    command: (program) => [bunPath(), join(entriesFolder, 'bun', `${program}.mjs`)],
  },
]

/** Throws a `Failure` for a name that is not in the list. */
export function entryOf(name: string): Entry {
  const entry = entries.find((candidate) => candidate.name === name)
  if (entry) return entry
  throw new Failure(`unknown server ${name}; known: ${entries.map(({ name }) => name).join(' ')}`, 2)
}

export function serves(entry: Entry, scenario: Scenario): boolean {
  return entry.programs.includes(scenario.program)
}

interface NodeEntry {
  readonly programs: readonly Program[]
  /** Where its programs are, in `entries`; as its name unless given. */
  readonly folder?: string
  readonly adapter?: string
  readonly package?: string
}

function node(name: string, about: string, options: NodeEntry): Entry {
  const { programs, folder = name, adapter, package: packageName = null } = options
  return {
    name,
    about,
    package: packageName,
    programs,
    answersAnything: false,
    environment: adapter === undefined ? {} : { ADAPTER: adapter },
    command: (program) => [process.execPath, join(entriesFolder, folder, `${program}.mjs`)],
  }
}

/** The program itself: the `bun` command of the package is only put in place by an install script. */
function bunPath(): string {
  const folder = join(entriesFolder, 'node_modules/@oven')
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const path = join(folder, name, 'bin/bun')
    if (existsSync(path)) return path
  }
  throw new Failure('bun has no build for this platform')
}
