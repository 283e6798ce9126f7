import { Group, get, post } from '../case.ts'

export const contentLength = new Group('content-length', 'RFC 9112 §6.3')
const g = contentLength
const truncated = [{ status: 400, optional: true }] as const

g.accept('five', post('Content-Length: 5\r\n', 'hello'), { body: 'hello', length: 5 })
g.accept('zero', post('Content-Length: 0\r\n'), { body: '', length: 0 })
g.accept('one', post('Content-Length: 1\r\n', 'x'), { body: 'x' })
g.accept('name-lower', post('content-length: 5\r\n', 'hello'), { body: 'hello' })
g.accept('name-upper', post('CONTENT-LENGTH: 5\r\n', 'hello'), { body: 'hello' })
g.accept('outer-whitespace', post('Content-Length: \t 5  \r\n', 'hello'), { body: 'hello' }, 'RFC 9112 §5.1')
g.refuse('trailing-tab', post('Content-Length: 5\t\r\n', 'hello'), 400, 'llhttp')
g.refuse('trailing-mix', post('Content-Length: 5 \t \r\n', 'hello'), 400, 'llhttp')
g.accept('no-space', post('Content-Length:5\r\n', 'hello'), { body: 'hello' })
g.accept('leading-zeros', post('Content-Length: 005\r\n', 'hello'), { body: 'hello' }, 'RFC 9110 §8.6')
g.accept('binary-body', post('Content-Length: 6\r\n', '\0\r\n\xff\x80\n'), { body: '\0\r\n\xff\x80\n' })
g.accept(
  'body-is-a-request',
  post(`Content-Length: ${get('/smuggled').length}\r\n`, get('/smuggled')),
  { body: get('/smuggled') },
  'CL.0 class',
)
g.accept('four-kib', post('Content-Length: 4096\r\n', 'b'.repeat(4096)), { length: 4096 })
g.accept('on-get', get('/echo', 'Content-Length: 5\r\n') + 'hello', { method: 'GET' }, 'RFC 9110 §9.3.1')
g.accept('on-get-zero', get('/echo', 'Content-Length: 0\r\n'), { method: 'GET' }, 'RFC 9110 §9.3.1')
g.accept('underscore-is-another-field', get('/echo', 'Content_Length: 5\r\n'), {
  method: 'GET',
  headers: { content_length: '5' },
})
g.accept('prefix-is-another-field', get('/echo', 'X-Content-Length: 5\r\n'), { method: 'GET' })
g.exchange(
  'then-next',
  post('Content-Length: 5\r\n', 'hello') + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)
g.exchange(
  'longer-than-declared',
  post('Content-Length: 5\r\n', 'hello@\r\n\r\n'),
  [{ status: 200, saw: { body: 'hello' } }, { status: 400 }],
  'closed',
)
g.exchange(
  'shorter-than-declared',
  [{ bytes: post('Content-Length: 9\r\n', 'hello') }, { fin: true }],
  truncated,
  'closed',
  { ref: 'RFC 9112 §8' },
)
g.exchange('body-missing', [{ bytes: post('Content-Length: 9\r\n') }, { fin: true }], truncated, 'closed', {
  ref: 'RFC 9112 §8',
})

for (const [id, value] of [
  ['empty', ''],
  ['plus', '+5'],
  ['minus', '-5'],
  ['minus-zero', '-0'],
  ['hex', '0x5'],
  ['hex-letters', 'a'],
  ['octal-prefix', '0o5'],
  ['exponent', '1e1'],
  ['decimal', '5.0'],
  ['comma-list-equal', '5,5'],
  ['comma-space-list-equal', '5, 5'],
  ['comma-list-different', '5, 6'],
  ['comma-trailing', '5,'],
  ['comma-leading', ',5'],
  ['space-inside', '5 5'],
  ['tab-inside', '5\t5'],
  ['semicolon', '5;'],
  ['quoted', '"5"'],
  ['word', 'five'],
  ['chunked', 'chunked'],
  ['underscore', '1_0'],
  ['trailing-letter', '5a'],
  ['nul', '5\0'],
  ['vertical-tab', '\x0b5'],
  ['form-feed', '5\x0c'],
  ['nbsp', '\xa05'],
  ['arabic-digit', '\xd9\xa5'],
  ['full-width-digit', '\xef\xbc\x95'],
  ['superscript', '5\xb2'],
  ['two-to-64', '18446744073709551616'],
  ['two-to-64-plus-5', '18446744073709551621'],
  ['two-to-32-of-64', '79228162514264337593543950341'],
  ['hundred-digits', '9'.repeat(100)],
  ['negative-overflow', '-18446744073709551611'],
  ['infinity', 'Infinity'],
  ['nan', 'NaN'],
] as const) {
  g.refuse(`value-${id}`, post(`Content-Length: ${value}\r\n`, 'hello'), 400, 'RFC 9110 §8.6')
}
for (const [id, lines] of [
  ['twice-equal', 'Content-Length: 5\r\nContent-Length: 5\r\n'],
  ['twice-different', 'Content-Length: 5\r\nContent-Length: 6\r\n'],
  ['twice-zero-first', 'Content-Length: 0\r\nContent-Length: 5\r\n'],
  ['twice-zero-last', 'Content-Length: 5\r\nContent-Length: 0\r\n'],
  ['twice-case-differs', 'Content-Length: 5\r\ncontent-length: 5\r\n'],
  ['twice-apart', 'Content-Length: 5\r\nX-A: 1\r\nContent-Length: 5\r\n'],
  ['twice-one-empty', 'Content-Length: 5\r\nContent-Length:\r\n'],
  ['three-times', 'Content-Length: 5\r\nContent-Length: 5\r\nContent-Length: 5\r\n'],
  ['space-before-colon', 'Content-Length : 5\r\n'],
  ['tab-before-colon', 'Content-Length\t: 5\r\n'],
  ['fold', 'Content-Length:\r\n 5\r\n'],
  ['fold-adds-digit', 'Content-Length: 5\r\n 0\r\n'],
  ['bare-cr', 'Content-Length: 5\rX: y\r\n'],
  ['bare-lf', 'Content-Length: 5\nX: y\r\n'],
  ['leading-space', 'X-A: 1\r\n Content-Length: 5\r\n'],
] as const) {
  g.refuse(id, post(lines, 'hello'))
}
g.refuse(
  'first-field-leading-space',
  'POST /echo HTTP/1.1\r\n Content-Length: 5\r\nHost: a\r\n\r\nhello',
  400,
  'CVE-2024-27982',
)
g.refuse('twice-on-get', get('/echo', 'Content-Length: 0\r\nContent-Length: 0\r\n'))
