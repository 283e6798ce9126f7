/**
 * Tokens made at random, good ones and broken ones, and which of them `jose` accepts that are refused here. `SEED` repeats
 * a run, `ROUNDS` makes it longer.
 */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import type { TestContext } from 'node:test'
import { type JWTPayload, type JWTVerifyOptions } from 'jose'
import { Random, testClock } from '@volant/test-kit'
import { type VerifyJwtOptions } from 'volant/jwt'

export const now = 1_800_000_000
export const secret = Buffer.alloc(64, 'a secret of 64 bytes ')
export const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
export const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 32))

export const rounds = Number(
  process.env['ROUNDS'] ?? (process.env['TEST_ALL'] === undefined ? 4_000 : 12_000),
)

const random = new Random(seed)
export const oneOf = <T>(list: readonly T[]): T => random.pick(list)
const isRare = (): boolean => random.below(12) === 0
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 })
const hashes: Readonly<Record<string, string>> = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' }

const times = [
  ...[-3_600, -6, -5, -4, -1, 0, 1, 4, 5, 6, 3_600].map((by) => now + by),
  now + 5.5,
  0,
  -1,
  1e308,
  '1e999',
  `"${now + 60}"`,
  'null',
  'true',
  '[]',
  '{}',
]

const parties = [
  '"a"',
  '"b"',
  '"A"',
  '["a"]',
  '["b","a"]',
  '[["a"]]',
  '[]',
  '[7,null,"a"]',
  'null',
  '7',
  '{"0":"a"}',
  '""',
]

const odd: readonly ((text: string) => string)[] = [
  (text) => ` ${text}\n`,
  (text) => `\ufeff${text}`,
  (text) => `${text},`,
  (text) => text.slice(0, -1),
  (text) => `[${text}]`,
  (text) => text.replaceAll('"', "'"),
  (text) => `${text}${' '.repeat(random.below(9_000))}`,
  () => 'null',
  () => '"text"',
  () => '7',
  () => '',
]

const spellings: readonly ((text: string) => string)[] = [
  (text) => Buffer.from(text, 'base64url').toString('base64'),
  (text) => text.padEnd(Math.ceil(text.length / 4) * 4, '='),
  (text) => text.replaceAll('-', '+').replaceAll('_', '/'),
  (text) => `${text} `,
  (text) => `${text.slice(0, 7)}\n${text.slice(7)}`,
  (text) => `${text}A`,
  (text) => text.slice(0, -1),
  // Other bits at the end, which no byte has.
  (text) => text.slice(0, -1) + alphabet[(alphabet.indexOf(text.at(-1) ?? 'A') ^ 1) & 63],
  (text) => `${text.slice(0, 5)}ü${text.slice(5)}`,
  (text) => `${text.slice(0, -1)}${String.fromCharCode((text.charCodeAt(text.length - 1) || 65) + 256)}`,
]

export const rules: readonly Rules[] = [
  {},
  { clockTolerance: 0 },
  { issuer: 'a' },
  { issuer: ['b', 'a'], audience: ['c', 'a'] },
  { audience: 'a', clockTolerance: 60 },
  { subject: 'a', requiredClaims: ['iss'] },
  { maxTokenAge: 60, clockTolerance: 2 },
  { maxTokenAge: '1 minute', requireExpiration: false },
  { typ: 'JWT' },
  { typ: 'application/at+jwt' },
  { requireExpiration: false },
  { requiredClaims: ['toString', '__proto__'] },
]

export const sources: readonly (readonly [string, object, unknown])[] = [
  ['a secret', { secret, algorithms: ['HS256'] }, secret],
  ['a secret', { secret, algorithms: ['HS512', 'HS384'] }, secret],
  ['a key', { key: rsa.publicKey, algorithms: ['RS256'] }, rsa.publicKey],
]

/** Claims as text, since JSON.stringify writes no duplicate names. */
function madeClaims(): string {
  const claims: [string, unknown][] = [['sub', oneOf(['"a"', '"b"', '7'])]]
  if (random.below(20) > 0) claims.push(['exp', isRare() ? oneOf(times) : now + 60])
  if (random.below(3) === 0) claims.push(['nbf', isRare() ? oneOf(times) : now - random.below(9)])
  if (random.below(2) === 0) claims.push(['iat', isRare() ? oneOf(times) : now - random.below(90)])
  if (random.below(2) === 0) claims.push(['iss', isRare() ? oneOf(parties) : '"a"'])
  if (random.below(2) === 0) claims.push(['aud', random.below(3) === 0 ? oneOf(parties) : '"a"'])
  if (isRare()) claims.push(['exp', oneOf(times)])
  if (isRare()) claims.push([oneOf(['__proto__', 'constructor', 'toString']), `{"exp":${now + 60}}`])
  if (isRare()) claims.push(['text', oneOf(['"\\ud800"', '"ü"', '"\u{1f600}"', '"\\u0000"', '"\ufffd"'])])
  if (isRare()) claims.push(['deep', '['.repeat(1_000) + ']'.repeat(1_000)])
  const text = `{${claims.map(([name, value]) => `${JSON.stringify(name)}:${String(value)}`).join(',')}}`
  return isRare() ? oneOf(odd)(text) : text
}

