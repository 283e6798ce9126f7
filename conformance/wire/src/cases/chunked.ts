import { Group, chunked as send, get, helloChunks } from '../case.ts'

export const chunked = new Group('chunked', 'RFC 9112 §7.1')
const g = chunked
const end = '0\r\n\r\n'
const one = (line: string) => send(`${line}\r\nhello\r\n${end}`)

g.accept('one', send(helloChunks), { body: 'hello', length: 5 })
g.accept('empty', send(end), { body: '', length: 0 })
g.accept('two', send(`2\r\nhe\r\n3\r\nllo\r\n${end}`), { body: 'hello' })
g.accept('octets', send(`${[...'hello'].map((c) => `1\r\n${c}\r\n`).join('')}${end}`), { body: 'hello' })
g.accept('hex-lower', send(`a\r\n0123456789\r\n${end}`), { body: '0123456789' })
g.accept('hex-upper', send(`A\r\n0123456789\r\n${end}`), { body: '0123456789' })
g.accept('hex-two-digits', send(`1a\r\n${'x'.repeat(26)}\r\n${end}`), { body: 'x'.repeat(26) })
g.accept('leading-zeros', one('0005'), { body: 'hello' })
g.accept('sixteen-digits', one('0000000000000005'), { body: 'hello' })
g.refuse('seventeen-digits', one('00000000000000005'))
g.accept('last-chunk-zeros', send('5\r\nhello\r\n000\r\n\r\n'), { body: 'hello' })
g.accept('data-looks-like-end', send(`5\r\n0\r\n\r\n\r\n${end}`), { body: '0\r\n\r\n' })
g.accept('data-binary', send(`4\r\n\0\xff\r\n\r\n${end}`), { body: '\0\xff\r\n' })
g.accept(
  'data-is-a-request',
  send(`${get('/smuggled').length.toString(16)}\r\n${get('/smuggled')}\r\n${end}`),
  {
    body: get('/smuggled'),
  },
)
g.accept('four-kib', send(`1000\r\n${'b'.repeat(4096)}\r\n${end}`), { length: 4096 })
g.exchange(
  'two-bodies',
  send(helloChunks) + send(`3\r\nbye\r\n${end}`),
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

for (const [id, line] of [
  ['name', '5;a'],
  ['value', '5;a=b'],
  ['quoted', '5;a="b c"'],
  ['quoted-escape', '5;a="b\\"c"'],
  ['quoted-semicolon', '5;a=";x=y"'],
  ['quoted-empty', '5;a=""'],
  ['two', '5;a=b;c=d'],
] as const) {
  g.accept(`extension-${id}`, one(line), { body: 'hello' }, 'RFC 9112 §7.1.1')
}
g.accept('extension-on-last', send('5\r\nhello\r\n0;a=b\r\n\r\n'), { body: 'hello' }, 'RFC 9112 §7.1.1')

for (const [id, line, ref] of [
  ['plus', '+5', 'RFC 9112 §7.1'],
  ['minus', '-5', 'RFC 9112 §7.1'],
  ['prefix-0x', '0x5', 'RFC 9112 §7.1'],
  ['space-before', ' 5', 'RFC 9112 §7.1'],
  ['tab-before', '\t5', 'RFC 9112 §7.1'],
  ['space-after', '5 ', 'RFC 9112 §7.1.1'],
  ['tab-after', '5\t', 'RFC 9112 §7.1.1'],
  ['text-after-space', '5 a=b', 'RFC 9112 §7.1.1'],
  ['empty', '', 'RFC 9112 §7.1'],
  ['only-extension', ';a=b', 'RFC 9112 §7.1'],
  ['letter', 'g', 'RFC 9112 §7.1'],
  ['letter-after', '5g', 'RFC 9112 §7.1'],
  ['comma', '5,5', 'RFC 9112 §7.1'],
  ['dot', '5.0', 'RFC 9112 §7.1'],
  ['underscore', '0_5', 'RFC 9112 §7.1'],
  ['quoted', '"5"', 'RFC 9112 §7.1'],
  ['suffix-h', '5h', 'RFC 9112 §7.1'],
  ['nul', '5\0', 'RFC 9112 §7.1'],
  ['vertical-tab', '5\x0b', 'RFC 9112 §7.1'],
  ['non-ascii', '\xb5', 'RFC 9112 §7.1'],
  ['two-to-64', '10000000000000000', 'RFC 9112 §7.1'],
  ['two-to-64-plus-5', '10000000000000005', 'RFC 9112 §7.1'],
  ['two-to-128-plus-5', '100000000000000000000000000000005', 'RFC 9112 §7.1'],
  ['seventeen-f', 'FFFFFFFFFFFFFFFFF', 'RFC 9112 §7.1'],
  // BWS is in the grammar, but llhttp refuses it and what one parser accepts alone is how chunks get smuggled (S1).
  ['extension-space-before', '5 ;a=b', 'RFC 9112 §7.1.1'],
  ['extension-space-after', '5; a=b', 'RFC 9112 §7.1.1'],
  ['extension-space-around-equals', '5;a = b', 'RFC 9112 §7.1.1'],
  ['extension-tab', '5\t;\ta=b', 'RFC 9112 §7.1.1'],
  ['extension-bare-semicolon', '5;', 'RFC 9112 §7.1.1'],
  ['extension-two-semicolons', '5;;a', 'RFC 9112 §7.1.1'],
  ['extension-trailing-semicolon', '5;a=b;', 'RFC 9112 §7.1.1'],
  ['extension-no-value', '5;a=', 'RFC 9112 §7.1.1'],
  ['extension-no-name', '5;=b', 'RFC 9112 §7.1.1'],
  ['extension-two-values', '5;a=b c', 'RFC 9112 §7.1.1'],
  ['extension-unterminated', '5;a="b', 'RFC 9112 §7.1.1'],
  ['extension-text-after-quote', '5;a="b"c', 'RFC 9112 §7.1.1'],
  ['extension-nul', '5;a=b\0', 'RFC 9112 §7.1.1'],
  ['extension-control', '5;a=\x01', 'RFC 9112 §7.1.1'],
  ['extension-quoted-control', '5;a="\x01"', 'RFC 9112 §7.1.1'],
  ['extension-non-token', '5;a=b@', 'RFC 9112 §7.1.1'],
  ['extension-cr', '5;a\rb', 'GHSA-fghv-69vj-qj49'],
  ['extension-quoted-cr', '5;a="\rb"', 'GHSA-fghv-69vj-qj49'],
  ['extension-lf', '5;a\nb', 'CVE-2025-22871'],
  ['extension-quoted-lf', '5;a="\nb"', 'CVE-2025-22871'],
  ['cr-cr', '5\r', 'RFC 9112 §7.1'],
] as const) {
  g.refuse(`size-${id}`, one(line), 400, ref)
}
g.refuse('size-largest', send('FFFFFFFFFFFFFFFF\r\nhello'), 400, 'RFC 9112 §7.1')
g.refuse('size-two-to-63', send('8000000000000000\r\nhello'), 400, 'RFC 9112 §7.1')

for (const [id, body, ref] of [
  ['size-bare-lf', '5\nhello\r\n0\r\n\r\n', 'CVE-2025-22871'],
  ['size-bare-cr', '5\rhello\r\n0\r\n\r\n', 'RFC 9112 §7.1'],
  ['size-cr-x', '5\rXhello\r\n0\r\n\r\n', 'RFC 9112 §7.1'],
  ['data-bare-lf', '5\r\nhello\n0\r\n\r\n', 'CVE-2025-22871'],
  ['data-bare-cr', '5\r\nhello\r0\r\n\r\n', 'CVE-2025-43859'],
  ['data-no-crlf', '5\r\nhello0\r\n\r\n', 'CVE-2025-43859'],
  ['data-other-octets', '5\r\nhelloXX0\r\n\r\n', 'CVE-2025-43859'],
  ['data-longer', '5\r\nhello!\r\n0\r\n\r\n', 'RFC 9112 §7.1'],
  ['data-shorter', '5\r\nhell\r\n0\r\n\r\n', 'RFC 9112 §7.1'],
  ['data-crlf-crlf', '5\r\nhello\r\n\r\n0\r\n\r\n', 'RFC 9112 §7.1'],
  ['last-bare-lf', '5\r\nhello\r\n0\n\r\n', 'CVE-2025-22871'],
  ['last-lf-lf', '5\r\nhello\r\n0\n\n', 'CVE-2025-22871'],
  ['end-bare-lf', '5\r\nhello\r\n0\r\n\n', 'CVE-2025-22871'],
  ['end-bare-cr', '5\r\nhello\r\n0\r\n\r', 'RFC 9112 §7.1'],
  ['all-bare-lf', '5\nhello\n0\n\n', 'CVE-2025-22871'],
  ['last-negative', '5\r\nhello\r\n-0\r\n\r\n', 'RFC 9112 §7.1'],
] as const) {
  g.refuse(id, send(body), 400, ref)
}
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
