/**
 * `npm start [-- --profile NAME]`: builds what is stale, then serves the reference service in this process, so that
 * Ctrl-C reaches it. `npm start -- --help` tells what else it takes.
 */
import { build } from './build.mjs'

try {
  await build()
  await import('../examples/reference-api/dist/src/server.js')
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
