import { Group, canary, chunked, get, post } from '../case.ts'

/** Whole attacks as published; `/smuggled` must never be reached. */
export const smuggling = new Group('smuggling', 'RFC 9112 §11.2')
const g = smuggling.corpus()
const chunkOf = (data: string) => `${data.length.toString(16)}\r\n${data}\r\n`

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

g.exchange(
  'te-0',
  `OPTIONS /text HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunkOf(canary)}0\r\n\r\n`,
  [{ status: 204 }],
  'either',
  { ref: 'TE.0' },
)

g.refuse('chunk-size-wraps-32', chunked(`100000005\r\nhello\r\n0\r\n\r\n`), 413, 'integer wrap')

g.refuse('length-wraps-32', post('Content-Length: 4294967301\r\n', 'hello'), 413, 'integer wrap')

g.exchange(
  'upgrade-bytes-are-requests',
  `${get('/echo', 'Connection: Upgrade\r\nUpgrade: foo\r\n')}\x81\x05hello`,
  [{ status: 200 }, { status: 400 }],
  'closed',
  { ref: 'CVE-2026-2833', cut: true },
)
