/**
 * `npm run cert`: `volant cert` of this checkout, which writes a certificate for development. Builds what is not up to
 * date.
 */
import { join } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'

try {
  await build()
  const command = join(root, 'packages/volant/dist/src/bin.js')
  process.exitCode = await run(process.execPath, [command, 'cert', ...process.argv.slice(2)])
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
