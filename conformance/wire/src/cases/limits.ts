import { Group, chunked, get, post } from '../case.ts'

/** One below, at, and one above each default limit. */
export const limits = new Group('limits', 'RFC 9110 §15.5')
const g = limits
const line = (name: string, octets: number) => `${name}: ${'v'.repeat(octets - name.length - 2)}`

/** A target of exactly `octets`. */
const target = (octets: number) => `/echo?${'q'.repeat(octets - 6)}`
for (const octets of [8191, 8192]) {
  g.accept(`url-${octets}`, get(target(octets)), { path: '/echo' }, 'maxUrlLength')
}
for (const octets of [8193, 9000, 16384]) {
  g.refuse(`url-${octets}`, get(target(octets)), 414, 'RFC 9110 §15.5.15, maxUrlLength')
}
g.refuse('url-without-end', `GET /${'a'.repeat(20000)}`, 414, 'RFC 9110 §15.5.15, maxUrlLength')

/** A field line of exactly `octets` without its CRLF. */
for (const octets of [8191, 8192]) {
  g.accept(`line-${octets}`, get('/echo', `${line('X-A', octets)}\r\n`), { path: '/echo' }, 'maxHeaderLine')
}
for (const octets of [8193, 10000]) {
  g.refuse(`line-${octets}`, get('/echo', `${line('X-A', octets)}\r\n`), 431, 'RFC 6585 §5, maxHeaderLine')
}
g.refuse('line-name-too-long', get('/echo', `${'n'.repeat(8200)}: v\r\n`), 431, 'RFC 6585 §5, maxHeaderLine')

/** A head of exactly `octets` with its last CRLF. */
function head(octets: number): string {
  const rest = octets - get('/echo').length
  const lines = Math.ceil(rest / 4096)
  const each = Math.floor(rest / lines)
  const fields = Array.from(
    { length: lines },
    (_, i) => `${line(`X-${i}`, (i === 0 ? rest - each * (lines - 1) : each) - 2)}\r\n`,
  )
  return get('/echo', fields.join(''))
}
for (const octets of [16383, 16384]) {
  g.accept(`head-${octets}`, head(octets), { path: '/echo' }, 'maxHeaderSize')
}
for (const octets of [16385, 20000, 65536]) {
  g.refuse(`head-${octets}`, head(octets), 431, 'RFC 6585 §5, maxHeaderSize')
}
g.refuse(
  'head-without-end',
  `GET /echo HTTP/1.1\r\nHost: a\r\n${'X: y\r\n'.repeat(90)}${line('X-Long', 8000)}\r\n${line('X-Long', 8100)}\r\n${line('X-Long', 8100)}\r\n`,
  431,
  'RFC 6585 §5, maxHeaderSize',
)

/** `count` fields, Host among them. */
const fields = (count: number) =>
  get('/echo', Array.from({ length: count - 1 }, (_, i) => `X-${i}: y\r\n`).join(''))
for (const count of [99, 100]) {
  g.accept(
    `fields-${count}`,
    fields(count),
    { headers: { 'x-97': 'y', [`x-${count - 2}`]: 'y' } },
    'maxHeaders',
  )
}
for (const count of [101, 200, 1000]) {
  g.refuse(`fields-${count}`, fields(count), 431, 'RFC 6585 §5, maxHeaders')
}

for (const octets of [255, 256]) {
  g.exchange(
    `param-${octets}`,
    get(`/param/${'p'.repeat(octets)}`),
    [{ status: 200, body: 'p'.repeat(octets) }],
    'open',
    { ref: 'maxParamLength' },
  )
}
g.exchange('param-257', get(`/param/${'p'.repeat(257)}`), [{ status: 414 }], 'either', {
  ref: 'maxParamLength',
})

