import type { Credentials, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'
import { sealedCookie } from './sign-in.ts'

/** 32 bytes, which is what each of them needs. */
const environment = { SESSION_KEY: 'lab-session-key-of-32-characters' }
const named = '{"user":"{user}"}'

const users: Credentials = { header: 'cookie', count: 10_000, checked: true, obtain: sealedCookie }

function variant(name: string, path: string, body: string, credentials: Credentials): Variant {
  const measure = { kind: 'load' as const, load: load(get(path, body), { credentials }) }
  return { name, lane: 'plain', measure, environment }
}

/** Ours: what it costs to open a sealed cookie; those who do not need it are sent the same cookies. */
export const sealedSession: Scenario = {
  name: 'sealed-session',
  title: 'A sealed cookie session',
  about:
    'GET /read, which replies with the user that is in a sealed cookie, from 10,000 users in turns, and GET /none, which does not look at the cookie.',
  document: null,
  program: 'sessions',
  headline: 'cpu',
  variants: [
    variant('read', '/read', named, users),
    variant('none', '/none', '{"user":"u10000"}', { ...users, checked: false }),
  ],
  proofs: [
    { path: '/none', status: 200, reply: '{"user":"u10000"}' },
    { path: '/read', status: 401 },
    { path: '/read', headers: { cookie: 'session=u10000; __Host-session=u10000' }, status: 401 },
  ],
}
