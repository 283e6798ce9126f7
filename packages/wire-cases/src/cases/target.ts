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

g.accept('absolute', get('http://a/echo'), { path: '/echo' }, 'RFC 9112 §3.2.2')
g.accept('absolute-with-query', get('http://a/echo?x=1'), { path: '/echo', query: 'x=1' }, 'RFC 9112 §3.2.2')
g.accept('absolute-scheme-upper-case', get('HTTP://a/echo'), { path: '/echo' }, 'RFC 3986 §3.1')
g.accept('absolute-https', get('https://a/echo'), { path: '/echo' }, 'RFC 9112 §3.2.2')
g.accept('absolute-port', get('http://a:80/echo'), { path: '/echo' }, 'RFC 9112 §3.2.2')
g.accept('absolute-ipv6', get('http://[::1]/echo'), { path: '/echo' }, 'RFC 3986 §3.2.2')
g.accept('absolute-no-path', get('http://a'), { path: '/', query: '' }, 'RFC 9110 §4.2.3')
g.accept('absolute-no-path-query', get('http://a?x=1'), { path: '/', query: 'x=1' }, 'RFC 9110 §4.2.3')
g.accept('absolute-other-host', get('http://b/echo'), { path: '/echo' }, 'RFC 9112 §3.2.2')
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
