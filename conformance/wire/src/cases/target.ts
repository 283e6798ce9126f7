import { Group, canary, get } from '../case.ts'

export const target = new Group('target', 'RFC 9112 §3.2')
const g = target.corpus()

g.exchange('origin-double-slash', get('//a/echo'), [{ status: 404 }], 'open')

g.exchange(
  'absolute-http-1.0-without-host',
  'GET http://b/echo HTTP/1.0\r\n\r\n',
  [{ status: 200, saw: { path: '/echo', host: 'b' } }],
  'closed',
  { ref: 'RFC 9112 §3.2.2' },
)

g.exchange(
  'asterisk-options',
  'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n',
  [{ status: 204, headers: { allow: '*' } }],
  'open',
  { ref: 'RFC 9112 §3.2.4' },
)

g.exchange(
  'asterisk-head',
  `HEAD * HTTP/1.1\r\nHost: a\r\n\r\n${canary}`,
  [{ status: 400, head: true }],
  'closed',
  { ref: 'RFC 9112 §3.2.4, RFC 9110 §9.3.2' },
)
