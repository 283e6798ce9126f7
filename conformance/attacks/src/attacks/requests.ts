/** Single requests of at most 10 KiB, each sent 100 times: none may cost 1 MiB of memory, or 10 ms of CPU time. */
import { type Attack, byMany } from '../attack.ts'
import { flag, frame, headers, settings, type } from '@volant/test-kit/http2-frames'
import { cookieName, head, huffman, indexed, inserted, literal, newest } from '../hpack.ts'

const most = 10_240
const times = { full: 100, quick: 50 } as const

export const requests: readonly Attack[] = [
  single('one-field', 'a field of 8 KB', (encrypted) => [
    headers(1, head({ encrypted, more: [literal('x', 'a'.repeat(8_000))] })),
  ]),
  single('references', '9,000 references to one field of 1,000 bytes', (encrypted) => [
    headers(
      1,
      head({ encrypted, more: [inserted('x', 'a'.repeat(1_000)), Buffer.alloc(9_000, indexed(newest))] }),
    ),
  ]),
  single('crumbs', '9,000 crumbs of a cookie', (encrypted) => [
    headers(1, head({ encrypted, more: [inserted(cookieName, 'a'), Buffer.alloc(9_000, indexed(newest))] })),
  ]),
  single('huffman', '9 KB of the shortest Huffman codes', (encrypted) => [
    // The Huffman code of `0` is 00000.
    headers(1, head({ encrypted, more: [huffman('x', Buffer.alloc(9_000))] })),
  ]),
  single('fields', '1,500 fields of 6 bytes', (encrypted) => [
    headers(
      1,
      head({
        encrypted,
        more: Array.from({ length: 1_500 }, (_, at) => literal((at % 1_000).toString(36), '')),
      }),
    ),
  ]),
  single('table-updates', '9,000 changes of the size of the table', (encrypted) => [
    headers(1, Buffer.concat([Buffer.alloc(9_000, 0x20), head({ encrypted })])),
  ]),
  single('path', 'a path of 9 KB of escapes', (encrypted) => [
    headers(1, head({ encrypted, path: `/${'%41'.repeat(3_000)}` })),
  ]),
  single('slashes', 'a path of 7,000 slashes', (encrypted) => [
    headers(1, head({ encrypted, path: '/'.repeat(7_000) })),
  ]),
  single('query', '4,000 keys of a query', (encrypted) => [
    headers(1, head({ encrypted, path: `/?${'a&'.repeat(4_000)}` })),
  ]),
  single('announced', 'a body of 1 MB that is announced and does not come', (encrypted) => [
    headers(1, head({ method: 'POST', encrypted, more: [literal('content-length', '1000000')] }), true),
  ]),
  single('json-depth', 'JSON of 9,000 levels', (encrypted) =>
    withBody(encrypted, 'application/json', '['.repeat(9_000)),
  ),
  single('json-keys', 'JSON of 1,300 keys', (encrypted) =>
    withBody(
      encrypted,
      'application/json',
      JSON.stringify(Object.fromEntries(Array.from({ length: 1_300 }, (_, at) => [at.toString(36), 0]))),
    ),
  ),
  single('form-keys', 'a form of 4,500 keys', (encrypted) =>
    withBody(encrypted, 'application/x-www-form-urlencoded', 'a&'.repeat(4_500)),
  ),
  single('multipart', 'a form of 140 empty parts', (encrypted) => {
    const part = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'
    return withBody(encrypted, 'multipart/form-data; boundary=b', `${part.repeat(140)}--b--\r\n`)
  }),
  single('settings', '1,700 settings, the largest of all windows and tables', (encrypted) => [
    settings(Array.from({ length: 1_700 }, (_, at) => [at % 2 ? 1 : 4, 0x7fff_ffff] as const)),
    headers(1, head({ encrypted })),
  ]),
]

function withBody(encrypted: boolean, contentType: string, body: string): Buffer[] {
  return [
    headers(1, head({ method: 'POST', encrypted, more: [literal('content-type', contentType)] }), true),
    frame(type.data, flag.endStream, 1, Buffer.from(body)),
  ]
}

/**
 * Sends each request on a connection of its own, which stays open for half a second, so that the memory it uses is
 * measured.
 */
function single(name: string, what: string, make: (encrypted: boolean) => Buffer[]): Attack {
  return {
    name: `request:${name}`,
    about: `A request of at most 10 KiB: ${what}.`,
    goal: { calls: null, memory: 'request', ends: null },
    times,
    async run(target, count) {
      const bytes = Buffer.concat(make(target.encrypted))
      if (bytes.length > most) throw new RangeError(`${name} has ${bytes.length} bytes`)
      const outcome = await byMany(
        target,
        count,
        async (connection) => {
          await connection.send(bytes)
          return 1
        },
        { hold: 500 },
      )
      return { ...outcome, requests: outcome.count }
    },
  }
}
