import { canary, Group, get } from '../case.ts'

export const requestLine = new Group('request-line', 'RFC 9112 §3')
const g = requestLine.corpus()
const host = 'Host: a\r\n'

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
