import { Group, canary, chunked, get, post } from '../case.ts'

/** Reliability S4: whatever the handler leaves unread is drained or the connection closes; it is never parsed as a request. */
export const unread = new Group('unread', 'CVE-2025-55702 class')
const g = unread
const big = 256 * 1024
const chunkOf = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`

g.exchange('length-complete', post('Content-Length: 5\r\n', 'hello', '/early'), [{ status: 200 }], 'either')
g.exchange(
  'length-canary',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/early'),
  [{ status: 200 }],
  'either',
)
g.exchange(
  'length-next-pipelined',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/early') + get('/echo?n=2'),
  [{ status: 200 }, { status: 200, saw: { query: 'n=2' }, optional: true }],
  'either',
)
g.exchange('length-incomplete', post('Content-Length: 1000\r\n', canary, '/early'), [{ status: 200 }], 'any')
g.exchange(
  'length-after-reply',
  [{ bytes: post(`Content-Length: ${canary.length}\r\n`, '', '/early') }, { replies: 1 }, { bytes: canary }],
  [{ status: 200 }],
  'either',
)
g.exchange(
  'length-rest-after-reply',
  [
    { bytes: post(`Content-Length: ${canary.length + 3}\r\n`, 'abc', '/early') },
    { replies: 1 },
    { bytes: canary },
  ],
  [{ status: 200 }],
  'either',
)
g.exchange(
  'length-past-drain-limit',
  post(`Content-Length: ${big}\r\n`, canary.repeat(40), '/early'),
  [{ status: 200 }],
  'any',
)
g.exchange('chunked-complete', chunked(`${chunkOf(canary)}0\r\n\r\n`, '/early'), [{ status: 200 }], 'either')
g.exchange(
  'chunked-next-pipelined',
  `${chunked(`${chunkOf(canary)}0\r\n\r\n`, '/early')}${get('/echo?n=2')}`,
  [{ status: 200 }, { status: 200, saw: { query: 'n=2' }, optional: true }],
  'either',
)
g.exchange(
  'chunked-after-reply',
  [{ bytes: chunked('', '/early') }, { replies: 1 }, { bytes: `${chunkOf(canary)}0\r\n\r\n` }],
  [{ status: 200 }],
  'either',
)
g.exchange('chunked-incomplete', chunked(chunkOf(canary), '/early'), [{ status: 200 }], 'any')
g.exchange(
  'chunked-malformed-after-reply',
  [{ bytes: chunked('', '/early') }, { replies: 1 }, { bytes: `x\r\n${canary}` }],
  [{ status: 200 }, { status: 400, optional: true }],
  'closed',
)
g.exchange(
  'half-read',
  post(`Content-Length: ${4 + canary.length}\r\n`, `abcd${canary}`, '/first-chunk'),
  [{ status: 200 }],
  'either',
)
g.exchange(
  'not-found',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/nowhere'),
  [{ status: 404 }],
  'either',
)
g.exchange(
  'not-found-chunked',
  chunked(`${chunkOf(canary)}0\r\n\r\n`, '/nowhere'),
  [{ status: 404 }],
  'either',
)
g.exchange(
  'not-found-incomplete',
  post('Content-Length: 1000\r\n', canary, '/nowhere'),
  [{ status: 404 }],
  'any',
)
g.exchange(
  'method-not-allowed',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/text'),
  [{ status: 405 }],
  'either',
)
g.exchange(
  'failing-handler',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/throw'),
  [{ status: 500 }],
  'either',
)
g.exchange(
  'failing-stream-handler',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/throw-stream'),
  [{ status: 500 }],
  'either',
)
g.exchange(
  'guard',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/guarded'),
  [{ status: 401 }],
  'either',
)
g.exchange('guard-chunked', chunked(`${chunkOf(canary)}0\r\n\r\n`, '/guarded'), [{ status: 401 }], 'either')
g.exchange('guard-incomplete', post('Content-Length: 1000\r\n', canary, '/guarded'), [{ status: 401 }], 'any')
g.exchange(
  'get-with-body',
  get('/text', `Content-Length: ${canary.length}\r\n`) + canary,
  [{ status: 200, body: 'hello world' }],
  'either',
  { ref: 'CL.0 class' },
)
g.exchange(
  'get-with-chunked-body',
  `${get('/text', 'Transfer-Encoding: chunked\r\n')}${chunkOf(canary)}0\r\n\r\n`,
  [{ status: 200, body: 'hello world' }],
  'either',
  { ref: 'TE.0 class' },
)
g.exchange(
  'head-with-body',
  `HEAD /text HTTP/1.1\r\nHost: a\r\nContent-Length: ${canary.length}\r\n\r\n${canary}`,
  [{ status: 200, head: true }],
  'either',
  { ref: 'CL.0 class' },
)
g.exchange(
  'options-with-chunked-body',
  `OPTIONS /text HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf(canary)}0\r\n\r\n`,
  [{ status: 204 }],
  'either',
  { ref: 'TE.0 class' },
)
g.exchange(
  'options-asterisk-with-body',
  `OPTIONS * HTTP/1.1\r\nHost: a\r\nContent-Length: ${canary.length}\r\n\r\n${canary}`,
  [{ status: 204 }],
  'either',
  { ref: 'CL.0 class' },
)
g.exchange(
  'upgrade-with-body',
  post(`Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: ${canary.length}\r\n`, canary, '/early'),
  [{ status: 200 }],
  'either',
  { ref: 'CVE-2026-2833' },
)
g.exchange(
  'close-with-body',
  post(`Connection: close\r\nContent-Length: ${canary.length}\r\n`, canary, '/early'),
  [{ status: 200 }],
  'closed',
)
g.exchange(
  'http10-with-body',
  `POST /early HTTP/1.0\r\nContent-Length: ${canary.length}\r\n\r\n${canary}`,
  [{ status: 200 }],
  'closed',
)
