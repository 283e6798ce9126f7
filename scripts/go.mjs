/** Tools from Go's modules, each of a pinned version in a folder of its own under `.cache`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { output, root, run } from './command.mjs'

/** Go's own installation keeps it out of PATH. */
const programs = ['go', '/usr/local/go/bin/go', '/usr/lib/go/bin/go']

/**
 * Gives the path of the command `name`, made of `module` (`path@version`) when it is first needed. Without Go, or without
 * the module, it says so and gives null.
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
