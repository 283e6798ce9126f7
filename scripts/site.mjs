/**
 * `npm run site`: builds the documents into site/dist and serves them; `-- --build` only builds, `-- --port 8080`
 * chooses the port. A dead link fails the build. The generator's packages are installed into site/node_modules, by the
 * first run and again when site/package-lock.json has changed, so that `npm ci` at the root does not wait for them.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root, run } from './command.mjs'

const site = join(root, 'site')
const installed = join(site, 'node_modules/.installed')
const vitepress = join(site, 'node_modules/vitepress/bin/vitepress.js')

const { values } = parseArgs({
  options: { build: { type: 'boolean' }, port: { type: 'string', default: '4173' } },
})

await install()
await succeed(process.execPath, [vitepress, 'build', site])
if (!values.build) await succeed(process.execPath, [vitepress, 'preview', site, '--port', values.port])

async function install() {
  const lock = readFileSync(join(site, 'package-lock.json'), 'utf8')
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return
  await succeed('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], { cwd: site })
  writeFileSync(installed, lock)
}

async function succeed(command, args, options) {
  const code = await run(command, args, options)
  if (code !== 0) process.exit(code)
}
