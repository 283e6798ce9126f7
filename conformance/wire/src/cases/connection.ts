import { Group, get } from '../case.ts'

export const connection = new Group('connection', 'RFC 9112 §9.3')
const g = connection
const http10 = (fields = '', target = '/echo') => `GET ${target} HTTP/1.0\r\n${fields}\r\n`
const closes = [{ status: 200, headers: { connection: 'close' } }] as const

g.exchange('11-default', get('/echo'), [{ status: 200 }], 'open')
for (const [id, fields] of [
  ['close', 'Connection: close\r\n'],
  ['close-capital', 'Connection: Close\r\n'],
  ['close-upper', 'CONNECTION: CLOSE\r\n'],
  ['close-tab', 'Connection:\tclose\t\r\n'],
  ['keep-alive-then-close', 'Connection: keep-alive, close\r\n'],
  ['close-then-keep-alive', 'Connection: close, keep-alive\r\n'],
  ['close-tight-list', 'Connection: x,close,y\r\n'],
  ['close-empty-elements', 'Connection: , ,close,\r\n'],
  ['two-fields-close-last', 'Connection: keep-alive\r\nConnection: close\r\n'],
  ['two-fields-close-first', 'Connection: close\r\nConnection: keep-alive\r\n'],
  ['upgrade-and-close', 'Connection: upgrade, close\r\nUpgrade: x\r\n'],
] as const) {
  g.exchange(`11-${id}`, get('/echo', fields) + get('/smuggled'), closes, 'closed', { ref: 'RFC 9112 §9.6' })
}
for (const [id, fields] of [
  ['keep-alive', 'Connection: keep-alive\r\n'],
  ['unknown', 'Connection: foo\r\n'],
  ['closed-is-not-close', 'Connection: closed\r\n'],
  ['xclose-is-not-close', 'Connection: xclose\r\n'],
  ['empty', 'Connection:\r\n'],
  ['proxy-connection', 'Proxy-Connection: close\r\n'],
  ['keep-alive-field', 'Keep-Alive: timeout=1, max=1\r\n'],
  ['names-content-length', 'Connection: content-length\r\n'],
  ['te-trailers', 'TE: trailers\r\nConnection: TE\r\n'],
] as const) {
  g.exchange(`11-${id}`, get('/echo', fields), [{ status: 200 }], 'open', { ref: 'RFC 9110 §7.6.1' })
}
const handshake =
  'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
