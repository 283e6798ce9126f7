import { Group, get } from '../case.ts'

/** One canonical path (reliability S6): unreserved octets decoded, other escapes in upper case, anything doubtful refused. */
export const path = new Group('path', 'RFC 3986 §6.2.2')
const g = path

for (const [id, raw, canonical] of [
  ['plain', '/p/abc', '/p/abc'],
  ['unreserved-letter', '/p/a%62c', '/p/abc'],
  ['unreserved-upper', '/p/%41', '/p/A'],
  ['unreserved-digit', '/p/%30', '/p/0'],
  ['unreserved-tilde', '/p/%7e', '/p/~'],
  ['unreserved-marks', '/p/%2d%2E%5f', '/p/-._'],
  ['route-name-encoded', '/%65cho', '/echo'],
  ['slash-lower', '/p/a%2fb', '/p/a%2Fb'],
  ['slash-upper', '/p/a%2Fb', '/p/a%2Fb'],
  ['backslash-encoded', '/p/a%5cb', '/p/a%5Cb'],
  ['space-encoded', '/p/a%20b', '/p/a%20b'],
  ['percent-encoded', '/p/%25', '/p/%25'],
  ['double-encoded-dots', '/p/%252e%252e/x', '/p/%252e%252e/x'],
  ['double-encoded-slash', '/p/%252f', '/p/%252f'],
  ['crlf-encoded', '/p/%0d%0aX:1', '/p/%0D%0AX:1'],
  ['utf8-two', '/p/%c3%a9', '/p/%C3%A9'],
  ['utf8-three', '/p/%e2%82%ac', '/p/%E2%82%AC'],
  ['utf8-four', '/p/%f0%9f%98%80', '/p/%F0%9F%98%80'],
  ['three-dots', '/p/...', '/p/...'],
  ['dot-prefix', '/p/.a', '/p/.a'],
  ['dots-suffix', '/p/a..', '/p/a..'],
  ['dots-and-encoded', '/p/..%41', '/p/..A'],
  ['empty-segment', '/p//x', '/p//x'],
  ['trailing-slash', '/p/x/', '/p/x/'],
  ['semicolon', '/p/a;b=c', '/p/a;b=c'],
  ['semicolon-encoded', '/p/a%3bb', '/p/a%3Bb'],
  ['sub-delims', "/p/!$&'()*+,=", "/p/!$&'()*+,="],
  ['colon-at', '/p/a:b@c', '/p/a:b@c'],
  ['reserved-encoded', '/p/%3a%40%21', '/p/%3A%40%21'],
  ['pipe', '/p/a|b', '/p/a%7Cb'],
  ['caret', '/p/a^b', '/p/a%5Eb'],
  ['brackets', '/p/a[b]', '/p/a%5Bb%5D'],
  ['pipe-with-dots', '/p/.|/..|', '/p/.%7C/..%7C'],
  ['pipe-raw-and-encoded', '/p/|%7c', '/p/%7C%7C'],
  ['question-encoded', '/p/a%3fb', '/p/a%3Fb'],
  ['hash-encoded', '/p/a%23b', '/p/a%23b'],
] as const) {
  g.accept(id, get(raw), { path: canonical, query: '' })
}
g.exchange('case-sensitive', get('/ECHO'), [{ status: 404 }], 'open')
g.exchange('trailing-slash-is-another-path', get('/echo/'), [{ status: 404 }], 'open')
g.exchange('encoded-slash-does-not-split', get('/a%2fb'), [{ status: 404 }], 'open', {
  ref: 'CVE-2026-6414 class',
})
g.accept('two-segments', get('/a/b'), { path: '/a/b' })

