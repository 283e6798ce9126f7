/**
 * `npm run schemathesis`: serves the reference service and asks it whatever its OpenAPI document allows and forbids.
 * Fails on a status, a content type or a body the document does not have, on valid requests that are refused and on
 * invalid ones that are not. The seed and the number of examples are fixed; `-- --max-examples 500` is a longer look.
 *
 * Needs Python 3.10 with venv, and once the package index; says so and passes without. What is installed and how it is
 * configured stands in scripts/schemathesis.
 */
import { join } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'
import { pythonTool } from './python.mjs'
import { serveReference } from './reference-service.mjs'

const settings = join(root, 'scripts/schemathesis')

const commands = await pythonTool('schemathesis')
if (commands !== null) {
  await build()
  process.exitCode = await check()
}

async function check() {
  return serveReference((url, authorization, folder) =>
    run(
      join(commands, 'schemathesis'),
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