for (const [id, bytes] of [
  ['websocket', get('/echo', handshake)],
  ['websocket-without-route', get('/nowhere', handshake)],
  ['websocket-other-case', get('/echo', 'Connection: keep-alive, UPGRADE\r\nUpgrade: WebSocket\r\n')],
  ['websocket-in-a-list', get('/echo', 'Upgrade: x/1, websocket\r\nConnection: upgrade\r\n')],
  [
    'websocket-two-fields',
    get('/echo', 'Upgrade: x\r\nUpgrade: websocket\r\nConnection: a\r\nConnection: upgrade\r\n'),
  ],
] as const) {
  g.exchange(
    `upgrade-${id}`,
    bytes,
    [{ status: 426, headers: { upgrade: 'HTTP/1.1', connection: 'upgrade' } }],
    'open',
    { ref: 'RFC 9110 §15.5.22' },
  )
}
g.exchange(
  'upgrade-websocket-and-close',
  get('/echo', 'Connection: upgrade, close\r\nUpgrade: websocket\r\n'),
  [{ status: 426, headers: { upgrade: 'HTTP/1.1' } }],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange(
  'upgrade-websocket-1.0',
  http10('Connection: upgrade\r\nUpgrade: websocket\r\n'),
  [{ status: 200, headers: { upgrade: null } }],
  'closed',
  { ref: 'RFC 9110 §7.8' },
)
g.refuse('upgrade-websocket-bad-path', get('/%zz', handshake), 400, 'RFC 3986 §2.1')
for (const [id, fields] of [
  [
    'h2c',
    'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n',
  ],
  ['without-connection', 'Upgrade: websocket\r\n'],
  ['without-upgrade', 'Connection: Upgrade\r\n'],
  ['unknown', 'Connection: Upgrade\r\nUpgrade: x/1\r\n'],
  ['almost-websocket', 'Connection: Upgrade\r\nUpgrade: websockets, xwebsocket, websocket/13\r\n'],
] as const) {
  g.exchange(
    `upgrade-${id}`,
    get('/echo', fields),
    [{ status: 200, saw: { path: '/echo' }, headers: { upgrade: null } }],
    'open',
    { ref: 'RFC 9110 §7.8' },
  )
}
g.exchange(
  'upgrade-then-next',
  get('/echo', 'Connection: Upgrade\r\nUpgrade: websocket\r\n') + get('/echo?n=2'),
  [{ status: 426 }, { status: 200, saw: { query: 'n=2' } }],
  'open',
  { ref: 'CVE-2026-2833' },
)

g.exchange('10-default', http10(), [{ status: 200, saw: { version: '1.0' } }], 'closed')
g.exchange('10-close', http10('Connection: close\r\n'), [{ status: 200 }], 'closed')
g.exchange(
  '10-keep-alive',
  http10('Connection: keep-alive\r\n'),
  [{ status: 200, headers: { connection: 'keep-alive' } }],
  'open',
)
g.exchange(
  '10-keep-alive-case',
  http10('Connection: Keep-Alive\r\n'),
  [{ status: 200, headers: { connection: 'keep-alive' } }],
  'open',
)
g.exchange('10-keep-alive-in-list', http10('Connection: x, keep-alive\r\n'), [{ status: 200 }], 'open')
g.exchange(
  '10-keep-alive-and-close',
  http10('Connection: keep-alive, close\r\n'),
  [{ status: 200 }],
  'closed',
)
g.exchange('10-unknown', http10('Connection: foo\r\n'), [{ status: 200 }], 'closed')
g.exchange(
  '10-keep-alive-pipelined',
  http10('Connection: keep-alive\r\n', '/echo?n=1') + http10('', '/echo?n=2'),
  [
    { status: 200, saw: { query: 'n=1' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'closed',
)
g.exchange(
  '10-then-11',
  http10('Connection: keep-alive\r\n') + get('/echo?n=2'),
  [{ status: 200 }, { status: 200, saw: { version: '1.1', query: 'n=2' } }],
  'open',
)
g.exchange(
  '10-post',
  'POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello',
  [{ status: 200, saw: { body: 'hello', version: '1.0' } }],
  'closed',
)
g.exchange(
  '10-post-without-length',
  'POST /echo HTTP/1.0\r\n\r\n',
  [{ status: 200, saw: { length: 0 } }],
  'closed',
  { ref: 'RFC 9112 §6.3 (7)' },
)
g.exchange(
  '10-post-keep-alive',
  'POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 5\r\n\r\nhello',
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
)
g.exchange(
  '10-stream-is-not-chunked',
  http10('', '/stream'),
  [{ status: 200, body: 'one two three', headers: { 'transfer-encoding': null } }],
  'closed',
  { ref: 'RFC 9112 §6.1' },
)
g.exchange(
  '10-stream-keep-alive-closes',
  http10('Connection: keep-alive\r\n', '/stream'),
  [{ status: 200, body: 'one two three', headers: { 'transfer-encoding': null } }],
  'closed',
  { ref: 'RFC 9112 §6.3 (8)' },
)
g.exchange(
  '10-stream-keep-alive-then-next',
  http10('Connection: keep-alive\r\n', '/stream') + get('/echo?n=2'),
  [{ status: 200, body: 'one two three', headers: { connection: 'close' } }],
  'closed',
  { ref: 'RFC 9112 §6.3 (8)' },
)
g.exchange('10-half-closed', [{ bytes: http10() }, { fin: true }], [{ status: 200 }], 'closed')
g.exchange(
  '11-half-closed-slow',
  [{ bytes: get('/slow?n=1') }, { fin: true }],
  [{ status: 200, saw: { query: 'n=1' } }],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange('nothing-then-fin', [{ fin: true }], [], 'closed', { cut: false })
