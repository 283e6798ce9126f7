/** What `npm start -- …` takes. */
import { parseArgs } from 'node:util'
import type { AdapterType } from 'volant'
import { type Profile, type ProfileName, profiles } from './profiles.ts'

export interface Command {
  readonly profile: ProfileName
  readonly port: number
  readonly adapter: AdapterType | undefined
  /** The folder of the certificate; undefined serves HTTP without TLS. */
  readonly tls: string | undefined
  /** How many processes serve; undefined is this one alone, without a supervisor. */
  readonly workers: number | 'auto' | undefined
}

const adapters: readonly AdapterType[] = ['native', 'node-http', 'uwebsockets']

const mostWorkers = 1_024

/** A mistake on the command line; the message is one line. */
export class UsageError extends Error {}

/** Says in one line why the service does not start. */
export function tellMistake(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
}

/**
 * Parses the arguments; gives null if help is wanted. Options come before the environment: `--port`, then `PORT`, then
 * the port of the profile. An empty `TLS` counts as not set.
 */
export function parseCommand(args: readonly string[], env: NodeJS.ProcessEnv): Command | null {
  const {
    help,
    profile = 'reference',
    port = env.PORT,
    adapter,
    tls = env.TLS || undefined,
    workers,
  } = read(args)
  if (help) return null
  if (!isProfile(profile)) {
    throw new UsageError(`there is no profile ${profile}; there are ${Object.keys(profiles).join(', ')}`)
  }
  if (adapter !== undefined && !adapters.includes(adapter as AdapterType)) {
    throw new UsageError(`there is no adapter ${adapter}; there are ${adapters.join(', ')}`)
  }
  return {
    profile,
    port: port === undefined ? profiles[profile].port : checkPort(port),
    adapter: adapter as AdapterType | undefined,
    tls,
    workers: workers === undefined ? undefined : checkWorkers(workers, profile, adapter),
  }
}

export function help(): string {
  const rows = Object.entries(profiles).map(
    ([name, { about, port }]) => `  ${name.padEnd(24)} ${about}; port ${port}`,
  )
  return `npm start -- [--profile NAME] [--port N] [--adapter NAME] [--tls FOLDER] [--workers N]

Serves the reference service, or the routes of a benchmark document:

${rows.join('\n')}

  --port N         0 picks a free one; default PORT, else the profile's
  --adapter NAME   ${adapters.join(', ')}; default native, or node-http where that cannot load
  --tls FOLDER     speaks HTTPS and HTTP/2 with the certificate in FOLDER/cert.pem and FOLDER/key.pem, which
                   SIGHUP has it read anew; npm run cert writes one for development to .cert; default TLS
  --workers N      serves in so many processes, which share the port, and replaces those that end; auto for as many
                   as can run at once here. SIGHUP replaces them, one after the other. Default: this process alone.
                   With workers, veloxts is refused, since it keeps its users in memory, and so is uwebsockets

Environment:

  PORT, HOST       where it listens; default the profile's port, on all addresses
  DATABASE         the SQLite file; default a file of the profile's own
  API_TOKEN        the bearer token; default valid-token, none with NODE_ENV=production
  HOSTS            the names under which clients know the service, with commas between them; default all
  RATE_LIMIT       how many users an address may add in a minute; default 600
                   in the profile nessen how many requests it may send; default 60000000
  MAX_DELAY        by how many ms timers may come late before requests are refused with 503; default 200
  PUBLIC_DOCS      1: /, /docs, /openapi.* and /client.json are for everybody; 0: for the token
                   default 1, and 0 with NODE_ENV=production
  NODE_ENV         production: /metrics, /metrics.json, /api/health and /debug/memory are for the token
`
}

function read(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        profile: { type: 'string' },
        port: { type: 'string' },
        adapter: { type: 'string' },
        tls: { type: 'string' },
        workers: { type: 'string', short: 'w' },
        help: { type: 'boolean', short: 'h' },
      },
    })
    return values
  } catch (error) {
    // Only the first sentence: the rest explains the syntax of options.
    throw new UsageError((error as Error).message.split(/\. |\.?\n/)[0])
  }
}

function isProfile(name: string): name is ProfileName {
  return Object.hasOwn(profiles, name)
}

function checkPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text)
  throw new UsageError(`a port is a whole number from 0 to 65535, not ${JSON.stringify(text)}`)
}

function checkWorkers(text: string, name: ProfileName, adapter: string | undefined): number | 'auto' {
  const count = text === 'auto' ? text : Number(text)
  if (count !== 'auto' && !(/^[1-9]\d{0,3}$/.test(text) && count <= mostWorkers)) {
    throw new UsageError(
      `--workers is a whole number from 1 to ${mostWorkers}, or auto, not ${JSON.stringify(text)}`,
    )
  }
  const profile: Profile = profiles[name]
  if (profile.inMemory !== undefined && count !== 1) {
    throw new UsageError(
      `the profile ${name} keeps ${profile.inMemory} in memory, so that each worker would have others: leave --workers out`,
    )
  }
  if (adapter === 'uwebsockets') {
    throw new UsageError(
      'the adapter uwebsockets cannot get connections from a supervisor: leave --workers out, or choose native or node-http',
    )
  }
  return count
}
