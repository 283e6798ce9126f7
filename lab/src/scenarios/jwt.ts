import { createHmac } from 'node:crypto'
import type { Credentials, Proof, Scenario, Variant } from '../scenario.ts'
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

const paths = ['/verified', '/by-hand']
const known = { sub: 'u10000' }
// A token of another algorithm is refused with 500 by @fastify/jwt, and a malformed field with 400 by some (RFC 6750 §3.1).
const refused: readonly [authorization: string | undefined, ...statuses: number[]][] = [
  [undefined, 401],
  ['Bearer', 400, 401],
  ['Bearer u10000', 400, 401],
  [`Bearer ${token(known, { alg: 'none' })}`, 401],
  [`Bearer ${token(known, { alg: 'HS512' })}`, 401, 500],
  [`Bearer ${token(known, { key: `${secret}s` })}`, 401],
  [`Bearer ${token({ ...known, exp: issued + 60 })}`, 401],
]

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
    ...paths.flatMap((path): Proof[] => [
      {
        path,
        headers: { authorization: `Bearer ${token({ sub: 'u10007' })}` },
        status: 200,
        reply: '{"user":"u10007"}',
      },
      ...refused.map(([authorization, ...status]) => ({
        path,
        status,
        headers: authorization === undefined ? {} : { authorization },
      })),
    ]),
  ],
}