function madeHeader(alg: string): string {
  const header: [string, string][] = [['alg', JSON.stringify(alg)]]
  if (random.below(2) === 0)
    header.push(['typ', oneOf(['"JWT"', '"jwt"', '"application/jwt"', '"at+jwt"', '7'])])
  if (random.below(3) === 0) header.push(['kid', oneOf(['"k"', '"../../dev/null"', '7', 'null'])])
  if (isRare())
    header.push([
      'alg',
      oneOf(['"HS256"', '"none"', '"NONE"', '"hs256"', 'null', '["HS256"]', '""', '"RS256"']),
    ])
  if (isRare())
    header.push(['crit', oneOf(['["b64"]', '["exp"]', '[]', 'null', '"b64"', '[7]', '["__proto__"]'])])
  if (isRare()) header.push(['b64', oneOf(['true', 'false', 'null'])])
  if (isRare()) header.push(['__proto__', '{"alg":"none","crit":["x"]}'])
  if (isRare()) header.push(['jwk', JSON.stringify({ kty: 'oct', k: 'AAAA' })])
  const text = `{${header.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
  return random.below(40) === 0 ? oneOf(odd)(text) : text
}

/** Encodes as base64url, and now and then as something like it. */
function encoded(text: string): string {
  const bytes = random.below(60) === 0 ? Buffer.from(text, 'latin1') : Buffer.from(text)
  const good = bytes.toString('base64url')
  return random.below(20) === 0 ? oneOf(spellings)(good) : good
}

function changed(token: string): string {
  const parts = token.split('.')
  const at = random.below(token.length)
  return oneOf([
    () => token.slice(0, at) + oneOf([...alphabet, '.', '=', ' ', '\0', 'é']) + token.slice(at + 1),
    () => token.slice(0, at) + token.slice(at + 1),
    () => token.slice(0, at) + oneOf([...alphabet]) + token.slice(at),
    () => [...parts].reverse().join('.'),
    () => `${token}.`,
    () => `.${token}`,
    () => ` ${token}`,
    () => `${token}\n`,
    () => parts.slice(0, 2).join('.'),
    () => `${parts[0]}.${parts[1]}.`,
    () => `${parts[0]}..${parts[2]}`,
    () => `${parts.slice(0, 2).join('.')}.${oneOf(spellings)(parts[2] ?? '')}`,
    () => '',
  ])()
}

export function madeToken(algorithms: readonly string[]): string {
  const alg = isRare() ? oneOf(['HS256', 'HS384', 'HS512', 'RS256', 'none', 'ES256']) : oneOf(algorithms)
  const input = `${encoded(madeHeader(alg))}.${encoded(madeClaims())}`
  const by = isRare() ? oneOf(['HS256', 'HS384', 'RS256']) : alg
  const key = isRare()
    ? oneOf([Buffer.alloc(64), rsa.publicKey.export({ format: 'pem', type: 'spki' })])
    : secret
  const bytes =
    by === 'RS256'
      ? sign('sha256', Buffer.from(input), rsa.privateKey)
      : createHmac(hashes[by] ?? 'sha256', key)
          .update(input)
          .digest()
  const token = `${input}.${bytes.toString('base64url')}`
  return random.below(3) === 0 ? changed(token) : token
}

export type Rules = Pick<
  VerifyJwtOptions,
  | 'issuer'
  | 'audience'
  | 'subject'
  | 'requiredClaims'
  | 'clockTolerance'
  | 'maxTokenAge'
  | 'typ'
  | 'requireExpiration'
>

export function ruleOfJose({
  requireExpiration = true,
  requiredClaims = [],
  clockTolerance = 5,
  maxTokenAge,
  ...same
}: Rules) {
  return {
    ...same,
    clockTolerance,
    requiredClaims: [...requiredClaims, ...(requireExpiration ? ['exp'] : [])],
    ...(maxTokenAge === undefined ? {} : { maxTokenAge: 60 }),
  } as JWTVerifyOptions
}

/** Gives the rule by which a token is refused that `jose` accepts, or null. */
export function stricter(token: string, { clockTolerance = 5 }: Rules, claims: JWTPayload): string | null {
  const parts = token.split('.')
  if (token.length > 8_192) return 'larger than 8 KiB'
  if (parts.some((part) => !/^[\w-]*$/.test(part))) return 'characters that base64url does not have'
  const mac = parts[2] as string
  if (Buffer.from(mac, 'base64url').toString('base64url') !== mac) return 'another spelling of the signature'
  const [header = '', payload = ''] = parts.map((part) => Buffer.from(part, 'base64url').toString())
  if (header.startsWith('\ufeff') || payload.startsWith('\ufeff')) return 'a byte order mark'
  if (Object.hasOwn(JSON.parse(header) as object, 'crit')) return 'a critical parameter'
  if ([claims.exp, claims.nbf, claims.iat].some((time) => time !== undefined && !Number.isFinite(time))) {
    return 'a time that is infinite'
  }
  return (claims.iat ?? 0) > now + clockTolerance ? 'issued in the future' : null
}

/** Holds the clock at the time of the tokens. */
export function holdClock(t: TestContext): void {
  testClock(t).setDate(now * 1_000 + 500)
}
