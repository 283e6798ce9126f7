/** Serves a profile in this process, which may be one of several workers. */
import { worker } from 'volant/cluster'
import { type Command, parseCommand, tellMistake } from './command-line.ts'
import { type Profile, profiles, tellToken } from './profiles.ts'
import { settingsOf } from './settings.ts'
import { reloadOnSignal, tlsOf } from './tls.ts'

try {
  const command = parseCommand(process.argv.slice(2), process.env)
  if (command !== null) await serve(command)
} catch (error) {
  tellMistake(error)
}

async function serve({ profile: name, port, adapter, tls }: Command): Promise<void> {
  const profile: Profile = profiles[name]
  const settings = settingsOf(name, process.env)
  const app = await profile.create(adapter === undefined ? {} : { adapter: { type: adapter } }, settings)
  const { url } = await app.listen({
    port,
    host: process.env.HOST || undefined,
    tls: tls === undefined ? undefined : tlsOf(tls),
  })
  if (tls !== undefined) reloadOnSignal(app, tls)
  // The supervisor says it once for all of its workers.
  if (worker.isSupervised) return
  console.log(
    `Listening on ${url} (profile: ${name}, engine: ${app.adapterName}, Node.js ${process.version})`,
  )
  tellToken(profile, process.env)
}
