/** The environment says where the data of a profile is, and who may see what. */
import { UsageError } from './command-line.ts'
import { defaultDatabase, type Profile, type ProfileName, profiles, type Settings } from './profiles.ts'

/** An empty variable counts as one that is not set. Throws `UsageError`. */
export function settingsOf(name: ProfileName, env: NodeJS.ProcessEnv): Settings {
  const profile: Profile = profiles[name]
  const { NODE_ENV, DATABASE, API_TOKEN, HOSTS = '', RATE_LIMIT = '', PUBLIC_DOCS = '', MAX_DELAY = '' } = env
  const production = NODE_ENV === 'production'
  if (production && profile.secured && !API_TOKEN) {
    throw new UsageError(
      'API_TOKEN is not set, and with NODE_ENV=production it has no default: set it to a long random text (openssl rand -hex 32)',
    )
  }
  if (!/^[01]?$/.test(PUBLIC_DOCS)) {
    throw new UsageError(`PUBLIC_DOCS is 1 or 0, not ${JSON.stringify(PUBLIC_DOCS)}`)
  }
  if (RATE_LIMIT !== '' && !(/^[1-9]\d*$/.test(RATE_LIMIT) && Number(RATE_LIMIT) <= 60_000_000)) {
    throw new UsageError(`RATE_LIMIT is a whole number from 1 to 60000000, not ${JSON.stringify(RATE_LIMIT)}`)
  }
  if (MAX_DELAY !== '' && !/^[1-9]\d{0,3}$/.test(MAX_DELAY)) {
    throw new UsageError(`MAX_DELAY is a whole number from 1 to 9999, not ${JSON.stringify(MAX_DELAY)}`)
  }
  return {
    database: DATABASE || defaultDatabase(name),
    token: API_TOKEN || 'valid-token',
    ...(RATE_LIMIT === '' ? {} : { rateLimit: Number(RATE_LIMIT) }),
    ...(MAX_DELAY === '' ? {} : { maxEventLoopDelay: Number(MAX_DELAY) }),
    ...(HOSTS === '' ? {} : { hosts: HOSTS.split(',') }),
    publicFigures: !production,
    canRestart: !production,
    publicDocs: PUBLIC_DOCS === '' ? !production : PUBLIC_DOCS === '1',
  }
}
