/** Tools from the Python package index, each with its pinned requirements in an environment of its own under `.cache`. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { output, root, run } from './command.mjs'

/**
 * Gives the folder with the commands of `scripts/NAME/requirements.txt`, installed anew when the requirements changed or what
 * was there is no whole one. `finish(environment)` may change what was installed. Without Python 3.10 with venv, or without
 * the package index, it says so and gives null.
 */
export async function pythonTool(name, finish = () => {}) {
  const python = ['python3', 'python'].find(isPython)
  if (python === undefined) {
    console.log(`${name} skipped: Python 3.10 with venv was not found`)
    return null
  }
  const requirements = join(root, 'scripts', name, 'requirements.txt')
  const environment = join(root, '.cache', name)
  const wanted = readFileSync(requirements, 'utf8')
  const mark = join(environment, 'installed.txt')
  if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
    rmSync(environment, { recursive: true, force: true })
    const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps']
    const failed =
      (await run(python, ['-m', 'venv', environment])) ||
      (await run(join(environment, 'bin/python'), [...pip, '--requirement', requirements]))
    if (failed) {
      console.log(`${name} skipped: it could not be installed`)
      return null
    }
    finish(environment)
    writeFileSync(mark, wanted)
  }
  return join(environment, 'bin')
}

function isPython(command) {
  return output(command, ['-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10)']) !== null
}
