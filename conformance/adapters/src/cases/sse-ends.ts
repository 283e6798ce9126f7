import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, EventStream } from 'volant'
import { has, keeping, open, sent } from '../event-stream.ts'
import { deferred, eventually, type Kit, request, unchanging, within, turns, untilAborted } from '../kit.ts'

/** These cases end a stream of events before its last one: clients leave, and sources fail. */
export function sseEnds(kit: Kit): void {
  describe('the end of server-sent events', () => {
    test('a client that leaves ends the generator, also one that waits for it to read', async () => {
      const app = kit.app()
      const ends = [deferred(), deferred()]
      let made = 0
      app.get('/quiet', (ctx) =>
        ctx.sse(async function* () {
          try {
            yield 1
            await untilAborted(ctx.signal)
          } finally {
            ends[0]?.resolve()
          }
        }),
      )
      app.get('/busy', (ctx) =>
        ctx.sse(function* () {
          try {
            for (; ; made++) yield 'p'.repeat(10_000)
          } finally {
            ends[1]?.resolve()
          }
        }),
      )
      await kit.serve(app, async (live) => {
        const reported = kit.reports.length
        const quiet = await open(live, '/quiet')
        await has(quiet, 'data: 1')
        quiet.reset()
        const busy = await live.connect()
        busy.socket.pause()
        busy.send(request('GET', '/busy'))
        await unchanging(() => made, 'the generator waits for its client')
        busy.reset()
        for (const { promise } of ends) await within(promise, 'the end of the generator')
        await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        assert.equal(kit.reports.length, reported)
      })
    })

    test('a client that closes is gone at once, also where nothing is sent to it', async () => {
      const app = kit.app()
      const streams = keeping(app, { heartbeat: 0 })
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        await has(wire, ':\n\n')
        wire.close()
        await eventually(() => streams[0]?.closed === true, 'the end of the stream')
      })
    })

    test('a client that only ends its sending side has its events', kit.needs('half-close'), async () => {
      const app = kit.app()
      const streams = keeping(app, { heartbeat: 0 })
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        // A TLSSocket that has ended reads no more, even if it holds bytes that it has not decrypted yet.
        await has(wire, ':\n\n')
        wire.socket.end()
        await has(wire, ':\n\n:\n\n')
        assert.equal(streams[0]?.send('still here'), true)
        await has(wire, 'data: still here')
      })
    })

    const failing: [name: string, handler: (ctx: Context) => void, message: RegExp][] = [
      [
        'a generator that throws',
        (ctx) =>
          ctx.sse(async function* () {
            yield 'first'
            throw new Error('boom')
          }),
        /boom/,
      ],
      [
        'a generator whose event cannot be sent',
        (ctx) =>
          ctx.sse(function* () {
            yield 'first'
            yield { data: 'x', id: 'a\0' }
          }),
        /the id of a server-sent event has a NUL/,
      ],
      [
        'a function whose promise rejects',
        (ctx) =>
          ctx.sse(async (stream) => {
            stream.send('first')
            await turns(1)
            throw new Error('boom')
          }),
        /boom/,
      ],
      [
        'a function that gives a value',
        (ctx) =>
          ctx.sse((async (stream: EventStream) => {
            stream.send('first')
            await turns(1)
            return 5
          }) as never),
        /the function of ctx.sse gives nothing, a generator, or a function .* not 5/,
      ],
    ]
    for (const [name, handler, message] of failing) {
      test(`${name}: the error is reported, and the connection reset`, async () => {
        const app = kit.app()
        app.get('/e', handler)
        await kit.serve(app, async (live) => {
          const reported = kit.reports.length
          const wire = (await live.connect()).send(request('GET', '/e'))
          await assert.rejects(wire.reply())
          await wire.closed
          assert.doesNotMatch(sent(wire), /event: error/)
          await eventually(() => kit.reports.length > reported, 'the report')
          assert.equal(kit.reports.length, reported + 1)
          assert.match(String(kit.reports.pop()), message)
        })
      })
    }

    for (const [way, end] of [
      ['throws', () => assert.fail('broken end')],
      ['rejects', () => Promise.reject(new Error('broken end'))],
    ] as const) {
      test(`an end that ${way} is reported, and the stream ends all the same`, async () => {
        const app = kit.app()
        app.get('/e', (ctx) =>
          ctx.sse((stream) => {
            stream.send('one')
            if (ctx.query['closes']) setImmediate(() => stream.close())
            return end
          }),
        )
        await kit.serve(app, async (live) => {
          const reported = kit.reports.length
          assert.match((await live.ask('/e?closes=1')).text, /data: one/)
          await eventually(() => kit.reports.length === reported + 1, 'the report')
          const wire = await open(live)
          wire.reset()
          await eventually(() => kit.reports.length === reported + 2, 'the report of one whose client left')
          for (const report of kit.reports.splice(reported)) assert.match(String(report), /broken end/)
        })
      })
    }

    test('what a function throws at once has a reply, and send throws to who calls it', async () => {
      const app = kit.app()
      app.get('/throws', (ctx) =>
        ctx.sse(() => {
          throw new Error('early')
        }),
      )
      app.get('/e', (ctx) =>
        ctx.sse((stream) => {
          assert.throws(() => stream.send({ data: 'x', event: 'a\rb' }), { code: 'E_BAD_EVENT' })
          stream.send('good')
          stream.close()
        }),
      )
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/throws')).status, 500)
        assert.match(String(kit.reports.pop()), /early/)
        assert.equal((await live.ask('/e')).text, ':\n\ndata: good\n\n')
      })
    })
  })
}
