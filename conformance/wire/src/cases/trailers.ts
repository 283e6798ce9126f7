import { Group, chunked, get } from '../case.ts'

/** Trailer fields are parsed with the rules of header fields, bounded, and discarded. */
export const trailers = new Group('trailers', 'RFC 9112 §7.1.2')
const g = trailers
const withTrailers = (lines: string) => chunked(`5\r\nhello\r\n0\r\n${lines}\r\n`)

g.accept('one', withTrailers('X-T: 1\r\n'), { body: 'hello', headers: { 'x-t': null } })
g.accept('two', withTrailers('X-T: 1\r\nX-U: 2\r\n'), { body: 'hello' })
g.accept('empty-value', withTrailers('X-T:\r\n'), { body: 'hello' })
g.accept(
  'does-not-replace',
  chunked('5\r\nhello\r\n0\r\nX-A: trailer\r\n\r\n').replace('Host: a\r\n', 'Host: a\r\nX-A: head\r\n'),
  {
    body: 'hello',
    headers: { 'x-a': 'head' },
  },
  'RFC 9110 §6.5.1',
)
g.exchange(
  'then-next',
  withTrailers('X-T: 1\r\n') + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)
for (const [id, lines, ref] of [
  ['content-length', 'Content-Length: 5\r\n', 'RFC 9110 §6.5.1'],
  ['content-length-case', 'cOnTeNt-lEnGtH: 5\r\n', 'RFC 9110 §6.5.1'],
  ['transfer-encoding', 'Transfer-Encoding: chunked\r\n', 'RFC 9110 §6.5.1'],
  ['host', 'Host: b\r\n', 'RFC 9110 §6.5.1'],
  ['bare-lf', 'X-T: 1\nX-U: 2\r\n', 'CVE-2025-22871'],
  ['bare-cr', 'X-T: 1\rX-U: 2\r\n', 'RFC 9112 §2.2'],
  ['nul', 'X-T: a\0b\r\n', 'RFC 9110 §5.5'],
  ['control', 'X-T: \x01\r\n', 'RFC 9110 §5.5'],
  ['fold', 'X-T: a\r\n b\r\n', 'RFC 9112 §5.2'],
  ['leading-space', ' X-T: a\r\n', 'RFC 9112 §5.2'],
  ['space-before-colon', 'X-T : a\r\n', 'RFC 9112 §5.1'],
  ['empty-name', ': a\r\n', 'CVE-2023-25725'],
  ['no-colon', 'X-T\r\n', 'RFC 9112 §5'],
  ['name-non-token', 'X(T): a\r\n', 'RFC 9110 §5.1'],
  ['name-non-ascii', 'X\xe9: a\r\n', 'RFC 9110 §5.1'],
  ['is-a-request', 'GET /smuggled HTTP/1.1\r\n', 'RFC 9112 §7.1.2'],
] as const) {
  g.refuse(id, withTrailers(lines), 400, ref)
}
