import { Group, get } from '../case.ts'

/** What replies look like: HEAD, statuses without content, framing, Date, and fields no handler can break (reliability S5). */
export const reply = new Group('reply', 'RFC 9112 §6')
const g = reply
const headOf = (target: string, version = '1.1', fields = 'Host: a\r\n') =>
  `HEAD ${target} HTTP/${version}\r\n${fields}\r\n`

g.exchange(
  'get',
  get('/text'),
  [
    {
      status: 200,
      body: 'hello world',
      headers: { 'content-length': '11', 'transfer-encoding': null, date: '*' },
    },
  ],
  'open',
  { ref: 'RFC 9110 §8.6' },
)
g.exchange(
  'head',
  headOf('/text'),
  [{ status: 200, head: true, headers: { 'content-length': '11', date: '*' } }],
  'open',
  { ref: 'RFC 9110 §9.3.2' },
)
g.exchange('head-stream', headOf('/stream'), [{ status: 200, head: true }], 'open', {
  ref: 'RFC 9110 §9.3.2',
})
g.exchange('head-not-found', headOf('/nowhere'), [{ status: 404, head: true }], 'open', {
  ref: 'RFC 9110 §9.3.2',
})
g.exchange(
  'head-method-not-allowed',
  headOf('/only-post'),
  [{ status: 405, head: true, headers: { allow: 'POST, OPTIONS' } }],
  'open',
  { ref: 'RFC 9110 §9.3.2' },
)
g.exchange('head-failing-handler', headOf('/throw'), [{ status: 500, head: true }], 'open', {
  ref: 'RFC 9110 §9.3.2',
})
g.exchange(
  'head-http10',
  headOf('/text', '1.0', ''),
  [{ status: 200, head: true, headers: { 'content-length': '11' } }],
  'closed',
  { ref: 'RFC 9110 §9.3.2' },
)
g.exchange('head-empty', headOf('/empty'), [{ status: 204, head: true }], 'open', { ref: 'RFC 9110 §9.3.2' })
g.exchange(
  'head-head-get',
  headOf('/text') + headOf('/text') + get('/text'),
  [
    { status: 200, head: true },
    { status: 200, head: true },
    { status: 200, body: 'hello world' },
  ],
  'open',
  { ref: 'RFC 9110 §9.3.2' },
)
g.exchange(
  '204',
  get('/empty'),
  [{ status: 204, body: '', headers: { 'content-length': null, 'transfer-encoding': null } }],
  'open',
  { ref: 'RFC 9110 §15.3.5' },
)
g.exchange(
  '304',
  get('/not-modified'),
  [{ status: 304, body: '', headers: { 'transfer-encoding': null, etag: '"1"' } }],
  'open',
  { ref: 'RFC 9110 §15.4.5' },
)
g.exchange(
  '204-then-next',
  get('/empty') + get('/text'),
  [{ status: 204 }, { status: 200, body: 'hello world' }],
  'open',
  { ref: 'RFC 9112 §6.3 (1)' },
)
g.exchange(
  '304-then-next',
  get('/not-modified') + get('/text'),
  [{ status: 304 }, { status: 200, body: 'hello world' }],
  'open',
  { ref: 'RFC 9112 §6.3 (1)' },
)
g.exchange(
  'stream-is-chunked',
  get('/stream'),
  [
    {
      status: 200,
      body: 'one two three',
      headers: { 'transfer-encoding': 'chunked', 'content-length': null },
    },
  ],
  'open',
  { ref: 'RFC 9112 §7.1' },
)
g.exchange(
  'empty-body',
  get('/nothing'),
  [{ status: 200, body: '', headers: { 'content-length': '0' } }],
  'open',
  { ref: 'RFC 9110 §8.6' },
)
g.exchange(
  'not-found-has-date',
  get('/nowhere'),
  [{ status: 404, headers: { date: '*', 'content-type': 'application/problem+json; charset=utf-8' } }],
  'open',
  { ref: 'RFC 9110 §6.6.1' },
)
g.exchange(
  'method-not-allowed-has-allow',
  get('/only-post'),
  [{ status: 405, headers: { allow: 'POST, OPTIONS' } }],
  'open',
  { ref: 'RFC 9110 §15.5.6' },
)
g.exchange(
  'options-has-allow',
  'OPTIONS /text HTTP/1.1\r\nHost: a\r\n\r\n',
  [{ status: 204, headers: { allow: 'GET, HEAD, OPTIONS' } }],
  'open',
  { ref: 'RFC 9110 §9.3.7' },
)
g.exchange(
  'refusal-says-close-and-date',
  `GET /echo HTTP/1.1\r\n\r\n${get('/smuggled')}`,
  [{ status: 400, headers: { connection: 'close', date: '*' } }],
  'closed',
  { ref: 'RFC 9110 §6.6.1, RFC 9112 §9.6' },
)
g.exchange('handler-400-keeps-the-connection', get('/fail/400'), [{ status: 400 }], 'open')
g.exchange('handler-599', get('/fail/599'), [{ status: 599 }], 'open', { ref: 'RFC 9110 §15' })

for (const [id, which] of [
  ['value-crlf', 'value-crlf'],
  ['value-lf', 'value-lf'],
  ['value-cr', 'value-cr'],
  ['value-nul', 'value-nul'],
  ['value-wide', 'value-wide'],
  ['name-crlf', 'name-crlf'],
  ['name-colon', 'name-colon'],
  ['name-space', 'name-space'],
  ['name-empty', 'name-empty'],
  ['content-length', 'content-length'],
  ['content-length-case', 'content-length-case'],
  ['transfer-encoding', 'transfer-encoding'],
  ['connection', 'connection'],
  ['redirect-crlf', 'redirect-crlf'],
  ['content-type-crlf', 'content-type-crlf'],
] as const) {
  g.exchange(
    `injection-${id}`,
    get(`/inject/${which}`),
    [{ status: 500, headers: { injected: null, 'x-evil': null } }],
    'open',
    { ref: 'CVE-2023-23936 class' },
  )
}
g.exchange(
  'reflected-value',
  get('/reflect', 'X-A: caf\xe9\tx\r\n'),
  [{ status: 200, headers: { 'x-reflected': 'caf\xe9\tx' } }],
  'open',
  { ref: 'RFC 9110 §5.5' },
)
