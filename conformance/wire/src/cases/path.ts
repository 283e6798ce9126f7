import { Group, get } from '../case.ts'

/** One canonical path (reliability S6): unreserved octets decoded, other escapes in upper case, anything doubtful refused. */
export const path = new Group('path', 'RFC 3986 §6.2.2')
const g = path.corpus()

g.exchange('case-sensitive', get('/ECHO'), [{ status: 404 }], 'open')
g.exchange('trailing-slash-is-another-path', get('/echo/'), [{ status: 404 }], 'open')
g.exchange('encoded-slash-does-not-split', get('/a%2fb'), [{ status: 404 }], 'open', {
  ref: 'CVE-2026-6414 class',
})
