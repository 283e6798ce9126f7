// Writes paths.json: raw path → canonical path, or null where the request is refused. The expected values come from
// the tables below (RFC 3986 §2.2, §2.3, §3.3, §6.2.2; RFC 3629 §3–4), not from an implementation.
// Run: node crates/route/cases/paths.mjs
import { writeFileSync } from 'node:fs'

const unreserved = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~'
const reserved = "!$&'()*+,;=:@"
// No path may hold them raw (RFC 3986 §3.3), and URL parsers of clients leave them raw (WHATWG URL, path percent-encode set).
const encoded = '[]^|'
const cases = new Map()

function expect(raw, canonical) {
  if (cases.has(raw) && cases.get(raw) !== canonical)
    throw new Error(`two answers for ${JSON.stringify(raw)}`)
  cases.set(raw, canonical)
}
const same = (...paths) => paths.forEach((path) => expect(path, path))
const refuse = (...paths) => paths.forEach((path) => expect(path, null))
const hex = (byte) => byte.toString(16).toUpperCase().padStart(2, '0')

// Every escape of one byte, inside a segment and as a whole segment, in upper and lower case.
for (let byte = 0; byte < 256; byte++) {
  const upper = `%${hex(byte)}`
  const character = String.fromCharCode(byte)
  let stands = upper
  if (unreserved.includes(character)) stands = character
  if (byte === 0 || byte > 0x7f) stands = null
  for (const escape of [upper, upper.toLowerCase()]) {
    expect(`/a${escape}b`, stands && `/a${stands}b`)
    expect(`/x/${escape}`, stands && character !== '.' ? `/x/${stands}` : null)
  }
}

// Every character as it is.
for (let byte = 0; byte < 128; byte++) {
  const character = String.fromCharCode(byte)
  if (character === '%') continue
  const allowed = character === '/' || unreserved.includes(character) || reserved.includes(character)
  const escape = encoded.includes(character) ? `/a%${hex(byte)}b` : null
  expect(`/a${character}b`, allowed ? `/a${character}b` : escape)
}
refuse('/é', '/naïve', '/日本', '/😀', '/\u0080', '/\u00ff', '/a\u00a0b', '/\u2028')

// Not a path at all.
refuse(
  '',
  '*',
  'a',
  'a/b',
  '.',
  '..',
  '%2F',
  '%2fa',
  '?',
  '#',
  '\\',
  'http://h/a',
  'http://h',
  '//h\\a',
  'h:80',
  ' /a',
  '\t/a',
)

// Separators: kept as they are, and an escaped one is no separator.
same(
  '/',
  '//',
  '///',
  '/a',
  '/a/',
  '//a',
  '/a//b',
  '/a//',
  '/a///b',
  '/%2F',
  '/a%2Fb',
  '/%2Fa/',
  '/a%2F%2Fb',
  '//h/a',
)
for (const [raw, canonical] of [
  ['/%2f', '/%2F'],
  ['/a%2fb', '/a%2Fb'],
  ['/a%2f', '/a%2F'],
  ['/a%2f%2Fb', '/a%2F%2Fb'],
  ['/%2f%2f', '/%2F%2F'],
  ['/admin%2fusers', '/admin%2Fusers'],
  ['/a/%2f/b', '/a/%2F/b'],
  ['/a%5cb', '/a%5Cb'],
  ['/%5c%5C', '/%5C%5C'],
  ['/..%5c..', '/..%5C..'],
  ['/%2e%2e%5c', '/..%5C'],
])
  expect(raw, canonical)
refuse('/\\', '\\a', '/a\\b', '/..\\..', '/a\\..\\b', '/\\..', '/a/..\\')

