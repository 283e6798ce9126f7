import { Group, get } from '../case.ts'

export const header = new Group('header', 'RFC 9110 §5.5')
const g = header

g.accept('value', get('/echo', 'X-A: one\r\n'), { headers: { 'x-a': 'one' } })
g.accept('no-space', get('/echo', 'X-A:one\r\n'), { headers: { 'x-a': 'one' } }, 'RFC 9112 §5.1')
g.accept(
  'outer-whitespace',
  get('/echo', 'X-A: \t one \t \r\n'),
  { headers: { 'x-a': 'one' } },
  'RFC 9112 §5.1',
)
g.accept('inner-whitespace', get('/echo', 'X-A: one  \t two\r\n'), { headers: { 'x-a': 'one  \t two' } })
g.accept('empty-value', get('/echo', 'X-A:\r\nX-B: 1\r\n'), { headers: { 'x-a': '', 'x-b': '1' } })
g.accept('only-whitespace', get('/echo', 'X-A:  \t \r\n'), { headers: { 'x-a': '' } })
g.accept('colon-in-value', get('/echo', 'X-A: a:b:c\r\n'), { headers: { 'x-a': 'a:b:c' } })
g.accept('obs-text', get('/echo', 'X-A: caf\xe9\r\n'), { headers: { 'x-a': 'caf\xe9' } })
g.accept('name-upper', get('/echo', 'X-UPPER: 1\r\n'), { headers: { 'x-upper': '1' } }, 'RFC 9110 §5.1')
g.accept(
  'name-all-tchar',
  get('/echo', "!#$%&'*+-.^_`|~09Az: 1\r\n"),
  { headers: { "!#$%&'*+-.^_`|~09az": '1' } },
  'RFC 9110 §5.6.2',
)
g.accept('name-one-letter', get('/echo', 'x: 1\r\n'), { headers: { x: '1' } })
g.accept(
  'repeated',
  get('/echo', 'X-A: 1\r\nX-B: 2\r\nx-a: 3\r\n'),
  { headers: { 'x-a': '1, 3', 'x-b': '2' } },
  'RFC 9110 §5.3',
)
g.accept(
  'repeated-cookie',
  get('/echo', 'Cookie: a=1\r\nCookie: b=2\r\n'),
  { headers: { cookie: 'a=1; b=2' } },
  'RFC 6265 §5.4',
)
g.accept(
  'proto-name',
  get('/echo', '__proto__: x\r\nX-A: 1\r\n'),
  { headers: { 'x-a': '1' } },
  'CVE-2026-21710',
)
g.accept(
  'constructor-name',
  get('/echo', 'constructor: x\r\ntoString: y\r\n'),
  { headers: { constructor: 'x', tostring: 'y' } },
  'CVE-2026-21710 class',
)
g.accept('long-value', get('/echo', `X-A: ${'v'.repeat(4000)}\r\n`), { path: '/echo' })
g.accept('request-in-value', get('/echo', 'X-A: GET /smuggled HTTP/1.1\r\n'), {
  headers: { 'x-a': 'GET /smuggled HTTP/1.1' },
})

