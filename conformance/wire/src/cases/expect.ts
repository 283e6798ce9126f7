import { Group, canary, get, helloChunks, post } from '../case.ts'

export const expectation = new Group('expect', 'RFC 9110 §10.1.1')
const g = expectation.corpus()
const head = (fields: string, target = '/echo') => post(`Expect: 100-continue\r\n${fields}`, '', target)
const waits = (fields: string, body: string, target = '/echo') => [
  { bytes: head(fields, target) },
  { replies: 1 },
  { bytes: body },
]

g.exchange(
  'continue-length',
  waits('Content-Length: 5\r\n', 'hello'),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'must' },
)
g.exchange(
  'continue-chunked',
  waits('Transfer-Encoding: chunked\r\n', helloChunks),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'must' },
)
g.exchange(
  'continue-stream-route',
  waits('Content-Length: 5\r\n', 'hello', '/collect'),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'must' },
)
g.exchange(
  'continue-value-case',
  [{ bytes: post('Expect: 100-Continue\r\nContent-Length: 5\r\n') }, { replies: 1 }, { bytes: 'hello' }],
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'must' },
)
g.exchange(
  'body-sent-at-once',
  head('Content-Length: 5\r\n') + 'hello',
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'may' },
)
g.exchange(
  'body-sent-at-once-then-next',
  head('Content-Length: 5\r\n') + 'hello' + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
  { interim: 'may' },
)
g.exchange('no-body', get('/echo', 'Expect: 100-continue\r\n'), [{ status: 200 }], 'open', { interim: 'may' })
g.exchange('length-zero', head('Content-Length: 0\r\n'), [{ status: 200, saw: { length: 0 } }], 'open', {
  interim: 'may',
})
g.exchange(
  'http10-is-ignored',
  'POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\nhello',
  [{ status: 200, saw: { body: 'hello' } }],
  'closed',
  { interim: 'never' },
)

g.refuse('too-large-is-refused-first', head('Content-Length: 65\r\n', '/small'), 413)
g.refuse('too-large-for-the-app', head('Content-Length: 1048577\r\n'), 413)

/** Refused before 100: the body was not asked for, so it may or may not follow. Its octets are never a request. */
g.exchange(
  'not-found',
  [{ bytes: head(`Content-Length: ${canary.length}\r\n`, '/nowhere') }, { replies: 1 }],
  [{ status: 404 }],
  'any',
)
g.exchange(
  'early-reply',
  [{ bytes: head(`Content-Length: ${canary.length}\r\n`, '/early') }, { replies: 1 }],
  [{ status: 200 }],
  'any',
)
g.exchange(
  'early-reply-body-follows',
  [{ bytes: head(`Content-Length: ${canary.length}\r\n`, '/early') }, { replies: 1 }, { bytes: canary }],
  [{ status: 200 }],
  'either',
  { ref: 'CVE-2025-55702' },
)
g.exchange(
  'early-reply-body-at-once',
  head(`Content-Length: ${canary.length}\r\n`, '/early') + canary,
  [{ status: 200 }],
  'either',
  {
    ref: 'CVE-2025-55702',
    interim: 'may',
  },
)
g.exchange(
  'guard-refuses',
  [{ bytes: head('Content-Length: 5\r\n', '/guarded') }, { replies: 1 }],
  [{ status: 401 }],
  'any',
)
g.exchange(
  'guard-refuses-body-follows',
  [{ bytes: head(`Content-Length: ${canary.length}\r\n`, '/guarded') }, { replies: 1 }, { bytes: canary }],
  [{ status: 401 }],
  'either',
  { ref: 'CVE-2025-55702' },
)
g.exchange(
  'guard-lets-pass',
  waits('X-Token: yes\r\nContent-Length: 5\r\n', 'hello', '/guarded'),
  [{ status: 200, saw: { body: 'hello' } }],
  'open',
  { interim: 'must' },
)
