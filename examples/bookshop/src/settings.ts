/** What the environment decides. Every secret has a default for development and none for production. */
import { fileURLToPath } from 'node:url'

export type Settings = ReturnType<typeof settingsOf>

export function settingsOf(env: NodeJS.ProcessEnv) {
  const {
    DATABASE_URL,
    DATABASE_TIMEOUT,
    SECRETS,
    CLERK,
    COVERS,
    PAGE_ORIGIN,
    PROXIES,
    MAX_DELAY,
    NODE_ENV,
  } = env
  const isProduction = NODE_ENV === 'production'
  if (isProduction && !SECRETS) {
    throw new Error(
      'SECRETS is not set: give it keys with commas between them, the newest first (openssl rand -hex 32)',
    )
  }
  return {
    /** A file of SQLite, or `postgres://…`. */
    database: DATABASE_URL || fileURLToPath(new URL('../../bookshop.db', import.meta.url)),
    /** Requests and checks wait so long for the database, in ms. */
    databaseTimeout: DATABASE_TIMEOUT ? Number(DATABASE_TIMEOUT) : undefined,
    /** They seal sessions and sign tokens: the newest first, older ones until their sessions have ended. */
    secrets: (SECRETS || 'this key is for development and nothing else').split(','),
    /** `email:password` of the first clerk. */
    clerk: CLERK || (isProduction ? undefined : 'clerk@example.com:only for development'),
    covers: COVERS || fileURLToPath(new URL('../../covers', import.meta.url)),
    /** Where the page is served from. */
    pageOrigin: PAGE_ORIGIN || 'http://localhost:3001',
    /** Addresses and ranges of the proxies in front, with commas between them. */
    proxies: PROXIES ? PROXIES.split(',') : false,
    /** Requests are refused while timers come later than this, in ms. */
    maxEventLoopDelay: MAX_DELAY ? Number(MAX_DELAY) : undefined,
  }
}
