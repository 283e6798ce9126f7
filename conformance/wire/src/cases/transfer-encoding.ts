import { Group, chunked, get, helloChunks } from '../case.ts'

export const transferEncoding = new Group('transfer-encoding', 'RFC 9112 §6.1')
const g = transferEncoding.corpus()

g.exchange(
  'then-next',
  chunked(helloChunks) + get('/echo?n=2'),
  [
    { status: 200, saw: { body: 'hello' } },
    { status: 200, saw: { query: 'n=2' } },
  ],
  'open',
)
