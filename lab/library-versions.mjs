/** The libraries that own code is held against. Each is installed by npm in a folder of its own below `.cache`. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from '../scripts/command.mjs'

export const versions = {
  'sonic-boom': '5.0.2',
  pino: '10.4.0',
  'prom-client': '15.1.3',
  negotiator: '1.1.0',
  'proxy-addr': '2.0.8',
  'forwarded-parse': '2.2.0',
  'content-type': '2.1.0',
  'whatwg-mimetype': '5.0.0',
  fresh: '2.0.0',
  send: '1.2.1',
  'content-disposition': '2.0.1',
  helmet: '8.3.0',
  'content-security-policy-builder': '2.3.0',
  pluralize: '8.0.0',
  inflection: '3.0.2',
  'json-schema-to-typescript': '16.0.0',
  'openapi-typescript': '7.13.0',
  '@apidevtools/json-schema-ref-parser': '15.5.1',
  'proper-lockfile': '4.1.2',
  typedoc: '0.28.20',
  '@microsoft/api-extractor': '7.60.1',
  '@observablehq/plot': '0.6.17',
}

const folderOf = (name) => join(root, '.cache/libraries', name.replace('/', '+'))

/** Loads an installed library, or another module that came with it. */
export const library = (name, module = name) => createRequire(join(folderOf(name), 'package.json'))(module)

export function install(name) {
  const cwd = folderOf(name)
  mkdirSync(cwd, { recursive: true })
  writeFileSync(join(cwd, 'package.json'), '{"private":true}')
  const flags = ['--no-audit', '--no-fund', '--ignore-scripts', '--silent']
  execFileSync('npm', ['install', ...flags, `${name}@${versions[name]}`], { cwd })
}

/** What it takes with all that it depends on. */
export function installedBytes(name) {
  const size = execFileSync('du', ['-sb', 'node_modules'], { cwd: folderOf(name), encoding: 'utf8' })
  return Number(size.split('\t')[0])
}

/** Loads a compiled module of the framework. */
export const own = (path) => import(join(root, `packages/volant/dist/${path}.js`))
