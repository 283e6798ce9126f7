import { Group, canary, chunked, get, helloChunks, post } from '../case.ts'

/** Whole attacks as published; `/smuggled` must never be reached. */
export const smuggling = new Group('smuggling', 'RFC 9112 §11.2')
const g = smuggling
const chunkOf = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`

g.refuse(
  'cl-te',
  post(`Content-Length: ${5 + canary.length}\r\nTransfer-Encoding: chunked\r\n`, `0\r\n\r\n${canary}`),
  400,
  'CL.TE',
)
g.refuse(
  'te-cl',
  post('Transfer-Encoding: chunked\r\nContent-Length: 4\r\n', `${chunkOf(canary)}0\r\n\r\n`),
  400,
  'TE.CL',
)
g.refuse(
  'te-te',
  post(
    'Transfer-Encoding: chunked\r\nTransfer-encoding: cow\r\nContent-Length: 4\r\n',
    `${chunkOf(canary)}0\r\n\r\n`,
  ),
  [400, 501],
  'TE.TE',
)
g.refuse('cl-cl', post(`Content-Length: 0\r\nContent-Length: ${canary.length}\r\n`, canary), 400, 'CL.CL')
g.exchange(
  'cl-0',
  post(`Content-Length: ${canary.length}\r\n`, canary, '/text'),
  [{ status: 405 }],
  'either',
  { ref: 'CL.0' },
)
g.exchange(
  '0-cl',
  get('/text', `Content-Length: ${canary.length}\r\n`) + canary + get('/echo?n=2'),
  [
    { status: 200, body: 'hello world' },
    { status: 200, saw: { query: 'n=2' }, optional: true },
  ],
  'either',
  { ref: '0.CL' },
)
g.refuse(
  '0-cl-early-space',
  `GET /text HTTP/1.1\r\nHost: a\r\n Content-Length: ${canary.length}\r\n\r\n${canary}`,
  400,
  '0.CL',
)
g.refuse(
  '0-cl-hidden-name',
  `GET /text HTTP/1.1\r\nHost: a\r\nContent-Length : ${canary.length}\r\n\r\n${canary}`,
  400,
  '0.CL',
)
g.exchange(
  'te-0',
  `OPTIONS /text HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf(canary)}0\r\n\r\n`,
  [{ status: 204 }],
  'either',
  { ref: 'TE.0' },
)
g.refuse(
  'cve-2023-30589',
  `POST /echo HTTP/1.1\r\nHost: a\r\nX-Abc: \rxTransfer-Encoding: chunked\r\n\r\n${helloChunks}`,
  400,
  'CVE-2023-30589',
)
g.refuse(
  'cve-2024-27982',
  `POST /echo HTTP/1.1\r\nHost: a\r\n Content-Length: ${canary.length}\r\n\r\n${canary}`,
  400,
  'CVE-2024-27982',
)
g.refuse('cve-2025-23167', `GET /echo HTTP/1.1\r\nHost: a\r\n\rX${canary}`, 400, 'CVE-2025-23167')
g.refuse(
  'cve-2025-23167-content-length',
  `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\rXhello${canary}`,
  400,
  'CVE-2025-23167',
)
g.refuse(
  'cve-2023-25725',
  `POST /echo HTTP/1.1\r\nHost: a\r\n: x\r\nContent-Length: ${canary.length}\r\n\r\n${canary}`,
  400,
  'CVE-2023-25725',
)
g.refuse(
  'cve-2022-32213',
  post('Transfer-Encoding: chunkedchunked\r\nContent-Length: 4\r\n', `${chunkOf(canary)}0\r\n\r\n`),
  [400, 501],
  'CVE-2022-32213',
)
g.refuse(
  'cve-2022-32214',
  `GET /echo HTTP/1.1\r\nHost: a\r\nX: x\nContent-Length: ${canary.length}\r\n\r\n${canary}`,
  400,
  'CVE-2022-32214',
)
g.refuse(
  'cve-2022-32215',
  `POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n , identity\r\n\r\n${helloChunks}`,
  400,
  'CVE-2022-32215',
)
g.refuse(
  'cve-2022-35256',
  `GET /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\r\n\r\n${helloChunks}`,
  400,
  'CVE-2022-35256',
)
g.refuse(
  'cve-2021-22959',
  `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\nhello`,
  400,
  'CVE-2021-22959',
)
g.refuse('cve-2021-22960', chunked(`5 \r\nhello\r\n0\r\n\r\n`), 400, 'CVE-2021-22960')
g.refuse(
  'cve-2020-8287',
  post('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked-false\r\n', helloChunks),
  [400, 501],
  'CVE-2020-8287',
)
g.refuse(
  'cve-2019-15605',
  post('Content-Length: 5\r\nTransfer-Encoding:  \x0bchunked\r\n', helloChunks),
  400,
  'CVE-2019-15605',
)
g.refuse(
  'cve-2026-2835',
  `POST /echo HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n${helloChunks}`,
  400,
  'CVE-2026-2835',
)
g.refuse('chunk-term-ext', chunked(`5;\nx\r\nhello\r\n0\r\n\r\n`), 400, 'TERM.EXT')
g.refuse('chunk-ext-term', chunked(`5;a\nXX\r\nhello\r\n0\r\n\r\n`), 400, 'EXT.TERM')
g.refuse('chunk-spill', chunked(`5\r\nhello\n\n0\r\n\r\n`), 400, 'TERM.SPILL')
g.refuse('chunk-spill-two-octets', chunked(`5\r\nhelloAB0\r\n\r\n`), 400, 'SPILL.TERM, CVE-2025-43859')
g.refuse('chunk-one-short', chunked(`5\r\nhello\r0\r\n\r\n`), 400, 'ONE.TWO')
g.refuse('chunk-one-long', chunked(`5\r\nhello\r\r\n0\r\n\r\n`), 400, 'TWO.ONE')
g.refuse('chunk-size-wraps-32', chunked(`100000005\r\nhello\r\n0\r\n\r\n`), 413, 'integer wrap')
g.refuse('chunk-size-wraps-64', chunked(`10000000000000005\r\nhello\r\n0\r\n\r\n`), 400, 'integer wrap')
g.refuse('length-wraps-32', post('Content-Length: 4294967301\r\n', 'hello'), 413, 'integer wrap')
g.refuse(
  'trailer-injects-length',
  chunked(`5\r\nhello\r\n0\r\nContent-Length: ${canary.length}\r\n\r\n${canary}`),
  400,
  'RFC 9110 §6.5.1',
)
g.refuse(
  'host-in-absolute-and-two',
  `GET http://a/echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n`,
  400,
  'host confusion',
)
g.refuse(
  'request-in-target',
  'GET /echo HTTP/1.1\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  400,
  'request splitting',
)
g.refuse(
  'lf-only-second-request',
  `POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\nhello`,
  400,
  'RFC 9112 §2.2',
)
g.exchange(
  'connection-hides-length',
  post('Connection: content-length\r\nContent-Length: 5\r\n', 'hello'),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { ref: 'hop-by-hop abuse' },
)
g.exchange(
  'connection-hides-encoding',
  post('Connection: transfer-encoding\r\nTransfer-Encoding: chunked\r\n', helloChunks),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { ref: 'hop-by-hop abuse' },
)
g.exchange(
  'upgrade-bytes-are-requests',
  `${get('/echo', 'Connection: Upgrade\r\nUpgrade: foo\r\n')}\x81\x05hello`,
  [{ status: 200 }, { status: 400 }],
  'closed',
  { ref: 'CVE-2026-2833', cut: true },
)
g.exchange(
  'method-override-is-ignored',
  post('X-HTTP-Method-Override: PUT\r\nContent-Length: 5\r\n', 'hello'),
  [{ status: 200, saw: { method: 'POST', body: 'hello' } }],
  'open',
  { ref: 'method confusion' },
)
g.exchange(
  'rewrite-fields-are-ignored',
  get('/echo', 'X-Original-URL: /smuggled\r\nX-Rewrite-URL: /smuggled\r\n'),
  [{ status: 200, saw: { path: '/echo' } }],
  'open',
  { ref: 'path confusion' },
)