for (const [id, lines, ref] of [
  ['bare-lf-end', 'X-A: 1\nX-B: 2\r\n', 'RFC 9112 §2.2'],
  ['bare-lf-in-value', 'X-A: a\nb\r\n', 'RFC 9112 §2.2'],
  ['bare-cr-in-value', 'X-A: a\rb\r\n', 'RFC 9112 §2.2'],
  ['bare-cr-end', 'X-A: 1\rX-B: 2\r\n', 'RFC 9112 §2.2'],
  ['cr-cr-lf', 'X-A: 1\r\r\n', 'RFC 9112 §2.2'],
  ['cr-in-name', 'X\r-A: 1\r\n', 'RFC 9112 §2.2'],
  ['lf-in-name', 'X\n-A: 1\r\n', 'RFC 9112 §2.2'],
  ['nul-in-value', 'X-A: a\0b\r\n', 'RFC 9110 §5.5'],
  ['nul-first', 'X-A: \0\r\n', 'RFC 9110 §5.5'],
  ['nul-in-name', 'X\0A: 1\r\n', 'RFC 9110 §5.1'],
  ['soh-in-value', 'X-A: a\x01b\r\n', 'RFC 9110 §5.5'],
  ['vt-in-value', 'X-A: a\x0bb\r\n', 'RFC 9110 §5.5'],
  ['ff-in-value', 'X-A: a\x0cb\r\n', 'RFC 9110 §5.5'],
  ['esc-in-value', 'X-A: \x1b[31m\r\n', 'RFC 9110 §5.5'],
  ['us-in-value', 'X-A: a\x1fb\r\n', 'RFC 9110 §5.5'],
  ['del-in-value', 'X-A: a\x7fb\r\n', 'RFC 9110 §5.5'],
  ['fold-space', 'X-A: a\r\n b\r\n', 'RFC 9112 §5.2'],
  ['fold-tab', 'X-A: a\r\n\tb\r\n', 'RFC 9112 §5.2'],
  ['fold-empty', 'X-A: a\r\n \r\n', 'RFC 9112 §5.2'],
  ['fold-hides-field', 'X-A: a\r\n Content-Length: 5\r\n', 'RFC 9112 §5.2'],
  ['space-before-colon', 'X-A : 1\r\n', 'RFC 9112 §5.1'],
  ['tab-before-colon', 'X-A\t: 1\r\n', 'RFC 9112 §5.1'],
  ['empty-name', ': 1\r\n', 'CVE-2023-25725'],
  ['empty-name-space', ' : 1\r\n', 'CVE-2023-25725'],
  ['no-colon', 'X-A\r\n', 'RFC 9112 §5'],
  ['no-colon-with-space', 'X-A 1\r\n', 'RFC 9112 §5'],
  ['only-colon', ':\r\n', 'CVE-2023-25725'],
  ['name-space-inside', 'X A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-paren', 'X(A): 1\r\n', 'RFC 9110 §5.1'],
  ['name-slash', 'X/A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-at', 'X@A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-bracket', 'X[A]: 1\r\n', 'RFC 9110 §5.1'],
  ['name-brace', 'X{A}: 1\r\n', 'RFC 9110 §5.1'],
  ['name-quote', 'X"A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-comma', 'X,A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-semicolon', 'X;A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-equals', 'X=A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-question', 'X?A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-backslash', 'X\\A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-non-ascii', 'X\xe9A: 1\r\n', 'RFC 9110 §5.1'],
  ['name-del', 'X\x7fA: 1\r\n', 'RFC 9110 §5.1'],
  ['name-vt', '\x0bX-A: 1\r\n', 'RFC 9110 §5.1'],
  ['request-line-as-field', 'GET /smuggled HTTP/1.1\r\n', 'RFC 9112 §5'],
] as const) {
  g.refuse(id, get('/echo', lines), 400, ref)
}
const head = 'GET /echo HTTP/1.1\r\nHost: a\r\n'
g.refuse('end-lf', `${head}\n`, 400, 'RFC 9112 §2.2')
g.refuse('end-all-lf', 'GET /echo HTTP/1.1\r\nHost: a\n\n', 400, 'hyper #4147 class')
g.refuse('end-cr-x', `${head}\rX`, 400, 'CVE-2025-23167')
g.refuse('end-cr-cr-lf', `${head}\r\r\n`, 400, 'RFC 9112 §2.2')
g.refuse('end-cr-only', `${head}\r`, 400, 'CVE-2025-23167')
g.refuse('first-line-space', `GET /echo HTTP/1.1\r\n X-A: 1\r\nHost: a\r\n\r\n`, 400, 'RFC 9112 §2.2')
g.refuse('first-line-tab', `GET /echo HTTP/1.1\r\n\tX-A: 1\r\nHost: a\r\n\r\n`, 400, 'RFC 9112 §2.2')
