/**
 * `npm run lab -- COMMAND …`: builds what is stale with the null server and the load generator, puts our packages beside
 * the entries as they are published, and hands its arguments to the lab, with the Node.js versions of `--node`.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'
import { bring, versions } from './nodes.mjs'
import { stagePackages } from './pack.mjs'

/** Commands that start servers. */
const measuring = ['run', 'pair', 'doctor', 'soak', 'idle']

try {
  const args = process.argv.slice(2)
  await build({ load: true })
  if (measuring.includes(args[0])) await installPublished(join(root, 'lab/entries/volant/node_modules'))
  const env = { ...process.env, LAB_NODES: await nodesOf(args) }
  process.exitCode = await run(process.execPath, [join(root, 'lab/dist/src/cli.js'), ...args], {
    env,
  })
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

/** `20=/path/to/node,22=…`: what `--node 20,22` asks for; the version that runs this one is already there. */
async function nodesOf(args) {
  const at = args.findIndex((arg) => arg === '--node' || arg.startsWith('--node='))
  const asked = at < 0 ? '' : (args[at].split('=')[1] ?? args[at + 1] ?? '')
  const [current] = process.versions.node.split('.')
  const found = []
  for (const major of asked.split(',')) {
    if (major === current) found.push(`${major}=${process.execPath}`)
    else if (Object.hasOwn(versions, major)) found.push(`${major}=${await bring(versions[major])}`)
  }
  return found.join(',')
}

/** What is measured is what people install: in a checkout every source file is a module of its own. */
async function installPublished(folder) {
  const stage = mkdtempSync(join(tmpdir(), 'volant-lab-'))
  try {
    const staged = await stagePackages(stage)
    rmSync(folder, { recursive: true, force: true })
    for (const from of staged) {
      const { name, dependencies = {} } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'))
      cpSync(from, join(folder, name), { recursive: true })
      for (const dependency of Object.keys(dependencies)) {
        if (!dependency.startsWith('@volant/')) link(dependency, join(folder, dependency))
      }
    }
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/** The version of our lock file: beside the entries lie those of the rivals. */
function link(name, at) {
  const entry = createRequire(join(root, 'packages/volant/package.json')).resolve(name)
  const end = join('node_modules', name)
  const folder = entry.slice(0, entry.lastIndexOf(end) + end.length)
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(realpathSync(folder), at, 'junction')
}
