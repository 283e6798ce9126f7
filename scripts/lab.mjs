/**
 * `npm run lab -- COMMAND …`: builds what is stale with the null server and the load generator, puts our packages beside
 * the entries as they are published, brings the Node.js that servers run on, and hands its arguments to the lab.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'
import { bringGlibc } from './glibc.mjs'
import { bring, versions } from './nodes.mjs'
import { stagePackages } from './pack.mjs'

/** Commands that start servers. */
const measuring =
  'run pair doctor soak idle slow-readers tls-storm sse roll kill balance workers connections limiter systemd'.split(
    ' ',
  )
/** The version of Node.js that servers run on unless `--node` names another. */
const standardNode = '26'

try {
  const args = process.argv.slice(2)
  await build({ load: true })
  const env = { ...process.env }
  if (measuring.includes(args[0]) && !args.includes('--help') && !args.includes('-h')) {
    await installPublished(join(root, 'lab/entries/volant/node_modules'))
    const asked = [...args, ...commandOfRun(args)]
    env.LAB_NODES = await nodesOf(asked)
    if (asked.includes('--newer-glibc')) env.LAB_GLIBC = await bringGlibc()
  }
  process.exitCode = await run(process.execPath, [join(root, 'lab/dist/src/cli.js'), ...args], { env })
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}

/** `26=/path/to/node,20=…`: the versions of `--node` and of names such as `fastify@20`; the first is the standard. */
async function nodesOf(args) {
  const asked = optionOf(args, '--node')?.split(',') ?? [standardNode]
  const named = args.flatMap((arg) => [...arg.matchAll(/@(\d+)/g)].map(([, major]) => major))
  // A preset may measure some entries on an older version beside the standard one.
  const beside = optionOf(args, '--preset') === undefined ? [] : ['20']
  const [current] = process.versions.node.split('.')
  const found = []
  for (const major of new Set([...asked, ...named, ...beside])) {
    if (versions[major] === process.versions.node || (major === current && !(major in versions)))
      found.push(`${major}=${process.execPath}`)
    else if (Object.hasOwn(versions, major)) found.push(`${major}=${await bring(versions[major])}`)
  }
  return found.join(',')
}

/** The arguments that a run was begun with, where `--resume` goes on with it. */
function commandOfRun(args) {
  const name = optionOf(args, '--resume')
  if (name === undefined) return []
  const results = process.env.LAB_RESULTS ?? join(root, 'lab/results')
  const folder = name.includes('/') ? resolve(process.env.INIT_CWD ?? root, name) : join(results, name)
  try {
    return JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).command
  } catch {
    return [] // The lab says what is wrong with it.
  }
}

function optionOf(args, name) {
  const at = args.findIndex((arg) => arg === name || arg.startsWith(`${name}=`))
  return at < 0 ? undefined : (args[at].split('=')[1] ?? args[at + 1])
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