// Dot segments: every spelling of `.` and `..` as a whole segment, in every place.
const dots = ['.', '%2e', '%2E']
const dotSegments = [...dots, ...dots.flatMap((first) => dots.map((second) => first + second))]
for (const segment of dotSegments) {
  refuse(
    `/${segment}`,
    `/${segment}/`,
    `/a/${segment}`,
    `/a/${segment}/b`,
    `/${segment}/b`,
    `//${segment}//`,
    `/${segment}/..`,
  )
}
// Dots that are no dot segment.
same(
  '/...',
  '/....',
  '/.a',
  '/a.',
  '/..a',
  '/a..',
  '/.a/..b',
  '/a..b',
  '/.well-known/x',
  '/..;',
  '/.;',
  '/;..',
  '/..%2F',
  '/%2F..',
  '/..%2F..',
  '/.%20',
  '/..%20',
  '/.%C3%A9',
  '/..,',
  '/...;a',
  '/~..',
  '/-.',
)
for (const first of ['%2e', '%2E']) {
  expect(`/${first}..`, '/...')
  expect(`/..${first}`, '/...')
  expect(`/${first}${first}${first}`, '/...')
  expect(`/${first}a`, '/.a')
  expect(`/a${first}`, '/a.')
  expect(`/${first}${first}a`, '/..a')
  expect(`/${first}${first};x`, '/..;x')
  expect(`/${first};`, '/.;')
  expect(`/${first}${first}%2fetc`, '/..%2Fetc')
  expect(`/a%2f${first}${first}%2Fb`, '/a%2F..%2Fb')
  expect(`/a${first}json`, '/a.json')
  expect(`/%${first.slice(1)}.`, null)
}

// Escapes that are escaped: decoded once, never twice.
for (const [raw, canonical] of [
  ['/%252e', '/%252e'],
  ['/%252e%252e', '/%252e%252e'],
  ['/%252f', '/%252f'],
  ['/%25%32%65', '/%252e'],
  ['/%252E%252E/', '/%252E%252E/'],
  ['/%2525', '/%2525'],
  ['/%25', '/%25'],
  ['/%25%', null],
  ['/%25zz', '/%25zz'],
  ['/%2500', '/%2500'],
  ['/%25%30%30', '/%2500'],
  ['/%%32e', null],
  ['/%2%65', null],
  ['/%%2e', null],
  ['/%25c0%25af', '/%25c0%25af'],
])
  expect(raw, canonical)

// Escapes that are none.
for (const broken of [
  '%',
  '%2',
  '%z',
  '%zz',
  '%2z',
  '%z2',
  '%g0',
  '%0g',
  '%G0',
  '% 2',
  '%2 ',
  '%+2',
  '%-1',
  '%0x',
  '%u002e',
  '%u2215',
  '%U002E',
  '%%',
  '%/',
  '%2/',
  '%;e',
  '%.e',
  '%é0',
  '%\u0000',
  '%2%',
  '%0%30',
  '%:0',
  '%@0',
  '%`0',
  '%/0',
  '%0:',
  '%0@',
  '%0G',
  '%0`',
  '%0/',
]) {
  refuse(`/${broken}`, `/a${broken}`, `/a/${broken}/b`, `/%20${broken}`)
}

// Zero bytes, anywhere.
refuse(
  '/%00',
  '/a%00',
  '/%00a',
  '/a%00.json',
  '/%00/',
  '/a/%00',
  '/%2e%00',
  '/..%00',
  '/%c3%a9%00',
  '/%00%c3%a9',
  '/%c0%80',
  '/\u0000',
  '/a\u0000',
)

