import { Group, get, helloChunks, post } from '../case.ts'

/** The 33 ideas of h1spec: fragments must wait for the rest, faults must be refused. */
export const h1spec = new Group('h1spec', 'h1spec')
const g = h1spec

/** Sends `first`, sees that nothing comes back, sends the rest. */
function fragment(id: string, first: string, rest: string): void {
  g.exchange(
    id,
    [{ bytes: first }, { quiet: 15 }, { bytes: rest }],
    [{ status: 200, saw: { path: '/echo' } }],
    'open',
    { cut: false },
  )
}
fragment('fragmented-method', 'G', get('/echo').slice(1))
fragment('fragmented-url-1', 'GET ', get('/echo').slice(4))
fragment('fragmented-url-2', 'GET /ec', get('/echo').slice(7))
fragment('fragmented-url-3', 'GET /echo', get('/echo').slice(9))
fragment('fragmented-version', 'GET /echo HTT', get('/echo').slice(13))
fragment('fragmented-request-line', 'GET /echo HTTP/1.1', get('/echo').slice(18))
fragment('fragmented-request-line-cr', 'GET /echo HTTP/1.1\r', get('/echo').slice(19))
fragment('fragmented-request-line-crlf', 'GET /echo HTTP/1.1\r\n', get('/echo').slice(20))
fragment('fragmented-field-name', 'GET /echo HTTP/1.1\r\nHos', get('/echo').slice(23))
fragment('fragmented-field-value-1', 'GET /echo HTTP/1.1\r\nHost:', get('/echo').slice(25))
fragment('fragmented-field-value-2', 'GET /echo HTTP/1.1\r\nHost: ', get('/echo').slice(26))
fragment('fragmented-field-value-3', 'GET /echo HTTP/1.1\r\nHost: a', get('/echo').slice(27))
fragment('fragmented-field-value-4', 'GET /echo HTTP/1.1\r\nHost: a\r', get('/echo').slice(28))
fragment('fragmented-request', 'GET /echo HTTP/1.1\r\nHost: a\r\n', get('/echo').slice(29))
fragment('fragmented-request-termination', 'GET /echo HTTP/1.1\r\nHost: a\r\n\r', get('/echo').slice(30))
fragment('fragmented-body', post('Content-Length: 5\r\n', 'he'), 'llo')
fragment(
  'fragmented-chunk',
  post('Transfer-Encoding: chunked\r\n', helloChunks.slice(0, 6)),
  helloChunks.slice(6),
)
g.refuse('without-version', 'GET /echo\r\nHost: a\r\n\r\n')
g.refuse('expect-header', get('/echo', 'Expect: 200-ok\r\n'), 417)
g.accept('valid-get', get('/echo'), { path: '/echo' })
g.accept(
  'valid-get-edge-cases',
  'GET /echo HTTP/1.1\r\nhoSt:\texample.com\r\nempty:\r\nX-A: \t x \t\r\n\r\n',
  {
    headers: { host: 'example.com', empty: '', 'x-a': 'x' },
  },
)
g.refuse('invalid-field-characters', get('/echo', 'X-Invalid[]: test\r\n'))
g.refuse('missing-host', 'GET /echo HTTP/1.1\r\n\r\n')
g.refuse('several-hosts', 'GET /echo HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n')
g.refuse('overflowing-negative-length', post('Content-Length: -123456789123456789123456789\r\n'))
g.refuse('negative-length', post('Content-Length: -1234\r\n'))
g.refuse('non-numeric-length', post('Content-Length: abc\r\n'))
g.accept('empty-field-value', get('/echo', 'X-Empty-Header: \r\n'), { headers: { 'x-empty-header': '' } })
g.refuse('control-character-in-field', get('/echo', 'X-Bad-Control-Char: te\x07st\r\n'))
g.refuse('invalid-version', 'GET /echo HTTP/9.9\r\nHost: a\r\n\r\n', 505)
g.refuse('invalid-prefix', 'Extra lineGET /echo HTTP/1.1\r\nHost: a\r\n\r\n', [400, 501])
g.refuse('invalid-line-ending', 'GET /echo HTTP/1.1\r\nHost: a\r\nX: y\n\r\n')
g.accept('valid-post', post('Content-Length: 5\r\n', 'hello'), { body: 'hello' })
g.accept('chunked', post('Transfer-Encoding: chunked\r\n', 'c\r\nHello world1\r\n0\r\n\r\n'), {
  body: 'Hello world1',
})
g.refuse('length-and-encoding', post('Content-Length: 5\r\nTransfer-Encoding: chunked\r\n', helloChunks))
