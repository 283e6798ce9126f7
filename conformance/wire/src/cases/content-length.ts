import { Group, get, post } from '../case.ts'

export const contentLength = new Group('content-length', 'RFC 9112 §6.3')
const g = contentLength.corpus()
const truncated = [{ status: 400, optional: true }] as const

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
