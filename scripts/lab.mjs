/**
 * `npm run lab -- pair A B …`: builds what is stale with the null server, puts our packages beside the entries as they
 * are published, and hands its arguments to the lab.
 */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'
import { stagePackages } from './pack.mjs'

try {
  await build({ load: true })
  await installPublished(join(root, 'packages/lab/entries/volant/node_modules'))
  process.exitCode = await run(process.execPath, [
    join(root, 'packages/lab/dist/src/cli.js'),
    ...process.argv.slice(2),
  ])
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
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
