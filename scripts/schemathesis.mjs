/**
 * `npm run schemathesis`: serves the reference service and asks it whatever its OpenAPI document allows and forbids.
 * Fails on a status, a content type or a body the document does not have, on valid requests that are refused and on
 * invalid ones that are not. The seed and the number of examples are fixed; `-- --max-examples 500` is a longer look.
 *
 * Needs Python 3.10 with venv, and once the package index; says so and passes without. What is installed and how it is
 * configured stands in scripts/schemathesis.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from './build.mjs'
import { output, root, run } from './command.mjs'
import { serveReference } from './reference-service.mjs'

const settings = join(root, 'scripts/schemathesis')
const environment = join(root, '.cache/schemathesis')

const python = ['python3', 'python'].find(isPython)
if (python === undefined) {
  console.log('schemathesis skipped: Python 3.10 with venv was not found')
} else if (!(await isInstalled(python))) {
  console.log('schemathesis skipped: it could not be installed')
} else {
  await build()
  process.exitCode = await check()
}

function isPython(command) {
  return output(command, ['-c', 'import ensurepip, sys, venv; assert sys.version_info >= (3, 10)']) !== null
}

/** Anew when the requirements changed, or when what was there is no whole one. */
async function isInstalled(command) {
  const requirements = join(settings, 'requirements.txt')
  const wanted = readFileSync(requirements, 'utf8')
  const mark = join(environment, 'installed.txt')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === wanted) return true
  rmSync(environment, { recursive: true, force: true })
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-deps']
  const failed =
    (await run(command, ['-m', 'venv', environment])) ||
    (await run(join(environment, 'bin/python'), [...pip, '--requirement', requirements]))
  if (failed) return false
  writeFileSync(mark, wanted)
  return true
}

async function check() {
  return serveReference((url, authorization, folder) =>
    run(
      join(environment, 'bin/schemathesis'),
      [
        '--config-file',
        join(settings, 'schemathesis.toml'),
        'run',
        `${url}/openapi.json`,
        '--header',
        `Authorization: ${authorization}`,
        ...process.argv.slice(2),
      ],
      { cwd: folder, env: { ...process.env, SCHEMATHESIS_HOOKS: join(settings, 'hooks.py') } },
    ),
  )
}
