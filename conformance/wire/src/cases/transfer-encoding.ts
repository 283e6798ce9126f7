import { Group, chunked, get, helloChunks, post } from '../case.ts'

export const transferEncoding = new Group('transfer-encoding', 'RFC 9112 §6.1')
const g = transferEncoding

g.accept('chunked', chunked(helloChunks), { body: 'hello' })
g.exchange(
  'then-next',
  chunked(helloChunks) + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)
g.accept('on-get', get('/echo', 'Transfer-Encoding: chunked\r\n') + helloChunks, { method: 'GET' })
g.refuse(
  'http10',
  `POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${helloChunks}`,
  400,
  'CVE-2026-2835',
)
g.refuse(
  'http10-keep-alive',
  `POST /echo HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n${helloChunks}`,
  400,
  'CVE-2026-2835',
)
g.refuse(
  'http10-identity',
  'POST /echo HTTP/1.0\r\nTransfer-Encoding: identity\r\n\r\n',
  400,
  'CVE-2026-2835',
)

/** Spellings that are `chunked`: read as such alone, refused beside a Content-Length. */
const same: readonly (readonly [string, string])[] = [
  ['plain', 'Transfer-Encoding: chunked\r\n'],
  ['value-capital', 'Transfer-Encoding: Chunked\r\n'],
  ['value-upper', 'Transfer-Encoding: CHUNKED\r\n'],
  ['value-mixed', 'Transfer-Encoding: cHuNkEd\r\n'],
  ['name-lower', 'transfer-encoding: chunked\r\n'],
  ['name-upper', 'TRANSFER-ENCODING: chunked\r\n'],
  ['no-space', 'Transfer-Encoding:chunked\r\n'],
  ['two-spaces', 'Transfer-Encoding:  chunked\r\n'],
  ['tab', 'Transfer-Encoding:\tchunked\r\n'],
  ['trailing-space', 'Transfer-Encoding: chunked \r\n'],
]
for (const [id, line] of same) {
  g.accept(`alone-${id}`, post(line, helloChunks), { body: 'hello' })
  g.refuse(
    `after-cl-${id}`,
    post(`Content-Length: 5\r\n${line}`, helloChunks),
    400,
    'CL.TE, RFC 9112 §6.3 (3)',
  )
}
g.refuse(
  'before-cl',
  post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\n', helloChunks),
  400,
  'TE.CL, RFC 9112 §6.3 (3)',
)
g.refuse(
  'before-cl-zero',
  post('Transfer-Encoding: chunked\r\nContent-Length: 0\r\n', helloChunks),
  400,
  'TE.CL, RFC 9112 §6.3 (3)',
)
g.refuse(
  'around-cl',
  post('Transfer-Encoding: chunked\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n', helloChunks),
  400,
  'TE.TE',
)

