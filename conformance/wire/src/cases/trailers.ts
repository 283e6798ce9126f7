import { canary, Group, chunked, get } from '../case.ts'

/**
 * Trailer fields are parsed with the rules of header fields, and their number and size are bounded. They are never
 * merged into the head. A handler that streams the body sees those that RFC 9110 §6.5.1 allows.
 */
export const trailers = new Group('trailers', 'RFC 9112 §7.1.2')
const g = trailers.corpus()
const withTrailers = (lines: string) => chunked(`5\r\nhello\r\n0\r\n${lines}\r\n`)

g.exchange(
  'then-next',
  withTrailers('X-T: 1\r\n') + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)

const streamed = (lines: string) => chunked(`5\r\nhello\r\n0\r\n${lines}\r\n`, '/trailers')
const seen = (trailers: object) => [{ status: 200, body: JSON.stringify(['hello', trailers]) }]

g.exchange(
  'seen',
  streamed('X-T: 1\r\nx-u:\t a b \r\nX-U: 2\r\n'),
  seen({ 'x-t': '1', 'x-u': 'a b, 2' }),
  'open',
)
g.exchange('none-seen', streamed(''), seen({}), 'open')
g.exchange(
  'of-the-head-not-seen',
  streamed('Cache-Control: no-store\r\nIf-Match: *\r\nX-T: 1\r\n'),
  seen({ 'x-t': '1' }),
  'open',
  {
    ref: 'RFC 9110 §6.5.1',
  },
)
g.exchange(
  'seen-then-next',
  streamed('X-T: 1\r\n') + get('/echo?n=2'),
  [...seen({ 'x-t': '1' }), { status: 200, saw: { query: 'n=2' } }],
  'open',
)
g.exchange(
  'streamed-content-length',
  streamed('Content-Length: 5\r\n') + canary,
  [{ status: 400 }],
  'closed',
  { ref: 'RFC 9110 §6.5.1', cutLimit: streamed('Content-Length: 5\r\n').length + 2 },
)

const sent = { status: 200, body: 'one two three', trailers: ['x-one', '1', 'x-two', 'a', 'x-two', 'b'] }
g.exchange('sent', get('/with-trailers'), [sent], 'open')
g.exchange('sent-twice', get('/with-trailers') + get('/with-trailers'), [sent, sent], 'open')
g.exchange(
  'sent-then-next',
  get('/with-trailers') + get('/text'),
  [sent, { status: 200, body: 'hello world' }],
  'open',
)
g.exchange(
  'not-for-head',
  'HEAD /with-trailers HTTP/1.1\r\nHost: a\r\n\r\n',
  [{ status: 200, head: true }],
  'open',
  {
    ref: 'RFC 9110 §9.3.2',
  },
)
g.exchange(
  'not-in-http10',
  'GET /with-trailers HTTP/1.0\r\n\r\n',
  [{ status: 200, body: 'one two three' }],
  'closed',
)