// UTF-8 in escapes (RFC 3629 §4): the first and last of each length, and mixed case.
for (const text of [
  'c3a9',
  'c280',
  'dfbf',
  'e0a080',
  'e28082',
  'e697a5e69cac',
  'ed9fbf',
  'ee8080',
  'efbbbf',
  'efbfbf',
  'f0908080',
  'f09f9880',
  'f48fbfbf',
  'c3a9c3a9',
  'c2a0',
  'e280ae',
  'ef bc 8f'.replaceAll(' ', ''),
  'e28095',
  'efbc8e',
]) {
  const escapes = text.match(/../g)
  const canonical = escapes.map((byte) => `%${byte.toUpperCase()}`).join('')
  const lower = escapes.map((byte) => `%${byte}`).join('')
  const mixed = escapes.map((byte) => `%${byte[0].toUpperCase()}${byte[1]}`).join('')
  for (const raw of [canonical, lower, mixed]) {
    expect(`/${raw}`, `/${canonical}`)
    expect(`/a${raw}b/%41`, `/a${canonical}b/A`)
  }
  refuse(
    `/${lower.slice(0, -3)}`,
    `/${lower.slice(0, -3)}a`,
    `/${lower.slice(0, -3)}/${lower.slice(-3)}`,
    `/${lower.slice(3)}`,
    `/${lower}%80`,
    `/%80${lower}`,
  )
}
// Overlong forms, surrogates, past the last character, bytes that never are, sequences that are cut or stray.
for (const text of [
  'c080',
  'c0ae',
  'c0af',
  'c1bf',
  'c19c',
  'e08080',
  'e080af',
  'e080ae',
  'e09fbf',
  'e0809f',
  'f0808080',
  'f08080af',
  'f08080ae',
  'f08fbfbf',
  'f8808080af',
  'f8888080',
  'fc80808080af',
  'eda080',
  'edafbf',
  'edb080',
  'edbfbf',
  'eda0bdedb880',
  'f4908080',
  'f5808080',
  'f7bfbfbf',
  'fe',
  'ff',
  'feff',
  'fffe',
  '80',
  'bf',
  '80bf',
  'c3',
  'e2',
  'e282',
  'f0',
  'f09f',
  'f09f98',
  'c3c3',
  'c32e',
  'c37a',
  'e28041',
  'f09f9841',
  'c2c2a0',
  'a9c3',
  'e0a0',
  'c3a9a9',
  'c3a9c3',
  'c0',
  'c1',
  'f5',
  'f8',
  'e9',
  '2ec0ae',
  'c0ae2e',
  'c0aec0ae',
]) {
  const escapes = text
    .match(/../g)
    .map((byte) => `%${byte}`)
    .join('')
  refuse(`/${escapes}`, `/a${escapes}`, `/${escapes.toUpperCase()}/b`)
}

// What frameworks have split, stripped or decoded differently from the router behind them.
same(
  '/admin;',
  '/admin;a=b',
  '/a;/b',
  '/;a',
  '/a,b',
  '/a;b=c;d=e/f',
  '/admin%20',
  '/admin%09',
  '/admin%0A',
  '/admin%3F',
  '/admin%23',
  '/a%3Bb',
  '/a:b@c',
  '/a&b=c',
  '/@scope/name',
  '/(a)',
  "/'a'",
  '/a+b',
  '/a=b',
  '/a$b!c*d',
)
for (const [raw, canonical] of [
  ['/%61dmin', '/admin'],
  ['/%61%64%6d%69%6e', '/admin'],
  ['/%61%64%6D%69%6E', '/admin'],
  ['/%41dmin', '/Admin'],
  ['/adm%69n/', '/admin/'],
  ['/a%3bb', '/a%3Bb'],
  ['/a%3fb', '/a%3Fb'],
  ['/admin%3fx', '/admin%3Fx'],
  ['/a%2cb', '/a%2Cb'],
  ['/a%40b', '/a%40b'],
  ['/a%3ab', '/a%3Ab'],
  ['/%7euser', '/~user'],
  ['/%7Euser', '/~user'],
  ['/a%2d%5f', '/a-_'],
  ['/a%0d%0ab', '/a%0D%0Ab'],
  ['/a%0D%0aX:1', '/a%0D%0AX:1'],
  ['/%3cscript%3e', '/%3Cscript%3E'],
  ['/a%7fb', '/a%7Fb'],
  ['/%5b%5d', '/%5B%5D'],
  ['/%22', '/%22'],
  ['/[a]', '/%5Ba%5D'],
  ['/|', '/%7C'],
  ['/^|', '/%5E%7C'],
  ['/.|', '/.%7C'],
  ['/|..', '/%7C..'],
  ['/a|b/%61%7c^', '/a%7Cb/a%7C%5E'],
  ['/[%5b', '/%5B%5B'],
  ['/|%', null],
  ['/|/..', null],
  ['/|\u00e9', null],
  ['/^/%00', null],
  ['/static/%2e%2e%2f%2e%2e%2fetc', '/static/..%2F..%2Fetc'],
])
  expect(raw, canonical)

const rows = [...cases].map((row) =>
  JSON.stringify(row).replace(/[\x7f-\uffff]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`),
)
writeFileSync(new URL('paths.json', import.meta.url), `[\n${rows.join(',\n')}\n]\n`)
