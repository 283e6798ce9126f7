/**
 * `npm run example -- NAME`: makes `examples/NAME`, a package of one file and its test, and wires it in: the root
 * tsconfig.json and package-lock.json know it afterwards. Files that exist are left alone, so that it can be run again
 * to wire in an example that was written before.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './command.mjs'

const name = process.argv[2]
if (!/^[a-z][a-z0-9-]*$/.test(name ?? '')) {
  console.error('Usage: npm run example -- NAME, where NAME is lower case, digits and hyphens')
  process.exit(1)
}
const folder = `examples/${name}`
const { version, license, engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

mkdirSync(join(root, folder), { recursive: true })
create(
  'package.json',
  json({
    name: `@volant/example-${name}`,
    version,
    private: true,
    license,
    type: 'module',
    scripts: { start: 'node dist/main.js' },
    dependencies: { volant: version },
    engines,
  }),
)
create(
  'tsconfig.json',
  `{
  "extends": "../../tsconfig.base.json",
  "compilerOptions": { "rootDir": ".", "outDir": "dist", "tsBuildInfoFile": "dist/.tsbuildinfo" },
  "include": ["*.ts"],
  "references": [{ "path": "../../packages/volant" }]
}
`,
)
addReference()
addToLock()

function create(file, text) {
  const path = join(root, folder, file)
  if (!existsSync(path)) writeFileSync(path, text)
}

function addReference() {
  const path = join(root, 'tsconfig.json')
  const text = readFileSync(path, 'utf8')
  const rows = text.match(/^ +\{ "path": "[^"]+" \}/gm)
  const row = `    { "path": "${folder}" }`
  if (rows.includes(row)) return
  const examples = [...rows.filter((each) => each.includes('"examples/')), row].sort()
  const packages = rows.filter((each) => !each.includes('"examples/'))
  const from = text.indexOf(rows[0])
  const to = text.indexOf(rows.at(-1)) + rows.at(-1).length
  writeFileSync(path, text.slice(0, from) + [...packages, ...examples].join(',\n') + text.slice(to))
}

/** By hand: `npm install` would rewrite entries of other platforms' packages as well. */
function addToLock() {
  const path = join(root, 'package-lock.json')
  const lock = JSON.parse(readFileSync(path, 'utf8'))
  const { private: _, type: _type, scripts: _scripts, ...entry } = readPackage()
  lock.packages[folder] = entry
  lock.packages[`node_modules/${entry.name}`] = { resolved: folder, link: true }
  const [own, ...rest] = Object.entries(lock.packages)
  rest.sort(([a], [b]) => a.localeCompare(b, 'en'))
  lock.packages = Object.fromEntries([own, ...rest])
  writeFileSync(path, json(lock))
}

function readPackage() {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}
