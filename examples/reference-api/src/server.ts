/**
 * Starts a profile; `--help` tells which there are. From the environment: `PORT`, `HOST` (default all addresses),
 * `DATABASE` (default a file of the profile's own in the folder `data`), `API_TOKEN` (default `valid-token`, for
 * development only).
 */
import { type Command, help, parseCommand, UsageError } from './command-line.ts'
import { defaultDatabase, type Profile, profiles } from './profiles.ts'

const { HOST, DATABASE, API_TOKEN } = process.env

try {
  const command = parseCommand(process.argv.slice(2), process.env)
  if (command === null) process.stdout.write(help())
  else await serve(command)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

async function serve({ profile: name, port, adapter }: Command): Promise<void> {
  const profile: Profile = profiles[name]
  const app = profile.create(adapter === undefined ? {} : { adapter: { type: adapter } }, {
    database: DATABASE ?? defaultDatabase(name),
    token: API_TOKEN ?? 'valid-token',
  })
  const { url } = await app.listen(port, HOST)
  console.log(
    `Listening on ${url} (profile: ${name}, engine: ${app.adapterName}, Node.js ${process.version})`,
  )
  if (profile.secured && !API_TOKEN)
    console.log('API_TOKEN is not set: routes that ask for a bearer token take "valid-token"')
}
