/** The servers that can be compared. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'
import { entriesFolder, nullServerPath } from './folders.ts'

export interface Entry {
  /** The name on the command line. */
  readonly name: string
  /** One line for the list. */
  readonly about: string
  /** The package it needs in `entries/node_modules`, if any. */
  readonly package: string | null
  /** It answers everything alike, so it need not say 404. */
  readonly answersAnything: boolean
  /** The program and its arguments. Throws a `Failure` when it is not there. */
  command(): string[]
}

export const entries: readonly Entry[] = [
  {
    name: 'limit',
    about: 'null-server: counts heads, sends fixed bytes, runs no JavaScript',
    package: null,
    answersAnything: true,
    command() {
      if (!existsSync(nullServerPath)) {
        throw new Failure('limit is not built: cargo build --release -p volant-load')
      }
      return [nullServerPath, '--port', '0']
    },
  },
  node('native', 'Volant on its own engine'),
  node('node-http', 'Volant on node:http'),
  node('node', 'bare node:http'),
  node('uws', 'bare uWebSockets.js', 'uWebSockets.js'),
  node('fastify', 'Fastify 5', 'fastify'),
  node('express', 'Express 4', 'express'),
  {
    name: 'bun',
    about: 'Bun.serve with a JavaScript route',
    package: 'bun',
    answersAnything: false,
    command: () => [bunPath(), join(entriesFolder, 'bun.mjs')],
  },
]

/** Throws a `Failure` for a name that is not in the list. */
export function entryOf(name: string): Entry {
  const entry = entries.find((candidate) => candidate.name === name)
  if (entry) return entry
  throw new Failure(`unknown server ${name}; known: ${entries.map(({ name }) => name).join(' ')}`, 2)
}

function node(name: string, about: string, packageName: string | null = null): Entry {
  return {
    name,
    about,
    package: packageName,
    answersAnything: false,
    command: () => [process.execPath, join(entriesFolder, `${name}.mjs`)],
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
