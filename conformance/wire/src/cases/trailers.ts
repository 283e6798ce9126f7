import { Group, chunked, get } from '../case.ts'

/** Trailer fields are parsed with the rules of header fields, bounded, and discarded. */
export const trailers = new Group('trailers', 'RFC 9112 §7.1.2')
const g = trailers.corpus()
const withTrailers = (lines: string) => chunked(`5\r\nhello\r\n0\r\n${lines}\r\n`)

g.exchange(
  'then-next',
  withTrailers('X-T: 1\r\n') + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)
