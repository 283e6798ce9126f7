/** More replies than the memory of replies holds at once. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import type { Context } from 'volant'
import { deferred, eventually, Kit, type Live, request, within } from '../../src/kit.ts'
import { exchangeOf, skip } from '../engine/native.ts'
import { large } from './large.ts'

const kit = new Kit('native')

for (const [what, size] of [
  ['3,200 small replies: more records than fit', () => 8],
  ['3,200 replies of 1 to 3 KB: more bytes than fit', (id: number) => 1_000 + ((id * 7) % 2_000)],
  ['3,200 replies, each twentieth by reference', (id: number) => (id % 20 === 0 ? 20_000 + id : 600)],
] as [string, (id: number) => number][]) {
  test(`${what}, in one callback`, { skip }, async () => {
    const app = kit.app()
    const contexts: Context<{ params: { id: string } }>[] = []
    app.get('/:id', (ctx) => {
      contexts.push(ctx)
      return new Promise<void>(() => {})
    })
    const content = (id: number) => Buffer.alloc(size(id), `${id} `)
    await kit.serve(app, async (live) => {
      const wires = await held(live, contexts, 200)
      // Against the order of arrival, too: replies of one connection are still sent in the order of its requests.
      contexts.sort((a, b) => ((Number(a.params.id) * 7919) % 3_203) - ((Number(b.params.id) * 7919) % 3_203))
      for (const ctx of contexts) {
        const body = content(Number(ctx.params.id))
        if (Number(ctx.params.id) % 2 === 0) ctx.bytes(body)
        else ctx.header('x-id', ctx.params.id).text(body.toString())
      }
      for (const [index, wire] of wires.entries()) {
        for (let at = 0; at < 16; at++) {
          const { body } = await wire.reply()
          assert.equal(digest(body), digest(content(index * 16 + at)))
        }
      }
      assert.equal(app.stats().inFlight, 0)
    })
  })
}

test('one streamed reply of 6,000 parts and 9 MB, written in one callback', { skip }, async () => {
  const app = kit.app()
  const part = (index: number) => Buffer.alloc(index % 3_000, String(index))
  app.get('/', (ctx) => {
    const exchange = exchangeOf(ctx)
    exchange.start(200, 4, null, -1)
    for (let index = 1; index <= 6_000; index++) {
      if (index % 2 === 0) exchange.write(part(index))
      else exchange.write(part(index).toString())
    }
    exchange.finish()
    return new Promise<void>(() => {})
  })
  await kit.serve(app, async (live) => {
    const { body } = await live.ask('/')
    const whole = Buffer.concat(Array.from({ length: 6_000 }, (_, index) => part(index + 1)))
    assert.equal(digest(body), digest(whole))
  })
})

test('replies past maxBufferedReplies are cut off, and counted', { skip }, async () => {
  const app = kit.app({ limits: { maxBufferedReplies: 1.5 * large } })
  const endings: [string, boolean][] = []
  const stopped = deferred()
  app.onResponse((ctx, { aborted }) => void endings.push([ctx.path, aborted]))
  app.get('/whole', () => Buffer.alloc(large))
  app.get('/stream', (ctx) => {
    ctx.signal.addEventListener('abort', () => stopped.resolve())
    return (function* () {
      for (;;) yield Buffer.alloc(large)
    })()
  })
  await kit.serve(app, async (live) => {
    // It has its place; what comes later does not fit beside it.
    const first = await live.connect()
    first.socket.pause()
    first.send(request('GET', '/whole'))
    await eventually(() => endings.length === 1, 'the first reply')
    for (const [index, path] of ['/whole', '/stream'].entries()) {
      const wire = await live.connect()
      wire.socket.pause()
      wire.send(request('GET', path))
      await eventually(() => app.stats().dropped === index + 1, 'the reset')
      wire.socket.resume()
      await within(wire.closed, 'the end of the connection')
      assert.ok(wire.received.length < large)
    }
    await within(stopped.promise, 'the abort of ctx.signal')
    await eventually(() => endings.length === 3, 'all endings')
    // The reply was given whole before the engine found that it does not fit.
    assert.deepEqual(endings, [
      ['/whole', false],
      ['/whole', false],
      ['/stream', true],
    ])
  })
})

/** Requests that are all open at once, to be answered from one callback: the engine reads nothing in between. */
async function held(
  live: Live,
  contexts: unknown[],
  connections: number,
): Promise<Awaited<ReturnType<Live['connect']>>[]> {
  const wires = await Promise.all(Array.from({ length: connections }, () => live.connect()))
  for (const [index, wire] of wires.entries()) {
    wire.send(Buffer.concat(Array.from({ length: 16 }, (_, at) => request('GET', `/${index * 16 + at}`))))
  }
  await eventually(() => contexts.length === connections * 16, 'every request dispatched')
  return wires
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}
