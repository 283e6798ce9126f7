/**
 * What `npm start` runs: a profile in this process, or with `--workers` a supervisor, which runs `serve.ts` in several.
 * `--help` says which profiles there are, and what the environment decides.
 */
import { fileURLToPath } from 'node:url'
import { type Command, help, parseCommand, tellMistake } from './command-line.ts'
import { type Profile, profiles, tellToken } from './profiles.ts'
import { settingsOf } from './settings.ts'
import { tlsOf } from './tls.ts'

try {
  const command = parseCommand(process.argv.slice(2), process.env)
  if (command === null) process.stdout.write(help())
  else if (command.workers === undefined) await import('./serve.ts')
  else process.exitCode = await supervised(command, command.workers)
} catch (error) {
  tellMistake(error)
}

/** Gives the exit code, once all workers have ended. The supervisor loads nothing of the profile. */
async function supervised({ profile: name, tls }: Command, workers: number | 'auto'): Promise<number> {
  const profile: Profile = profiles[name]
  // A mistake is told here once, and not by each worker.
  settingsOf(name, process.env)
  if (tls !== undefined) tlsOf(tls)
  const { supervise } = await import('volant/cluster')
  const module = fileURLToPath(new URL('./serve.js', import.meta.url))
  const { finished } = supervise({ module, workers, args: process.argv.slice(2) })
  console.log(`Starting the workers (profile: ${name}, Node.js ${process.version})`)
  tellToken(profile, process.env)
  return finished
}
