/**
 * `npm run attacks`: attacks a server over HTTP/2 and TLS, and judges its handler runs, memory, CPU time and how it
 * ended the attack. `-- --help` lists the options. Builds what is not up to date, and installs Bun if it is asked for.
 */
import { join } from 'node:path'
import { build } from './build.mjs'
import { bringBun } from './bun.mjs'
import { root, run } from './command.mjs'

try {
  await build()
  const args = process.argv.slice(2)
  const env = { ...process.env }
  if (args.includes('bun')) env.BUN ??= await bringBun()
  process.exitCode = await run(
    process.execPath,
    [join(root, 'conformance/attacks/dist/src/cli.js'), ...args],
    {
      env,
    },
  )
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