for (const [id, raw, ref] of [
  ['dot-dot', '/p/..', 'CVE-2026-15074 class'],
  ['dot-dot-inside', '/p/../x', 'CVE-2026-15074 class'],
  ['dot-dot-first', '/../p/x', 'CVE-2026-15074 class'],
  ['dot-dot-only', '/..', 'CVE-2026-15074 class'],
  ['dot', '/p/.', 'RFC 3986 §5.2.4'],
  ['dot-inside', '/p/./x', 'RFC 3986 §5.2.4'],
  ['dot-only', '/.', 'RFC 3986 §5.2.4'],
  ['dot-dot-encoded', '/p/%2e%2e/x', 'GHSA-wr4h-v87w-p3r7'],
  ['dot-dot-encoded-upper', '/p/%2E%2E', 'GHSA-wr4h-v87w-p3r7'],
  ['dot-dot-half-encoded', '/p/.%2e/x', 'GHSA-wr4h-v87w-p3r7'],
  ['dot-dot-half-encoded-first', '/p/%2e./x', 'GHSA-wr4h-v87w-p3r7'],
  ['dot-encoded', '/p/%2e', 'GHSA-wr4h-v87w-p3r7'],
  ['nul-encoded', '/p/%00', 'CWE-158'],
  ['nul-encoded-inside', '/p/a%00b', 'CWE-158'],
  ['percent-alone', '/p/%', 'RFC 3986 §2.1'],
  ['percent-one-digit', '/p/%4', 'RFC 3986 §2.1'],
  ['percent-not-hex', '/p/%zz', 'RFC 3986 §2.1'],
  ['percent-second-not-hex', '/p/%4g', 'RFC 3986 §2.1'],
  ['percent-u', '/p/%u0041', 'RFC 3986 §2.1'],
  ['percent-then-slash', '/p/%2/x', 'RFC 3986 §2.1'],
  ['utf8-truncated', '/p/%c3', 'RFC 3629 §3'],
  ['utf8-truncated-then-letter', '/p/%c3a', 'RFC 3629 §3'],
  ['utf8-lone-continuation', '/p/%a9', 'RFC 3629 §3'],
  ['utf8-overlong-slash', '/p/%c0%af', 'RFC 3629 §10'],
  ['utf8-overlong-dots', '/p/%c0%ae%c0%ae/x', 'RFC 3629 §10'],
  ['utf8-overlong-three', '/p/%e0%80%af', 'RFC 3629 §10'],
  ['utf8-surrogate', '/p/%ed%a0%80', 'RFC 3629 §3'],
  ['utf8-past-end', '/p/%f4%90%80%80', 'RFC 3629 §3'],
  ['utf8-ff', '/p/%ff', 'RFC 3629 §3'],
  ['backslash', '/p/a\\b', 'RFC 3986 §2'],
  ['backslash-dots', '/p/..\\x', 'RFC 3986 §2'],
  ['raw-utf8', '/p/\xc3\xa9', 'RFC 3986 §2'],
  ['raw-ff', '/p/\xff', 'RFC 3986 §2'],
  ['raw-overlong', '/p/\xc0\xaf', 'RFC 3629 §10'],
  ['quote', '/p/"', 'RFC 3986 §2'],
  ['less-than', '/p/<', 'RFC 3986 §2'],
  ['greater-than', '/p/>', 'RFC 3986 §2'],
  ['backtick', '/p/`', 'RFC 3986 §2'],
  ['open-brace', '/p/{', 'RFC 3986 §2'],
  ['close-brace', '/p/}', 'RFC 3986 §2'],
  ['pipe-then-dot-dot', '/p/|/..', 'CVE-2026-15074 class'],
  ['pipe-then-broken-escape', '/p/|%', 'RFC 3986 §2.1'],
  ['hash', '/p/a#b', 'RFC 9112 §3.2'],
  ['control', '/p/\x01', 'RFC 3986 §2'],
  ['tab', '/p/a\tb', 'RFC 3986 §2'],
  ['delete-char', '/p/\x7f', 'RFC 3986 §2'],
] as const) {
  g.refuse(id, get(raw), 400, ref)
}
