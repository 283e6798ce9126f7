import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Folder, hello, written, modified } from './folder.ts'

export function rangesOfFiles({ large, serve }: Folder): void {
  const etag = `W/"c-${written.getTime().toString(36)}"`

  const before1 = 'Thu, 29 Feb 2024 12:34:55 GMT'

  const ranges: [range: string, expected: [first: number, last: number] | 416 | 200, ifRange?: string][] = [
    ['bytes=0-0', [0, 0]],
    ['bytes=0-', [0, 11]],
    ['bytes=7-10', [7, 10]],
    ['bytes=7-99', [7, 11]],
    ['BYTES=7-10', [7, 10]],
    ['bytes=-4', [8, 11]],
    ['bytes=-99', [0, 11]],
    [`bytes=3-${'9'.repeat(400)}`, [3, 11]],
    ['bytes=11-', [11, 11]],
    ['bytes=12-', 416],
    ['bytes=12-20', 416],
    ['bytes=-0', 416],
    [`bytes=${'9'.repeat(400)}-`, 416],
    ['bytes=5-3', 200],
    ['bytes=-', 200],
    ['bytes=', 200],
    ['bytes=a-b', 200],
    ['bytes=0x1-5', 200],
    ['bytes=1.5-3', 200],
    ['bytes=--3', 200],
    ['bytes=0-1,3-4', [0, 4]],
    ['bytes=3-4,0-2', [0, 4]],
    ['bytes=0-1, ,9-99', [0, 11]],
    ['bytes=0-1,99-', [0, 1]],
    ['bytes=0-4,4-5', 200],
    ['bytes=0-1,a', 200],
    ['bytes=,,', 200],
    ['bytes=99-,100-', 416],
    [`bytes=${'0-,'.repeat(2_000)}0-`, 200],
    ['lines=0-1', 200],
    ['0-1', 200],
    ['bytes=0-1', [0, 1], modified],
    ['bytes=0-1', 200, before1],
    ['bytes=0-1', 200, 'Fri, 01 Mar 2024 00:00:00 GMT'],
    ['bytes=0-1', 200, etag],
    ['bytes=0-1', 200, '"x"'],
    ['bytes=0-1', 200, 'garbage'],
    ['bytes=99-', 200, '"x"'],
  ]

  test(`${ranges.length} ranges`, async () => {
    await serve(async (live) => {
      for (const [range, expected, ifRange] of ranges) {
        const reply = await live.ask('/one', {
          headers: { range, ...(ifRange === undefined ? {} : { 'if-range': ifRange }) },
        })
        const what = `${range.slice(0, 40)} ${ifRange ?? ''}`
        assert.equal(reply.status, typeof expected === 'number' ? expected : 206, what)
        if (expected === 416) {
          assert.equal(reply.headers['content-range'], 'bytes */12', what)
          assert.equal((reply.json() as { code: string }).code, 'E_RANGE')
          assert.equal(reply.headers['etag'], undefined)
        } else if (expected === 200) {
          assert.equal(reply.text, hello, what)
          assert.equal(reply.headers['content-range'], undefined, what)
        } else {
          const [first, last] = expected
          assert.equal(reply.text, hello.slice(first, last + 1), what)
          assert.equal(reply.headers['content-range'], `bytes ${first}-${last}/12`, what)
          assert.equal(reply.headers['content-length'], String(last - first + 1), what)
        }
      }
      const part = await live.ask('/f/large.bin', { headers: { range: 'bytes=100000-2900000' } })
      assert.equal(part.status, 206)
      assert.ok(part.body.equals(large.subarray(100_000, 2_900_001)))
      const nothing = await live.ask('/f/empty.css', { headers: { range: 'bytes=-5' } })
      assert.equal(nothing.status, 200)
      assert.equal((await live.ask('/f/empty.css', { headers: { range: 'bytes=0-' } })).status, 416)
    })
  })
}
