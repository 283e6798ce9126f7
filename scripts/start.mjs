/** `npm start`: builds what is stale, then serves the reference service in this process, so that Ctrl-C reaches it. */
import { build } from './build.mjs'

try {
  await build()
  await import('../examples/reference-api/dist/src/server.js')
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
