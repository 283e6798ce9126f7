/** Installs tools from Go modules, each with a pinned version in a folder of its own under `.cache`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { output, root, run } from './command.mjs'

/** The programs to try, because the installer of Go does not add it to PATH. */
const programs = ['go', '/usr/local/go/bin/go', '/usr/lib/go/bin/go']

/**
 * Gives the path of the command `name`, which is built from `module` (`path@version`) when it is first needed. Prints
 * the reason and gives null if Go or the module is missing.
 */
export async function goTool(name, module) {
  const [, version] = module.split('@')
  const folder = join(root, '.cache', `${name}-${version.replace('+incompatible', '')}`)
  const command = join(folder, name)
  if (existsSync(command)) return command
  const go = programs.find((each) => output(each, ['version']) !== null)
  if (go === undefined) {
    console.log(`${name} skipped: Go was not found (Debian has it as golang-go)`)
    return null
  }
  if ((await run(go, ['install', module], { env: { ...process.env, GOBIN: folder } })) === 0) return command
  console.log(`${name} skipped: it could not be made of ${module}`)
  return null
}
