import { createHmac } from 'node:crypto'
import type { Credentials, Scenario, Variant } from '../scenario.ts'
import { get, load } from './load.ts'

const secret = 'lab-token-secret-of-32-characters'
const environment = { JWT_SECRET: secret }
const [issued, expires] = [1_760_000_000, 4_102_444_800]
const reply = '{"user":"{user}"}'

const users: Credentials = {
  header: 'authorization',
  count: 10_000,
  checked: true,
  obtain: (user) => Promise.resolve(`Bearer ${token({ sub: user })}`),
}

function token(claims: object, { alg = 'HS256', key = secret } = {}): string {
  const text = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${text({ alg, typ: 'JWT' })}.${text({ iat: issued, exp: expires, ...claims })}`
  const hash = alg === 'HS512' ? 'sha512' : 'sha256'
  const signature = alg === 'none' ? '' : createHmac(hash, key).update(signed).digest('base64url')
  return `${signed}.${signature}`
}

function variant(name: string, path: string, body: string, credentials: Credentials): Variant {
  const measure = { kind: 'load' as const, load: load(get(path, body), { credentials }) }
  return { name, lane: 'plain', measure, environment }
}

const refused = ['/verified', '/by-hand'].flatMap((path) =>
  [
    undefined,
    'Bearer ',
    'Bearer u10000',
    `Bearer ${token({ sub: 'u10000' }, { alg: 'none' })}`,
    `Bearer ${token({ sub: 'u10000' }, { key: `${secret}s` })}`,
    `Bearer ${token({ sub: 'u10000', exp: issued + 60 })}`,
  ].map((authorization) => ({ path, status: 401, ...(authorization && { headers: { authorization } }) })),
)

/** Ours: what it costs to verify a token; `crypto` is what a handler pays that does it by node:crypto itself. */
export const jwt: Scenario = {
  name: 'jwt',
  title: 'A JWT',
  about:
    'GET /verified, behind a JWT signed by HS256, with the tokens of 10,000 users in turns, GET /by-hand, whose handler verifies the same by node:crypto, and GET /none, which does not look at them.',
  document: null,
  program: 'tokens',
  headline: 'cpu',
  variants: [
    variant('hs256', '/verified', reply, users),
    variant('none', '/none', '{"user":"u10000"}', { ...users, checked: false }),
    variant('crypto', '/by-hand', reply, users),
  ],
  proofs: [
    { path: '/none', status: 200, reply: '{"user":"u10000"}' },
    ...['/verified', '/by-hand'].map((path) => ({
      path,
      headers: { authorization: `Bearer ${token({ sub: 'u10007' })}` },
      status: 200,
      reply: '{"user":"u10007"}',
    })),
    ...refused,
    // @fastify/jwt refuses another algorithm with 500.
    ...['/verified', '/by-hand'].map((path) => ({
      path,
      headers: { authorization: `Bearer ${token({ sub: 'u10000' }, { alg: 'HS512' })}` },
      status: [401, 500],
    })),
  ],
}
