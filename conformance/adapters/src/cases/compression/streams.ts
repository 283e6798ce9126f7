import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { type App, type Chunk } from 'volant'
import { type CompressOptions } from 'volant/compress'
import { deferred, eventually, type Kit, request, unchanging } from '../../kit.ts'
import { compressingOf, gzip, long } from './compressing.ts'
import type { Wire } from '../../wire.ts'

/** Compressed replies and requests over sockets. What is compressed, and how, is in packages/volant/test. */
export function compressedStreams(kit: Kit): void {
  describe('compress', () => {
    const compressing = compressingOf(kit)

    for (const coding of ['gzip', 'br']) {
      test(`a stream passes on what it gave when it pauses (${coding})`, async () => {
        const app = compressing()
        const gates = [deferred(), deferred()]
        app.get('/x', async function* (ctx) {
          ctx.header('content-type', 'text/plain')
          yield* ['a', 'b', '', 'c']
          await gates[0]?.promise
          yield 'd'
          await gates[1]?.promise
          yield 'e'
        })
        await kit.serve(app, async (live) => {
          const reply = await fetch(`${live.address.url}/x`, { headers: { 'accept-encoding': coding } })
          assert.equal(reply.headers.get('content-encoding'), coding)
          const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
          const read = async (): Promise<string | undefined> => (await reader.read()).value
          assert.equal(await read(), 'abc')
          gates[0]?.resolve()
          assert.equal(await read(), 'd')
          gates[1]?.resolve()
          assert.equal(await read(), 'e')
          assert.equal(await read(), undefined)
        })
      })
    }

    test('an event stream is not compressed, unless the filter takes it: then each event passes at once', async () => {
      const gates = [deferred(), deferred()]
      const build = (options: CompressOptions): App => {
        const app = compressing(options)
        app.get('/x', async function* (ctx) {
          ctx.header('content-type', 'text/event-stream')
          yield 'data: 1\n\n'
          await gates[0]?.promise
          yield* ['data: 2\n\n', 'data: 3\n\n']
          await gates[1]?.promise
        })
        return app
      }
      await kit.serve(build({}), async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/x', gzip))
        await wire.until(() => (wire.received.includes('data: 1\n\n') ? true : undefined), 'an event')
        assert.doesNotMatch(wire.received.toString(), /^(?:content-encoding|vary):/im)
        wire.reset()
      })
      await kit.serve(build({ filter: /^text\/event-stream$/ }), async (live) => {
        const reply = await fetch(`${live.address.url}/x`, { headers: { 'accept-encoding': 'br, gzip' } })
        assert.equal(reply.headers.get('content-encoding'), 'gzip')
        const reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
        let text = ''
        const until = async (end: string): Promise<void> => {
          while (!text.endsWith(end)) text += (await reader.read()).value ?? assert.fail(text)
        }
        await until('data: 1\n\n')
        gates[0]?.resolve()
        await until('data: 2\n\ndata: 3\n\n')
        gates[1]?.resolve()
        assert.equal((await reader.read()).done, true)
      })
    })

    test('a client that leaves ends the source and gives its compressor back', async () => {
      const app = compressing({ maxCompressing: 1 })
      let ended = 0
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        const { signal } = ctx
        try {
          yield 'x'
          await new Promise((resolve) => signal.addEventListener('abort', resolve))
        } finally {
          ended++
        }
      })
      await kit.serve(app, async (live) => {
        for (let round = 1; round <= 3; round++) {
          const first = await live.connect()
          first.send(request('GET', '/x', gzip))
          const has = (text: string) => () => (first.received.includes(text) ? true : undefined)
          await first.until(has('content-encoding: gzip'), 'the head')
          const second = await live.connect()
          second.send(request('GET', '/x', gzip))
          await second.until(() => (second.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          assert.equal(second.received.includes('content-encoding'), false)
          first.reset()
          second.reset()
          await eventually(() => ended === round * 2, 'the sources end')
        }
      })
    })

    test('a source that fails cuts the reply off, and is reported', async () => {
      const app = compressing()
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        yield 'x'
        throw new Error('the disk is gone')
      })
      app.get('/number', (ctx) => ctx.stream(['x', 1 as unknown as string], { type: 'text/plain' }))
      app.get('/short', (ctx) => ctx.stream([long], { type: 'text/plain', length: long.length + 1 }))
      app.get('/longer', (ctx) => ctx.stream([long, 'x'], { type: 'text/plain', length: long.length }))
      await kit.serve(app, async (live) => {
        for (const [path, message] of [
          ['/x', /^the disk is gone$/],
          ['/number', /a chunk of a compressed stream is a string or bytes, not 1/],
          ['/short', /was declared as 130001 bytes, and its source ended after 130000/],
          ['/longer', /was declared as 130000 bytes, and its source gave 130001/],
        ] as const) {
          await assert.rejects(
            fetch(live.address.url + path, { headers: gzip }).then((reply) => reply.text()),
          )
          await eventually(() => kit.reports.length > 0, 'the report')
          assert.match((kit.reports.pop() as Error).message, message)
        }
      })
    })

    test('readers that stop hold up their sources, and no more compressors than maxCompressing', async () => {
      const readers = 30
      const app = compressing({ maxCompressing: 5 })
      const chunk = randomBytes(49_152).toString('base64')
      let given = 0
      app.get('/x', async function* (ctx): AsyncGenerator<Chunk> {
        ctx.header('content-type', 'text/plain')
        for (let at = 0; at < 250; at++) {
          given++
          yield chunk
        }
      })
      await kit.serve(app, async (live) => {
        const wires: Wire[] = []
        while (wires.length < readers) {
          // uWebSockets.js closes a connection on which no request comes for 8 s, which the readers before it may take.
          const wire = await live.connect()
          wires.push(wire)
          wire.send(request('GET', '/x', gzip))
          await wire.until(() => (wire.received.includes('\r\n\r\n') ? true : undefined), 'the head')
          wire.socket.pause()
        }
        await unchanging(() => given, 'the sources wait')
        assert.ok(given < readers * 200, `${given} chunks were taken of ${readers} sources`)
        const compressed = wires.filter(({ received }) => received.includes('content-encoding: gzip'))
        assert.equal(compressed.length, 5)
        for (const wire of wires) if (wire !== compressed[0]) wire.reset()
        const [kept] = compressed
        kept?.socket.resume()
        const body = gunzipSync((await kept!.reply()).body)
        assert.ok(body.equals(Buffer.from(chunk.repeat(250))))
      })
    })
  })
}
