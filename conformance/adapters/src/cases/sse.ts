/** `ctx.sse` over sockets. The text of an event has its table in packages/volant/test/events.test.ts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeEvent, type EventStream } from 'volant'
import { compress } from 'volant/compress'
import { has, keeping, open, sent } from '../event-stream.ts'
import { deferred, eventually, type Kit, request, within, turns } from '../kit.ts'
import type { Wire } from '../wire.ts'
import { frameworkClock, passes } from '../time-limit.ts'

/** A client of a stream of events gets a head at once, each event as it is sent, and nothing else. */
export function sse(kit: Kit): void {
  describe('server-sent events', () => {
    test('the head leaves before the first event, and each event at once', async () => {
      const app = kit.app()
      const gates = [deferred(), deferred()]
      app.get('/e', (ctx) =>
        ctx.sse(async function* () {
          await gates[0]?.promise
          yield { event: 'tick', id: 1, data: { a: 'x\ny' } }
          await gates[1]?.promise
          yield 'two\r\nlines'
        }),
      )
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        const head = wire.received.toString('latin1').toLowerCase()
        for (const line of [
          'content-type: text/event-stream',
          'cache-control: no-cache, no-transform',
          'x-accel-buffering: no',
        ]) {
          assert.ok(head.includes(`\r\n${line}\r\n`), line)
        }
        assert.ok(!head.includes('content-length'))
        assert.equal(sent(wire).includes('data'), false)
        gates[0]?.resolve()
        await has(wire, 'id: 1\nevent: tick\ndata: {"a":"x\\ny"}\n\n')
        gates[1]?.resolve()
        const reply = await wire.reply()
        assert.equal(reply.text, ':\n\nid: 1\nevent: tick\ndata: {"a":"x\\ny"}\n\ndata: two\ndata: lines\n\n')
        assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
      })
    })

    test('a function sends by itself, its end is called once, and what comes late is not sent', async () => {
      const app = kit.app()
      const streams: EventStream[] = []
      let ended = 0
      app.get('/e', (ctx) =>
        ctx.sse((stream) => {
          streams.push(stream)
          stream.send('before the head')
          return () => void ended++
        }),
      )
      app.get('/async', (ctx) =>
        ctx.sse(async (stream) => {
          await turns(1)
          stream.send('later')
          stream.close()
          return () => void ended++
        }),
      )
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        await has(wire, 'data: before the head\n\n')
        const [stream] = streams as [EventStream]
        assert.equal(stream.send({ data: 1 }), true)
        assert.equal(stream.send(encodeEvent({ data: 2 })), true)
        await has(wire, 'data: 1\n\ndata: 2\n\n')
        assert.deepEqual([stream.closed, ended], [false, 0])
        stream.close()
        stream.close()
        assert.deepEqual([stream.closed, ended, stream.send('late')], [true, 1, false])
        await within(stream.drained(), 'drained')
        assert.doesNotMatch((await wire.reply()).text, /late/)
        await open(live)
        const gone = await open(live)
        await eventually(() => streams.length === 3, 'three streams')
        gone.reset()
        await eventually(() => streams[2]?.closed === true && ended === 2, 'the end of the one that left')
        assert.equal(streams[1]?.closed, false)
        assert.equal((await live.ask('/async')).text, ':\n\ndata: later\n\n')
        await eventually(() => ended === 3, 'an end that is given late')
      })
    })

    test('ctx.lastEventId is the header in UTF-8', async () => {
      const app = kit.app()
      app.get('/e', (ctx) => ({ id: ctx.lastEventId ?? null }))
      await kit.serve(app, async (live) => {
        const idFor = async (value?: string) => {
          const headers = value === undefined ? {} : { 'last-event-id': value }
          return ((await live.ask('/e', { headers })).json() as { id: unknown }).id
        }
        assert.equal(await idFor(), null)
        assert.equal(await idFor(''), null)
        assert.equal(await idFor('a 1'), 'a 1')
        assert.equal(await idFor(Buffer.from('kä€se').toString('latin1')), 'kä€se')
      })
    })

    test('HEAD has the head and calls nothing; 204 ends a client that connects again', async () => {
      const app = kit.app()
      let called = 0
      app.get('/e', (ctx) => ctx.sse(() => void called++))
      app.get('/g', (ctx) => {
        const source = (function* () {
          called++
          yield 1
        })()
        ctx.sse(source)
      })
      app.get('/over', (ctx) =>
        ctx.lastEventId === '9' ? ctx.reply(204) : ctx.sse([{ id: 9, data: 'last' }]),
      )
      await kit.serve(app, async (live) => {
        for (const path of ['/e', '/g']) {
          const head = await live.ask(path, { method: 'HEAD' })
          assert.deepEqual([head.status, head.headers['content-type']], [200, 'text/event-stream'])
        }
        assert.equal(called, 0)
        assert.equal((await live.ask('/over')).text, ':\n\nid: 9\ndata: last\n\n')
        assert.equal((await live.ask('/over', { headers: { 'last-event-id': '9' } })).status, 204)
      })
    })

    test('1,000 streams have each event, and no other', async () => {
      const app = kit.app()
      const streams = new Set<EventStream>()
      const keep = (stream: EventStream) => {
        streams.add(stream)
        return () => void streams.delete(stream)
      }
      app.get('/e', (ctx) => ctx.sse(keep, { heartbeat: 0 }))
      await kit.serve(app, async (live) => {
        const wires: Wire[] = []
        while (wires.length < 1_000) {
          wires.push(...(await Promise.all(Array.from({ length: 50 }, () => open(live)))))
        }
        await eventually(() => streams.size === 1_000, 'all streams')
        for (let round = 1; round <= 5; round++) {
          for (const stream of streams) assert.equal(stream.send({ id: round, data: { round } }), true)
          await turns(1)
        }
        for (const stream of streams) stream.close()
        assert.equal(streams.size, 0)
        const expected = `:\n\n${[1, 2, 3, 4, 5].map((id) => `id: ${id}\ndata: {"round":${id}}\n\n`).join('')}`
        for (const wire of wires) assert.equal((await wire.reply()).text, expected)
      })
    })

    test('compress() leaves events alone unless both sides of it say otherwise; then each arrives at once', async () => {
      const app = kit.app()
      const streams: EventStream[] = []
      const keep = (stream: EventStream) => void streams.push(stream)
      app.use(compress({ threshold: 1, filter: () => true }))
      app.get('/plain', (ctx) => ctx.sse(keep))
      app.get('/packed', (ctx) => ctx.header('cache-control', 'no-cache').sse(keep))
      await kit.serve(app, async (live) => {
        const headers = { 'accept-encoding': 'gzip' }
        const plain = await open(live, '/plain', headers)
        assert.doesNotMatch(plain.received.toString('latin1'), /content-encoding/i)
        streams[0]?.send('as it is')
        await has(plain, 'data: as it is\n\n')
        const { body, headers: got } = await fetch(`${live.address.url}/packed`, { headers })
        assert.equal(got.get('content-encoding'), 'gzip')
        const reader = (body as ReadableStream<Uint8Array>).getReader()
        const decoder = new TextDecoder()
        let text = ''
        for (const data of ['one', 'two', 'three']) {
          await eventually(() => streams.length === 2, 'the stream')
          streams[1]?.send(data)
          while (!text.includes(`data: ${data}\n\n`)) {
            text += decoder.decode((await reader.read()).value, { stream: true })
          }
        }
        streams[1]?.close()
        assert.equal((await reader.read()).done, true)
        assert.equal(text, ':\n\ndata: one\n\ndata: two\n\ndata: three\n\n')
      })
    })

    test('onSend hooks see the head, and may read the events', async () => {
      const app = kit.app()
      app.get('/e', (ctx) => ctx.sse(['a', 'b']))
      app.get('/upper', (ctx) => ctx.sse(['a', 'b']))
      app.onSend(async (ctx, reply) => {
        reply.headers.set('x-seen', reply.headers.get('content-type') ?? '')
        const { body } = reply
        if (ctx.path !== '/upper' || typeof body !== 'object' || body === null) return
        reply.body = (async function* () {
          for await (const chunk of body as AsyncIterable<string>) yield String(chunk).toUpperCase()
        })()
      })
      await kit.serve(app, async (live) => {
        const plain = await live.ask('/e')
        assert.deepEqual(
          [plain.text, plain.headers['x-seen']],
          [':\n\ndata: a\n\ndata: b\n\n', 'text/event-stream'],
        )
        assert.equal((await live.ask('/upper')).text, ':\n\nDATA: A\n\nDATA: B\n\n')
      })
    })

    test('a quiet stream has its heartbeats', async (t) => {
      const clock = frameworkClock(t)
      const heartbeat = 15_000
      const app = kit.app()
      keeping(app, { heartbeat })
      await kit.serve(app, async (live) => {
        const wire = await open(live)
        for (let beats = 1; beats <= 3; beats++) {
          const expected = ':\n\n'.repeat(beats + 1)
          await passes(clock, heartbeat, () => sent(wire).includes(expected), `heartbeat ${beats}`)
        }
      })
    })
  })
}
