import { Group, chunked as send, get, helloChunks } from '../case.ts'

export const chunked = new Group('chunked', 'RFC 9112 §7.1')
const g = chunked.corpus()

g.exchange(
  'two-bodies',
  send(helloChunks) + send('3\r\nbye\r\n0\r\n\r\n'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { body: 'bye' } },
  ],
  'open',
)
g.exchange(
  'garbage-after-end',
  `${send(helloChunks)}@\r\n\r\n`,
  [{ status: 200, saw: { body: 'hello' } }, { status: 400 }],
  'closed',
)
g.exchange(
  'one-crlf-after-end',
  `${send(helloChunks)}\r\n${get('/echo?n=2')}`,
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
  { ref: 'RFC 9112 §2.2' },
)

for (const [id, body] of [
  ['truncated-size', '5'],
  ['truncated-data', '5\r\nhel'],
  ['truncated-before-crlf', '5\r\nhello'],
  ['truncated-before-last', '5\r\nhello\r\n'],
  ['truncated-in-end', '5\r\nhello\r\n0\r\n'],
  ['truncated-in-trailer', '5\r\nhello\r\n0\r\nX-T: 1'],
] as const) {
  g.exchange(id, [{ bytes: send(body) }, { fin: true }], [{ status: 400, optional: true }], 'closed', {
    ref: 'RFC 9112 §8',
  })
}
