import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request } from '../../kit.ts'

/** How the chunks of a stream leave. */
export function streamedChunks(kit: Kit): void {
  describe('streamed replies', () => {
    test('the head and each chunk leave at once', kit.needs('streamed-head'), async () => {
      const app = kit.app()
      const gates = [deferred(), deferred()]
      app.get('/s', (ctx) => {
        const source = async function* () {
          await gates[0]?.promise
          yield 'one'
          await gates[1]?.promise
          yield 'two'
        }
        ctx.stream(source())
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/s'))
        const has = (text: string) => () => (wire.received.includes(text) ? true : undefined)
        await wire.until(has('\r\n\r\n'), 'the head')
        assert.equal(wire.received.includes('one'), false)
        gates[0]?.resolve()
        await wire.until(has('one'), 'the first chunk')
        gates[1]?.resolve()
        assert.equal((await wire.reply()).text, 'onetwo')
        assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
      })
    })

    test('with a length it is not chunked, and the connection stays', async () => {
      const app = kit.app()
      app.get('/s', (ctx) => ctx.stream(['abc', 'de'], { length: 5, type: 'text/plain' }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let round = 0; round < 2; round++) {
          const reply = await wire.send(request('GET', '/s')).reply()
          assert.equal(reply.headers['content-length'], '5')
          assert.equal(reply.headers['transfer-encoding'], undefined)
          assert.equal(reply.text, 'abcde')
        }
      })
    })

    test('HEAD and 304 cancel the source unread', async () => {
      const app = kit.app()
      let cancelled = 0
      let read = 0
      const source = () =>
        new ReadableStream<Uint8Array>(
          {
            pull(controller) {
              read++
              controller.enqueue(Buffer.from('x'))
            },
            cancel() {
              cancelled++
            },
          },
          { highWaterMark: 0 },
        )
      app.get('/s', source)
      app.get('/304', (ctx) => ctx.stream(source(), { status: 304 }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send(request('HEAD', '/s')).reply('HEAD')).status, 200)
        assert.equal((await wire.send(request('GET', '/304')).reply()).status, 304)
        assert.equal((await wire.send(request('GET', '/none')).reply()).status, 404)
        await eventually(() => cancelled === 2, 'both cancelled')
        assert.equal(read, 0)
      })
    })

    test('a buffer may be reused once it was yielded', async () => {
      const app = kit.app()
      app.get('/s', function* () {
        const buffer = Buffer.alloc(50_000)
        for (let at = 0; at < 40; at++) {
          buffer.fill(65 + (at % 26))
          yield buffer
        }
      })
      await kit.serve(app, async (live) => {
        const { body } = await live.ask('/s')
        assert.equal(body.length, 2_000_000)
        for (let at = 0; at < 40; at++) assert.equal(body[at * 50_000], 65 + (at % 26))
      })
    })

    test('a large chunk arrives whole, though nothing follows it', async () => {
      const app = kit.app()
      const gate = deferred()
      app.get('/s', async function* () {
        yield Buffer.alloc(20_000_000)
        await gate.promise
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        let received = 0
        wire.socket.removeAllListeners('data')
        wire.socket.on('data', (bytes: Buffer) => {
          received += bytes.length
        })
        wire.send(request('GET', '/s'))
        await eventually(() => received > 20_000_000, 'all bytes')
        gate.resolve()
      })
    })

    test('HTTP/1.0 has the stream until the close', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/s', function* () {
        yield 'a'
        yield 'b'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('GET /s HTTP/1.0\r\n\r\n')
        const reply = await wire.reply()
        assert.equal(reply.text, 'ab')
        assert.equal(reply.headers['transfer-encoding'], undefined)
      })
    })
  })
}
