/** `npm run lab -- pair A B …`: builds what is stale with the null server, then hands its arguments to the lab. */
import { join } from 'node:path'
import { build } from './build.mjs'
import { root, run } from './command.mjs'

try {
  await build({ load: true })
  process.exitCode = await run(process.execPath, [
    join(root, 'packages/lab/dist/src/cli.js'),
    ...process.argv.slice(2),
  ])
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
