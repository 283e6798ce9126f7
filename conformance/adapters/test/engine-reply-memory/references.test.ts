/** Bytes that the engine sends from where they are: what changes later does not change the reply. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually, Kit, request, within } from '../../src/kit.ts'
import { exchangeOf, skip } from '../engine/native.ts'
import { large } from './large.ts'

const kit = new Kit('native')

/** A body of 40,000 bytes and what its memory is; `later` is done to it once it was handed over. */
const memories: [string, () => Uint8Array, ((bytes: Uint8Array) => void) | null][] = [
  ['a Buffer', () => Buffer.alloc(40_000, 7), null],
  [
    'a part of a larger ArrayBuffer',
    () => new Uint8Array(new ArrayBuffer(90_000), 1_234, 40_000).fill(7),
    null,
  ],
  ['shared memory', () => new Uint8Array(new SharedArrayBuffer(40_000)).fill(7), null],
  ['resizable memory', () => new Uint8Array(resizable(40_000)).fill(7), null],
  [
    'transferred memory',
    () => new Uint8Array(40_000).fill(7),
    (bytes) => structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] }),
  ],
  ['memory shrunk', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 100)],
  ['memory shrunk to nothing', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 0)],
  ['memory grown', () => new Uint8Array(resizable(40_000)).fill(7), (bytes) => resize(bytes, 80_000)],
]

for (const [what, make, later] of memories) {
  test(`a reply by reference from ${what}${later ? ' after it was handed over' : ''}`, { skip }, async () => {
    const app = kit.app()
    app.get('/', (ctx) => {
      const bytes = make()
      ctx.bytes(bytes)
      later?.(bytes)
    })
    app.get('/next', () => 'next')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(
        Buffer.concat([
          request('GET', '/'),
          request('GET', '/next'),
          request('GET', '/'),
          request('GET', '/next'),
        ]),
      )
      for (let round = 0; round < 2; round++) {
        const { status, body } = await wire.reply()
        if (later === null) assert.ok(status === 200 && body.equals(Buffer.alloc(40_000, 7)))
        // The bytes are gone: that is an error, never a reply that looks right.
        else if (status === 200) assert.ok(body.equals(Buffer.alloc(40_000, 7)), `${body.length} bytes`)
        else assert.equal(status, 500)
        assert.equal((await wire.reply()).text, 'next')
      }
    })
  })
}

test('bytes of a streamed reply may be reused once they were written, or drained', { skip }, async () => {
  const app = kit.app()
  app.get('/', async (ctx) => {
    const exchange = exchangeOf(ctx)
    const bytes = new Uint8Array(20_000)
    exchange.start(200, 4, null, 5 * bytes.length)
    for (let round = 1; round <= 5; round++) {
      if (exchange.write(bytes.fill(round))) continue
      await new Promise<void>((resolve) => {
        exchange.onDrain = resolve
      })
    }
    bytes.fill(99)
    exchange.finish()
    return new Promise<void>(() => {})
  })
  await kit.serve(app, async (live) => {
    const { body } = await live.ask('/')
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((round) => body[round * 20_000 + 19_999]),
      [1, 2, 3, 4, 5],
    )
  })
})

for (const [what, change] of [
  [
    'transferred',
    (bytes: Uint8Array) => structuredClone(bytes.buffer, { transfer: [bytes.buffer as ArrayBuffer] }),
  ],
  ['shrunk', (bytes: Uint8Array) => resize(bytes, large - 1)],
  ['grown', (bytes: Uint8Array) => resize(bytes, large + 1)],
] as [string, (bytes: Uint8Array) => void][]) {
  test(`a reply whose memory is ${what} while it is sent is cut off`, { skip }, async () => {
    const app = kit.app()
    let sent: Uint8Array = new Uint8Array(0)
    app.get('/', (ctx) => {
      sent = new Uint8Array(what === 'transferred' ? new ArrayBuffer(large) : resizable(large, large + 1))
      ctx.bytes(sent)
    })
    app.get('/next', () => 'next')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.socket.pause()
      wire.send(request('GET', '/'))
      await eventually(() => sent.length > 0, 'the reply')
      await new Promise((resolve) => setImmediate(resolve))
      change(sent)
      wire.socket.resume()
      await within(wire.closed, 'the end of the connection')
      assert.ok(wire.received.length < large, `${wire.received.length} bytes`)
      assert.equal((await live.ask('/next')).text, 'next')
    })
  })
}

interface Resizable extends ArrayBuffer {
  resize(length: number): void
}

function resizable(length: number, maxByteLength = 100_000): Resizable {
  const Constructor = ArrayBuffer as unknown as new (
    length: number,
    options: { maxByteLength: number },
  ) => Resizable
  return new Constructor(length, { maxByteLength })
}

function resize(bytes: Uint8Array, length: number): void {
  ;(bytes.buffer as Resizable).resize(length)
}
