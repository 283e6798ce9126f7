import { Group } from '../case.ts'

export const host = new Group('host', 'RFC 9112 §3.2')
const g = host
const with11 = (lines: string, target = '/echo') => `GET ${target} HTTP/1.1\r\n${lines}\r\n`
const with10 = (lines: string) => `GET /echo HTTP/1.0\r\nConnection: keep-alive\r\n${lines}\r\n`

for (const [id, value] of [
  ['name', 'example.com'],
  ['port', 'example.com:8080'],
  ['port-65535', 'a:65535'],
  ['port-empty', 'a:'],
  ['port-leading-zeros', 'a:00080'],
  ['ipv4', '127.0.0.1:80'],
  ['ipv6', '[::1]'],
  ['ipv6-port', '[::1]:8080'],
  ['ipv6-full', '[2001:db8:0:0:0:0:0:1]'],
  ['ipv6-ipv4', '[::ffff:127.0.0.1]'],
  ['underscore', 'a_b'],
  ['punycode', 'xn--bcher-kva.example'],
  ['upper-case', 'EXAMPLE.COM'],
  ['trailing-dot', 'example.com.'],
] as const) {
  g.accept(id, with11(`Host: ${value}\r\n`), { headers: { host: value } }, 'RFC 9110 §7.2')
}
g.accept('no-space', with11('Host:a\r\n'), { headers: { host: 'a' } })
g.accept('tab', with11('Host:\ta\r\n'), { headers: { host: 'a' } })
g.accept('trailing-space', with11('Host: a \t \r\n'), { headers: { host: 'a' } })
g.accept('name-case', with11('hOsT: a\r\n'), { headers: { host: 'a' } })
g.accept('last-field', with11('X-A: 1\r\nHost: a\r\n'), { headers: { host: 'a', 'x-a': '1' } })
g.accept(
  'absolute-form-differs',
  with11('Host: b\r\n', 'http://a/echo'),
  { path: '/echo' },
  'RFC 9112 §3.2.2',
)
g.accept('http10-none', with10(''), { version: '1.0' }, 'RFC 9110 §7.2')
g.accept('http10-one', with10('Host: a\r\n'), { version: '1.0', headers: { host: 'a' } })

// An empty value is what a client sends whose target URI has no authority.
g.accept('empty', with11('Host:\r\n'), { path: '/echo' })
g.accept('empty-with-whitespace', with11('Host: \t \r\n'), { path: '/echo' })

g.refuse('none', with11(''))
g.refuse('none-absolute-form', with11('', 'http://a/echo'))
g.refuse('two-equal', with11('Host: a\r\nHost: a\r\n'))
g.refuse('two-different', with11('Host: a\r\nHost: b\r\n'))
g.refuse('two-apart', with11('Host: a\r\nX: y\r\nhost: b\r\n'))
g.refuse('two-one-empty', with11('Host: a\r\nHost:\r\n'))
g.refuse('three', with11('Host: a\r\nHost: a\r\nHost: a\r\n'))
g.refuse('two-absolute-form', with11('Host: a\r\nHost: a\r\n', 'http://a/echo'))
g.refuse('invalid-absolute-form', with11('Host: a b\r\n', 'http://a/echo'))
g.refuse('http10-two', with10('Host: a\r\nHost: a\r\n'))
for (const [id, value] of [
  ['comma', 'a,b'],
  ['comma-space', 'a, b'],
  ['space', 'a b'],
  ['tab-inside', 'a\tb'],
  ['userinfo', 'u@a'],
  ['path', 'a/b'],
  ['query', 'a?b'],
  ['fragment', 'a#b'],
  ['backslash', 'a\\b'],
  ['scheme', 'http://a'],
  ['port-65536', 'a:65536'],
  ['port-long', 'a:000000000000000000000000000000000000000080x'],
  ['port-six-digits', 'a:000080'],
  ['port-letters', 'a:abc'],
  ['port-sign', 'a:-1'],
  ['port-plus', 'a:+80'],
  ['port-twice', 'a:80:80'],
  ['ipv6-bare', '::1'],
  ['ipv6-open', '[::1'],
  ['ipv6-close', '::1]'],
  ['ipv6-not-hex', '[::zz]'],
  ['ipv6-empty', '[]'],
  ['ipv6-suffix', '[::1]x'],
  ['ipv6-too-long', '[1:2:3:4:5:6:7:8:9]'],
  ['ipv6-zone', '[fe80::1%25eth0]'],
  ['ip-future', '[v1.a]'],
  ['escape-broken', 'a%zz'],
  ['pipe', 'a|b'],
  ['only-port', ':80'],
  ['angle', '<a>'],
  ['quote', '"a"'],
  ['brace', '{a}'],
  ['non-ascii', 'b\xfccher'],
  ['nul', 'a\0b'],
  ['control', 'a\x01b'],
  ['delete-char', 'a\x7fb'],
] as const) {
  g.refuse(`value-${id}`, with11(`Host: ${value}\r\n`))
}
g.refuse('space-before-colon', with11('Host : a\r\n'), 400, 'RFC 9112 §5.1')
g.refuse('fold', with11('Host: a\r\n b\r\n'), 400, 'RFC 9112 §5.2')
g.refuse('fold-first', with11('Host:\r\n a\r\n'), 400, 'RFC 9112 §5.2')
g.refuse('leading-space', with11(' Host: a\r\n'), 400, 'RFC 9112 §2.2')
