import { canary, Group, get } from '../case.ts'

export const requestLine = new Group('request-line', 'RFC 9112 §3')
const g = requestLine
const host = 'Host: a\r\n'

g.accept('get', get('/echo'), {
  method: 'GET',
  path: '/echo',
  query: '',
  version: '1.1',
  headers: { host: 'a' },
})
for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
  g.accept(
    `method-${method.toLowerCase()}`,
    `${method} /echo HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nhi`,
    {
      method,
      path: '/echo',
      ...(method === 'OPTIONS' ? {} : { body: 'hi' }),
    },
    'RFC 9110 §9',
  )
}
g.accept(
  'post-without-framing',
  `POST /echo HTTP/1.1\r\n${host}\r\n`,
  { method: 'POST', body: '', length: 0 },
  'RFC 9112 §6.3 (7)',
)

for (const [id, method] of [
  ['lower-case', 'get'],
  ['mixed-case', 'Get'],
  ['unknown', 'FOO'],
  ['longer-than-known', 'GETX'],
  ['shorter-than-known', 'GE'],
  ['webdav', 'PROPFIND'],
  ['dash', 'M-SEARCH'],
  ['all-tchar', "!#$%&'*+-.^_`|~0aZ"],
  ['long', 'A'.repeat(64)],
] as const) {
  g.refuse(`method-${id}`, `${method} /echo HTTP/1.1\r\n${host}\r\n`, 501, 'RFC 9110 §9.1')
}
for (const [id, target] of [
  ['connect', 'a:443'],
  ['connect-ipv6', '[::1]:443'],
] as const) {
  g.exchange(
    id,
    `CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n${canary}`,
    [{ status: 405, headers: { allow: '*', 'x-seen': '1', connection: 'close' } }],
    'closed',
    { ref: 'RFC 9110 §9.3.6' },
  )
}
g.exchange(
  'connect-behind-others',
  `${get('/slow')}CONNECT a:443 HTTP/1.1\r\n${host}\r\n${canary}`,
  [{ status: 200 }, { status: 405 }],
  'closed',
  { ref: 'RFC 9112 §9.3.2' },
)
for (const [id, target] of [
  ['path', '/echo'],
  ['without-port', 'a'],
  ['empty-port', 'a:'],
  ['port-overflow', 'a:99999'],
  ['userinfo', 'u@a:443'],
  ['absolute', 'http://a:443'],
  ['asterisk', '*'],
] as const) {
  g.refuse(`connect-${id}`, `CONNECT ${target} HTTP/1.1\r\n${host}\r\n`, 400, 'RFC 9112 §3.2.3')
}
g.exchange(
  'trace',
  `TRACE /echo HTTP/1.1\r\n${host}Cookie: a=b\r\n\r\n`,
  [{ status: 405, headers: { allow: '*', 'x-seen': '1' } }],
  'open',
  { ref: 'RFC 9110 §9.3.8' },
)
g.exchange('trace-without-route', `TRACE /nowhere HTTP/1.1\r\n${host}\r\n`, [{ status: 404 }], 'open', {
  ref: 'RFC 9110 §15.5.5',
})
g.refuse('trace-asterisk', `TRACE * HTTP/1.1\r\n${host}\r\n`, 400, 'RFC 9112 §3.2.4')
g.accept(
  'registered',
  `PURGE /purge HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nhi`,
  { method: 'PURGE', path: '/purge', body: 'hi' },
  'RFC 9110 §9.1',
)
g.exchange(
  'registered-other-path',
  `PURGE /echo HTTP/1.1\r\n${host}\r\n`,
  [{ status: 405, headers: { allow: '*' } }],
  'open',
  { ref: 'RFC 9110 §15.5.6' },
)
for (const [id, method] of [
  ['at-sign', 'G@T'],
  ['paren', 'GET('],
  ['nul', 'G\0T'],
  ['non-ascii', 'G\xc9T'],
  ['slash', 'G/T'],
  ['delete-char', 'GE\x7fT'],
  ['colon', 'GET:'],
] as const) {
  g.refuse(`method-malformed-${id}`, `${method} /echo HTTP/1.1\r\n${host}\r\n`, 400, 'RFC 9110 §5.6.2')
}

