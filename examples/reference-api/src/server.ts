/** Starts a profile; `--help` says which there are, and what the environment decides. */
import { type Command, help, parseCommand, UsageError } from './command-line.ts'
import { type Profile, profiles } from './profiles.ts'
import { settingsOf } from './settings.ts'
import { reloadOnSignal, tlsOf } from './tls.ts'

const { HOST, API_TOKEN } = process.env

try {
  const command = parseCommand(process.argv.slice(2), process.env)
  if (command === null) process.stdout.write(help())
  else await serve(command)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function serve({ profile: name, port, adapter, tls }: Command): Promise<void> {
  const profile: Profile = profiles[name]
  const settings = settingsOf(name, process.env)
  const app = profile.create(adapter === undefined ? {} : { adapter: { type: adapter } }, settings)
  const { url } = await app.listen({
    port,
    host: HOST || undefined,
    tls: tls === undefined ? undefined : tlsOf(tls),
  })
  if (tls !== undefined) reloadOnSignal(app, tls)
  console.log(
    `Listening on ${url} (profile: ${name}, engine: ${app.adapterName}, Node.js ${process.version})`,
  )
  if (profile.secured && !API_TOKEN)
    console.log('API_TOKEN is not set: routes that ask for a bearer token take "valid-token"')
}
