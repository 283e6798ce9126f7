import { Group, chunked, get, helloChunks, post, runToken } from '../case.ts'

export const pipeline = new Group('pipeline', 'RFC 9112 §9.3.2')
const g = pipeline
const nth = (n: number) => ({ status: 200, saw: { query: `n=${n}` } })

g.exchange('two', get('/echo?n=1') + get('/echo?n=2'), [nth(1), nth(2)], 'open')
g.exchange('three', get('/echo?n=1') + get('/echo?n=2') + get('/echo?n=3'), [nth(1), nth(2), nth(3)], 'open')
g.exchange(
  'forty',
  Array.from({ length: 40 }, (_, i) => get(`/echo?n=${i}`)).join(''),
  Array.from({ length: 40 }, (_, i) => nth(i)),
  'open',
)
g.exchange(
  'get-post-get',
  get('/echo?n=1') + post('Content-Length: 5\r\n', 'hello') + get('/echo?n=2'),
  [nth(1), { status: 200, saw: { body: 'hello' } }, nth(2)],
  'open',
)
g.exchange(
  'post-post',
  post('Content-Length: 5\r\n', 'hello') + post('Content-Length: 3\r\n', 'bye'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { body: 'bye' } },
  ],
  'open',
)
g.exchange(
  'chunked-get-chunked',
  chunked(helloChunks) + get('/echo?n=2') + chunked('3\r\nbye\r\n0\r\n\r\n'),
  [{ status: 200, saw: { body: 'hello' } }, nth(2), { status: 200, saw: { body: 'bye' } }],
  'open',
)
g.exchange('slow-first', get('/slow?n=1') + get('/echo?n=2'), [nth(1), nth(2)], 'open')
g.exchange(
  'slow-middle',
  get('/echo?n=1') + get('/slow?n=2') + get('/echo?n=3'),
  [nth(1), nth(2), nth(3)],
  'open',
)
g.exchange(
  'all-slow',
  get('/slow?n=1') + get('/slow?n=2') + get('/slow?n=3'),
  [nth(1), nth(2), nth(3)],
  'open',
)
g.exchange(
  'stream-first',
  get('/stream') + get('/echo?n=2'),
  [{ status: 200, body: 'one two three' }, nth(2)],
  'open',
)
g.exchange(
  'unsafe-holds-back-safe',
  post('Content-Length: 0\r\n', '', `/mark/${runToken}`) + get(`/mark/${runToken}`),
  [{ status: 204 }, { status: 200, body: 'marked' }],
  'open',
)
g.exchange(
  'unsafe-waits-for-safe',
  get(`/slow-mark/${runToken}`) +
    post('Content-Length: 0\r\n', '', `/mark/${runToken}`) +
    get(`/mark/${runToken}`),
  [{ status: 200, body: 'not marked' }, { status: 204 }, { status: 200, body: 'marked' }],
  'open',
)
g.exchange(
  'head-between',
  get('/text') + 'HEAD /text HTTP/1.1\r\nHost: a\r\n\r\n' + get('/echo?n=3'),
  [
    { status: 200, body: 'hello world' },
    { status: 200, head: true, headers: { 'content-length': '11' } },
    nth(3),
  ],
  'open',
)
g.exchange(
  'not-found-between',
  get('/echo?n=1') + get('/nowhere') + get('/echo?n=3'),
  [nth(1), { status: 404 }, nth(3)],
  'open',
)
g.exchange(
  'method-not-allowed-between',
  get('/echo?n=1') + get('/only-post') + get('/echo?n=3'),
  [nth(1), { status: 405, headers: { allow: 'POST, OPTIONS' } }, nth(3)],
  'open',
)
g.exchange(
  'options-asterisk-between',
  get('/echo?n=1') + 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n' + get('/echo?n=3'),
  [nth(1), { status: 204 }, nth(3)],
  'open',
)
g.exchange(
  'failing-handler-between',
  get('/echo?n=1') + get('/throw') + get('/echo?n=3'),
  [nth(1), { status: 500 }, nth(3)],
  'open',
)
g.exchange('crlf-between', `${get('/echo?n=1')}\r\n${get('/echo?n=2')}`, [nth(1), nth(2)], 'open', {
  ref: 'RFC 9112 §2.2',
})
g.exchange(
  'two-crlf-between',
  `${get('/echo?n=1')}\r\n\r\n${get('/echo?n=2')}`,
  [nth(1), { status: 400 }],
  'closed',
  { ref: 'RFC 9112 §2.2' },
)
g.exchange(
  'error-second',
  `${get('/echo?n=1')}GET /echo HTTP/1.1\r\n\r\n${get('/smuggled')}`,
  [nth(1), { status: 400 }],
  'closed',
)
g.exchange(
  'error-first',
  `GET /echo HTTP/1.1\r\n\r\n${get('/smuggled')}${get('/smuggled')}`,
  [{ status: 400 }],
  'closed',
)
g.exchange(
  'error-after-slow',
  `${get('/slow?n=1')}@GARBAGE\r\n\r\n${get('/smuggled')}`,
  [nth(1), { status: 400 }],
  'closed',
)
g.exchange(
  'error-in-body',
  `${get('/echo?n=1')}${chunked('x\r\n')}${get('/smuggled')}`,
  [nth(1), { status: 400 }],
  'closed',
)
g.exchange(
  'too-large-second',
  `${get('/echo?n=1')}${post('Content-Length: 65\r\n', '', '/small')}${get('/smuggled')}`,
  [nth(1), { status: 413 }],
  'closed',
)
g.exchange(
  'close-first',
  get('/echo?n=1', 'Connection: close\r\n') + get('/smuggled'),
  [{ ...nth(1), headers: { connection: 'close' } }],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange(
  'close-second',
  get('/echo?n=1') + get('/echo?n=2', 'Connection: close\r\n') + get('/smuggled'),
  [nth(1), nth(2)],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange(
  'close-on-slow',
  get('/slow?n=1', 'Connection: close\r\n') + get('/smuggled'),
  [nth(1)],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange('http10-first', `GET /echo?n=1 HTTP/1.0\r\n\r\n${get('/smuggled')}`, [nth(1)], 'closed', {
  ref: 'RFC 9112 §9.3',
})
g.exchange(
  'half-closed',
  [{ bytes: get('/slow?n=1') + get('/echo?n=2') }, { fin: true }],
  [nth(1), nth(2)],
  'closed',
  { ref: 'RFC 9112 §9.6' },
)
g.exchange(
  'half-closed-in-second',
  [{ bytes: get('/echo?n=1') + 'GET /smug' }, { fin: true }],
  [nth(1), { status: 400, optional: true }],
  'closed',
  { ref: 'RFC 9112 §8' },
)
