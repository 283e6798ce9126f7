/** `npm run lab`: measures servers on this machine, and tells what was found. */
import { commandLine } from './command-line.ts'

// `exit` ends the children by their pids: src/server.ts, src/generators.
for (const [signal, code] of [
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const) {
  process.once(signal, () => process.exit(code))
}

process.exitCode = await commandLine(process.argv.slice(2))
