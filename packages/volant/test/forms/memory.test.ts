/** The memory of the chunks of an upload, which is used again. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { BodySink } from '@volant/engine'
import { StreamSource } from '../../src/forms/body-source.ts'
import type { RequestContext } from '../../src/types/request.ts'

function source(): { source: StreamSource; sink: BodySink } {
  let sink: BodySink | undefined
  const exchange = { readBody: (given: BodySink) => void (sink = given), credit() {} }
  const made = new StreamSource({ exchange } as unknown as RequestContext)
  return { source: made, sink: sink as BodySink }
}

async function arrive(to: ReturnType<typeof source>, length: number): Promise<Buffer> {
  to.sink.chunk(Buffer.alloc(length), true)
  return (await to.source.next()) as Buffer
}

test('a large chunk that was released is used again', async () => {
  const upload = source()
  const first = await arrive(upload, 65_536)
  upload.source.release(first)
  const second = await arrive(upload, 20_000)
  assert.equal(second.buffer, first.buffer)
  assert.equal(second.length, 20_000)
})

test('memory of Node.js that a small chunk lies in is not taken, though it is as large', async (t) => {
  const { poolSize } = Buffer
  t.after(() => (Buffer.poolSize = poolSize))
  Buffer.poolSize = 65_536
  // A new pool begins when the present one is full. Some versions of Node.js make it a little larger than asked for.
  let begins: Buffer
  do begins = Buffer.from('x'.repeat(1000))
  while (begins.byteOffset !== 0 || begins.buffer.byteLength < 65_536)
  Buffer.poolSize -= begins.buffer.byteLength - 65_536
  const upload = source()
  let small: Buffer
  do small = await arrive(upload, 1000)
  while (small.byteOffset !== 0 || small.buffer === begins.buffer)
  assert.equal(small.buffer.byteLength, 65_536)
  upload.source.release(small)
  const large = await arrive(upload, 65_536)
  assert.notEqual(large.buffer, small.buffer, 'other Buffers of the process are in it')
})