for (const [id, line] of [
  ['two-spaces-after-method', 'GET  /echo HTTP/1.1'],
  ['two-spaces-before-version', 'GET /echo  HTTP/1.1'],
  ['space-after-version', 'GET /echo HTTP/1.1 '],
  ['leading-space', ' GET /echo HTTP/1.1'],
  ['tab-after-method', 'GET\t/echo HTTP/1.1'],
  ['tab-before-version', 'GET /echo\tHTTP/1.1'],
  ['vertical-tab-separator', 'GET\x0b/echo HTTP/1.1'],
  ['form-feed-separator', 'GET\x0c/echo HTTP/1.1'],
  ['nbsp-separator', 'GET\xa0/echo HTTP/1.1'],
  ['space-in-target', 'GET /ec ho HTTP/1.1'],
  ['no-target', 'GET HTTP/1.1'],
  ['empty-target', 'GET  HTTP/1.1'],
  ['only-method', 'GET'],
  ['only-method-and-space', 'GET '],
  ['http-0.9', 'GET /echo'],
  ['http-0.9-trailing-space', 'GET /echo '],
  ['cr-cr', 'GET /echo HTTP/1.1\r'],
  ['cr-inside', 'GET /echo\r HTTP/1.1'],
  ['nul-in-target', 'GET /ec\0ho HTTP/1.1'],
  ['extra-word', 'GET /echo HTTP/1.1 x'],
] as const) {
  g.refuse(id, `${line}\r\n${host}\r\n`)
}
g.refuse('bare-lf', `GET /echo HTTP/1.1\n${host}\r\n`, 400, 'RFC 9112 §2.2')
g.refuse('bare-cr', `GET /echo HTTP/1.1\r${host}\r\n`, 400, 'RFC 9112 §2.2')
g.refuse('all-bare-lf', 'GET /echo HTTP/1.1\nHost: a\n\n', 400, 'RFC 9112 §2.2')

for (const [id, version, status] of [
  ['2.0', 'HTTP/2.0', 505],
  ['3.0', 'HTTP/3.0', 505],
  ['1.2', 'HTTP/1.2', 505],
  ['0.9', 'HTTP/0.9', 505],
  ['0.0', 'HTTP/0.0', 505],
  ['9.9', 'HTTP/9.9', 505],
  ['1.10', 'HTTP/1.10', 400],
  ['01.1', 'HTTP/01.1', 400],
  ['1.', 'HTTP/1.', 400],
  ['.1', 'HTTP/.1', 400],
  ['no-minor', 'HTTP/1', 400],
  ['no-dot', 'HTTP/11', 400],
  ['comma', 'HTTP/1,1', 400],
  ['lower-case', 'http/1.1', 400],
  ['mixed-case', 'Http/1.1', 400],
  ['space-inside', 'HTTP /1.1', 400],
  ['space-after-slash', 'HTTP/ 1.1', 400],
  ['sign', 'HTTP/+1.1', 400],
  ['letter', 'HTTP/1.x', 400],
  ['suffix', 'HTTP/1.1x', 400],
  ['https', 'HTTPS/1.1', 400],
  ['rtsp', 'RTSP/1.0', 400],
  ['ice', 'ICE/1.0', 400],
  ['nothing', 'HTTP/', 400],
] as const) {
  g.refuse(`version-${id}`, `GET /echo ${version}\r\n${host}\r\n`, status, 'RFC 9112 §2.3')
}
g.refuse('h2-preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 505, 'RFC 9113 §3.4')
g.refuse('tls-hello', '\x16\x03\x01\x00\xc4\x01\x00\x00\xc0\x03\x03\r\n\r\n', 400, 'RFC 8446 §5.1')
g.refuse('tls-hello-of-crlf-free-start', '\x80\x2e\x01\x03\x01\r\n\r\n', 400, 'RFC 5246 §E.2')

g.accept('leading-crlf', `\r\n${get('/echo')}`, { path: '/echo' }, 'RFC 9112 §2.2')
g.refuse('leading-crlf-twice', `\r\n\r\n${get('/echo')}`, 400, 'RFC 9112 §2.2')
g.refuse('leading-lf', `\n${get('/echo')}`, 400, 'RFC 9112 §2.2')
g.refuse('leading-cr', `\r${get('/echo')}`, 400, 'RFC 9112 §2.2')
g.refuse('leading-nul', `\0${get('/echo')}`)
g.refuse('leading-bom', `\xef\xbb\xbf${get('/echo')}`)
g.exchange(
  'truncated',
  [{ bytes: 'GET /echo HT' }, { fin: true }],
  [{ status: 400, optional: true }],
  'closed',
  { ref: 'RFC 9112 §8' },
)
g.exchange(
  'truncated-before-last-lf',
  [{ bytes: get('/echo').slice(0, -1) }, { fin: true }],
  [{ status: 400, optional: true }],
  'closed',
  { ref: 'RFC 9112 §8' },
)
g.exchange(
  'half-closed-client-is-answered',
  [{ bytes: get('/echo') }, { fin: true }],
  [{ status: 200, saw: { path: '/echo' } }],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