for (const octets of [63, 64]) {
  g.accept(
    `body-${octets}`,
    post(`Content-Length: ${octets}\r\n`, 'b'.repeat(octets), '/small'),
    { length: octets },
    'maxBodySize of the route',
  )
  g.accept(
    `body-chunked-${octets}`,
    chunked(
      `20\r\n${'b'.repeat(32)}\r\n${(octets - 32).toString(16)}\r\n${'b'.repeat(octets - 32)}\r\n0\r\n\r\n`,
      '/small',
    ),
    { length: octets },
    'maxBodySize of the route',
  )
}
g.refuse('body-65', post('Content-Length: 65\r\n', 'b'.repeat(65), '/small'), 413, 'RFC 9110 §15.5.14')
g.refuse('body-65-before-it-is-sent', post('Content-Length: 65\r\n', '', '/small'), 413, 'RFC 9110 §15.5.14')
g.refuse('body-two-to-53-less-1', post('Content-Length: 9007199254740991\r\n'), 413, 'RFC 9110 §15.5.14')
g.refuse('body-two-to-53', post('Content-Length: 9007199254740992\r\n'), 400, 'RFC 9110 §8.6')
g.refuse('body-two-to-63', post('Content-Length: 9223372036854775808\r\n'), 400, 'RFC 9110 §8.6')
g.refuse(
  'body-chunked-65',
  chunked(`20\r\n${'b'.repeat(32)}\r\n21\r\n${'b'.repeat(33)}\r\n0\r\n\r\n`, '/small'),
  413,
  'RFC 9110 §15.5.14',
)
g.refuse('body-chunk-says-too-much', chunked('41\r\nb', '/small'), 413, 'RFC 9110 §15.5.14')
g.accept(
  'body-1048576',
  post('Content-Length: 1048576\r\n', 'b'.repeat(1048576)),
  { length: 1048576 },
  'maxBodySize',
)
g.refuse('body-1048577', post('Content-Length: 1048577\r\n'), 413, 'RFC 9110 §15.5.14')

/** A chunk whose extensions take exactly `octets` between the size and CRLF. */
const extension = (octets: number, size = 1) => `${size};${'e'.repeat(octets - 1)}\r\n${'d'.repeat(size)}\r\n`
for (const octets of [1023, 1024]) {
  g.accept(
    `extension-${octets}`,
    chunked(`${extension(octets)}0\r\n\r\n`),
    { length: 1 },
    'maxChunkExtensions',
  )
}
for (const octets of [1025, 4096]) {
  g.refuse(
    `extension-${octets}`,
    chunked(`${extension(octets)}0\r\n\r\n`),
    400,
    'CVE-2024-22019, maxChunkExtensions',
  )
}
g.refuse(
  'extension-on-last-1025',
  chunked(`1\r\nd\r\n0;${'e'.repeat(1024)}\r\n\r\n`),
  400,
  'CVE-2024-22019, maxChunkExtensions',
)
g.refuse(
  'extension-without-end',
  chunked(`1;${'e'.repeat(20000)}`),
  400,
  'CVE-2024-22019, maxChunkExtensions',
)
g.accept(
  'extensions-in-all-16384',
  chunked(`${extension(1024).repeat(16)}0\r\n\r\n`),
  { length: 16 },
  'maxChunkExtensions',
)
g.refuse(
  'extensions-in-all-16386',
  chunked(`${extension(1024).repeat(16)}1;e\r\nd\r\n0\r\n\r\n`),
  400,
  'CVE-2024-22019, maxChunkExtensions',
)

/** Trailer section of `count` fields. */
const trailers = (count: number) =>
  chunked(`1\r\nd\r\n0\r\n${Array.from({ length: count }, (_, i) => `X-${i}: y\r\n`).join('')}\r\n`)
for (const count of [31, 32]) {
  g.accept(`trailers-${count}`, trailers(count), { length: 1 }, 'RFC 9112 §7.1.2')
}
for (const count of [33, 1000]) {
  g.refuse(`trailers-${count}`, trailers(count), 431, 'RFC 9112 §7.1.2')
}
g.refuse(
  'trailers-9000-octets',
  chunked(`1\r\nd\r\n0\r\n${`X: ${'t'.repeat(4500)}\r\n`.repeat(2)}\r\n`),
  431,
  'RFC 6585 §5',
)
g.refuse('trailers-without-end', chunked(`1\r\nd\r\n0\r\nX: ${'t'.repeat(20000)}`), 431, 'RFC 6585 §5')

const query = (count: number) => get(`/query?${Array.from({ length: count }, (_, i) => `k${i}=`).join('&')}`)
for (const count of [999, 1000]) {
  g.exchange(`query-keys-${count}`, query(count), [{ status: 200, body: String(count) }], 'open', {
    ref: 'maxQueryKeys',
  })
}
g.exchange('query-keys-1001', query(1001), [{ status: 400 }], 'open', { ref: 'maxQueryKeys' })
