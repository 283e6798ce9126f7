import { Group, canary, get } from '../case.ts'

export const target = new Group('target', 'RFC 9112 §3.2')
const g = target

g.accept('origin-with-query', get('/echo?a=1&b=2'), { path: '/echo', query: 'a=1&b=2' }, 'RFC 9112 §3.2.1')
g.accept('origin-empty-query', get('/echo?'), { path: '/echo', query: '' })
g.accept(
  'origin-query-with-question-mark',
  get('/echo?a=b?c'),
  { path: '/echo', query: 'a=b?c' },
  'RFC 3986 §3.4',
)
g.accept(
  'origin-query-with-slash-and-dots',
  get('/echo?/../x'),
  { path: '/echo', query: '/../x' },
  'RFC 3986 §3.4',
)
g.accept('origin-query-with-bad-escape', get('/echo?a=%zz'), { path: '/echo', query: 'a=%zz' })
g.accept('origin-query-with-url', get('/echo?u=http://b/c'), { path: '/echo', query: 'u=http://b/c' })
g.accept('origin-query-with-browser-octets', get('/echo?a="<>[]^`{|}\\'), {
  path: '/echo',
  query: 'a="<>[]^`{|}\\',
})
g.accept('root', get('/'), { path: '/' })
g.accept('root-with-query', get('/?/echo'), { path: '/', query: '/echo' })
g.exchange('origin-double-slash', get('//a/echo'), [{ status: 404 }], 'open')

for (const [id, target, saw, ref] of [
  ['absolute', 'http://a/echo', { path: '/echo', host: 'a' }, 'RFC 9112 §3.2.2'],
  ['absolute-with-query', 'http://a/echo?x=1', { path: '/echo', query: 'x=1', host: 'a' }, 'RFC 9112 §3.2.2'],
  ['absolute-scheme-upper-case', 'HTTP://a/echo', { path: '/echo', host: 'a' }, 'RFC 3986 §3.1'],
  ['absolute-https', 'https://a/echo', { path: '/echo', host: 'a' }, 'RFC 9112 §3.2.2'],
  ['absolute-port', 'http://a:80/echo', { path: '/echo', host: 'a:80' }, 'RFC 9112 §3.2.2'],
  ['absolute-empty-port', 'http://a:/echo', { path: '/echo', host: 'a:' }, 'RFC 9110 §4.2.1'],
  ['absolute-ipv6', 'http://[::1]/echo', { path: '/echo', host: '[::1]' }, 'RFC 3986 §3.2.2'],
  ['absolute-no-path', 'http://b', { path: '/', query: '', host: 'b' }, 'RFC 9110 §4.2.3'],
  ['absolute-no-path-query', 'http://b?x=1', { path: '/', query: 'x=1', host: 'b' }, 'RFC 9110 §4.2.3'],
  [
    'absolute-other-host',
    'http://b/echo',
    { path: '/echo', host: 'b', headers: { host: 'a' } },
    'RFC 9112 §3.2.2',
  ],
  ['absolute-other-case', 'http://A/echo', { path: '/echo', host: 'A' }, 'RFC 9110 §4.2.3'],
  [
    'absolute-url-in-query',
    'http://b/echo?u=http://c/',
    { query: 'u=http://c/', host: 'b' },
    'RFC 9112 §3.2.2',
  ],
] as const) {
  g.accept(id, get(target), saw, ref)
}
g.accept('absolute-after-crlf', `\r\n${get('http://b/echo')}`, { path: '/echo', host: 'b' }, 'RFC 9112 §2.2')
g.exchange(
  'absolute-http-1.0-without-host',
  'GET http://b/echo HTTP/1.0\r\n\r\n',
  [{ status: 200, saw: { path: '/echo', host: 'b' } }],
  'closed',
  { ref: 'RFC 9112 §3.2.2' },
)
g.refuse('absolute-without-host', 'GET http://b/echo HTTP/1.1\r\n\r\n', 400, 'RFC 9112 §3.2')
g.accept('origin-host', get('/echo'), { host: 'a', headers: { host: 'a' } }, 'RFC 9112 §3.3')
for (const [id, value, ref] of [
  ['ftp', 'ftp://a/echo', 'RFC 9110 §4.2'],
  ['file', 'file:///echo', 'RFC 9110 §4.2'],
  ['empty-authority', 'http:///echo', 'RFC 9110 §4.2.1'],
  ['no-authority', 'http:/echo', 'RFC 9110 §4.2.1'],
  ['userinfo', 'http://u@a/echo', 'RFC 9110 §4.2.4'],
  ['userinfo-password', 'http://u:p@a/echo', 'RFC 9110 §4.2.4'],
  ['port-overflow', 'http://a:99999/echo', 'RFC 3986 §3.2.3'],
  ['port-not-digits', 'http://a:8x/echo', 'RFC 3986 §3.2.3'],
  ['backslash', 'http:\\\\a\\echo', 'RFC 3986 §3'],
  ['backslash-after-host', 'http://a\\echo', 'RFC 3986 §3'],
  ['open-bracket', 'http://[::1/echo', 'RFC 3986 §3.2.2'],
  ['fragment', 'http://a/echo#x', 'RFC 9112 §3.2'],
  ['dot-segment', 'http://a/../echo', 'RFC 9112 §3.2.2'],
] as const) {
  g.refuse(`absolute-${id}`, get(value), 400, ref)
}

g.exchange(
  'asterisk-options',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  [{ status: 204, headers: { allow: '*' } }],
  'open',
  { ref: 'RFC 9112 §3.2.4' },
)
for (const method of ['GET', 'POST', 'DELETE']) {
  g.refuse(
    `asterisk-${method.toLowerCase()}`,
    `${method} * HTTP/1.1\r\nHost: a\r\n\r\n`,
    400,
    'RFC 9112 §3.2.4',
  )
}
g.exchange(
  'asterisk-head',
  `HEAD * HTTP/1.1\r\nHost: a\r\n\r\n${canary}`,
  [{ status: 400, head: true }],
  'closed',
  { ref: 'RFC 9112 §3.2.4, RFC 9110 §9.3.2' },
)
for (const [id, value] of [
  ['asterisk-and-more', '*x'],
  ['asterisk-query', '*?x'],
  ['authority', 'a:80'],
  ['relative', 'echo'],
  ['relative-dot', './echo'],
  ['only-query', '?a=1'],
  ['only-fragment', '#x'],
  ['fragment', '/echo#x'],
  ['fragment-in-query', '/echo?a#x'],
  ['encoded-slash-first', '%2Fecho'],
  ['backslash-first', '\\echo'],
] as const) {
  g.refuse(id, get(value))
}
g.refuse('query-non-ascii', get('/echo?a=\xc3\xa9'), 400, 'RFC 3986 §2')
g.refuse('query-delete-char', get('/echo?a=\x7f'), 400, 'RFC 3986 §2')
g.refuse('query-control', get('/echo?a=\x01'), 400, 'RFC 3986 §2')
g.refuse('query-tab', get('/echo?a=\tb'), 400, 'RFC 3986 §2')
