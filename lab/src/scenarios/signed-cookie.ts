import type { Credentials, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'
import { cookieOf } from './sign-in.ts'

/** 32 bytes. */
const environment = { COOKIE_KEY: 'lab-cookie-key-of-32-characters.' }

const users: Credentials = { header: 'cookie', count: 10_000, checked: true, obtain: cookieOf }

function variant(name: string, path: string, body: string, credentials: Credentials): Variant {
  const measure = { kind: 'load' as const, load: load(get(path, body), { credentials }) }
  return { name, lane: 'plain', measure, environment }
}

/** Ours: what it costs to read a cookie that is signed; those who do not need it are sent the same cookies. */
export const signedCookie: Scenario = {
  name: 'signed-cookie',
  title: 'A signed cookie',
  about:
    'GET /read, which replies with the user that is in a signed cookie, from 10,000 users in turns, and GET /none, which does not look at the cookie.',
  document: null,
  program: 'cookies',
  headline: 'cpu',
  variants: [
    variant('read', '/read', '{"user":"{user}"}', users),
    variant('none', '/none', '{"user":"u10000"}', { ...users, checked: false }),
  ],
  proofs: [
    { path: '/none', status: 200, reply: '{"user":"u10000"}' },
    { path: '/read', status: 401 },
    { path: '/read', headers: { cookie: 'user=u10000' }, status: 401 },
  ],
}