/** Spellings that are not `chunked`: refused alone (with the status given) and beside a Content-Length. */
const other: readonly (readonly [string, string, number | readonly number[]])[] = [
  ['identity', 'Transfer-Encoding: identity\r\n', 501],
  ['trailing-tab', 'Transfer-Encoding: chunked\t\r\n', 400],
  ['trailing-mix', 'Transfer-Encoding: chunked \t \r\n', 400],
  ['gzip', 'Transfer-Encoding: gzip\r\n', 501],
  ['gzip-chunked', 'Transfer-Encoding: gzip, chunked\r\n', 501],
  ['deflate-chunked', 'Transfer-Encoding: deflate,chunked\r\n', 501],
  ['identity-chunked', 'Transfer-Encoding: identity, chunked\r\n', 501],
  ['chunked-chunked', 'Transfer-Encoding: chunked, chunked\r\n', 400],
  ['chunked-chunked-tight', 'Transfer-Encoding: chunked,chunked\r\n', 400],
  ['two-fields', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', 400],
  ['two-fields-identity-last', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n', [400, 501]],
  ['two-fields-identity-first', 'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n', [400, 501]],
  ['two-fields-junk', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: x\r\n', [400, 501]],
  ['two-fields-empty', 'Transfer-Encoding: chunked\r\nTransfer-Encoding:\r\n', 400],
  ['chunked-identity', 'Transfer-Encoding: chunked, identity\r\n', 400],
  ['chunked-gzip', 'Transfer-Encoding: chunked, gzip\r\n', 400],
  ['empty', 'Transfer-Encoding:\r\n', 400],
  ['only-space', 'Transfer-Encoding: \t\r\n', 400],
  ['only-comma', 'Transfer-Encoding: ,\r\n', 400],
  ['comma-after', 'Transfer-Encoding: chunked,\r\n', 400],
  ['comma-before', 'Transfer-Encoding: ,chunked\r\n', 400],
  ['xchunked', 'Transfer-Encoding: xchunked\r\n', 501],
  ['chunkedx', 'Transfer-Encoding: chunkedx\r\n', 501],
  ['chunk', 'Transfer-Encoding: chunk\r\n', 501],
  ['chunked-dash', 'Transfer-Encoding: chunked-\r\n', 501],
  ['double-quoted', 'Transfer-Encoding: "chunked"\r\n', 400],
  ['single-quoted', "Transfer-Encoding: 'chunked'\r\n", 501],
  ['parameter', 'Transfer-Encoding: chunked;q=1\r\n', 400],
  ['parameter-space', 'Transfer-Encoding: chunked ; a=b\r\n', 400],
  ['semicolon', 'Transfer-Encoding: chunked;\r\n', 400],
  ['two-words', 'Transfer-Encoding: chunked chunked\r\n', 400],
  ['word-before', 'Transfer-Encoding: x chunked\r\n', 400],
  ['equals', 'Transfer-Encoding: =chunked\r\n', 400],
  ['two-colons', 'Transfer-Encoding:: chunked\r\n', 400],
  ['percent', 'Transfer-Encoding: %63hunked\r\n', 501],
  ['tab-inside', 'Transfer-Encoding: chun\tked\r\n', 400],
  ['nbsp', 'Transfer-Encoding: \xa0chunked\r\n', 400],
  ['high-octet', 'Transfer-Encoding: \xffchunked\r\n', 400],
  ['kelvin-sign', 'Transfer-Encoding: chun\xe2\x84\xaaed\r\n', 400],
  ['vertical-tab', 'Transfer-Encoding: \x0bchunked\r\n', 400],
  ['form-feed', 'Transfer-Encoding: \x0cchunked\r\n', 400],
  ['nul-after', 'Transfer-Encoding: chunked\0\r\n', 400],
  ['nul-before', 'Transfer-Encoding: \0chunked\r\n', 400],
  ['bs-after', 'Transfer-Encoding: chunked\x08\r\n', 400],
  ['del-after', 'Transfer-Encoding: chunked\x7f\r\n', 400],
  ['bare-cr-before', 'Transfer-Encoding: \rchunked\r\n', 400],
  ['bare-cr-after', 'Transfer-Encoding: chunked\r\r\n', 400],
  ['bare-lf-after', 'Transfer-Encoding: chunked\nX: y\r\n', 400],
  ['lf-before-value', 'Transfer-Encoding:\nchunked\r\n', 400],
  ['fold-before', 'Transfer-Encoding:\r\n chunked\r\n', 400],
  ['fold-after', 'Transfer-Encoding: chunked\r\n , identity\r\n', 400],
  ['fold-hides', 'X: y\r\n Transfer-Encoding: chunked\r\n', 400],
  ['fold-tab-hides', 'X: y\r\n\tTransfer-Encoding: chunked\r\n', 400],
  ['cr-hides', 'X: y\rTransfer-Encoding: chunked\r\n', 400],
  ['lf-hides', 'X: y\nTransfer-Encoding: chunked\r\n', 400],
  ['space-before-colon', 'Transfer-Encoding : chunked\r\n', 400],
  ['tab-before-colon', 'Transfer-Encoding\t: chunked\r\n', 400],
  ['vt-before-colon', 'Transfer-Encoding\x0b: chunked\r\n', 400],
  ['nul-before-colon', 'Transfer-Encoding\0: chunked\r\n', 400],
  ['space-in-name', 'Transfer Encoding: chunked\r\n', 400],
  ['no-colon', 'Transfer-Encoding chunked\r\n', 400],
  ['empty-name-first', ': x\r\nTransfer-Encoding: chunked\r\n', 400],
  ['high-octet-name', '\xffTransfer-Encoding: chunked\r\n', 400],
  ['cr-in-name', 'Transfer-\rEncoding: chunked\r\n', 400],
]
for (const [id, line, status] of other) {
  g.refuse(`alone-${id}`, post(line, helloChunks), status, 'TE.TE')
  g.refuse(
    `after-cl-${id}`,
    post(`Content-Length: 5\r\n${line}`, helloChunks),
    status === 400 ? 400 : [400, 501],
    'CL.TE',
  )
}

/** Fields that only look like it: no framing, so Content-Length alone decides. */
for (const [id, line] of [
  ['underscore', 'Transfer_Encoding: chunked\r\n'],
  ['prefix', 'X-Transfer-Encoding: chunked\r\n'],
  ['plural', 'Transfer-Encodings: chunked\r\n'],
  ['te', 'TE: chunked\r\n'],
  ['without-dash', 'TransferEncoding: chunked\r\n'],
  ['dot', 'Transfer.Encoding: chunked\r\n'],
] as const) {
  g.accept(`alone-other-field-${id}`, post(line), { length: 0 }, 'TE.0 class')
  g.accept(
    `after-cl-other-field-${id}`,
    post(`Content-Length: 5\r\n${line}`, 'hello'),
    { body: 'hello' },
    'CL.TE',
  )
}
