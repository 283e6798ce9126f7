import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { encodeEvent, type EventStream } from 'volant'
import { fill, keeping, open } from '../event-stream.ts'
import { eventually, type Kit, request, unchanging, within, turns } from '../kit.ts'

/** Events wait for clients that read slowly, or not at all: they are bounded, and none of them is lost. */
export function sseSlowClients(kit: Kit): void {
  describe('server-sent events for clients that read slowly', () => {
    test('a generator waits for a slow reader, and all of its events arrive in order', async () => {
      const app = kit.app()
      let made = 0
      const total = 20_000
      const padding = 'p'.repeat(1_000)
      app.get('/e', (ctx) =>
        ctx.sse(function* () {
          while (made < total) yield { id: ++made, data: padding }
        }),
      )
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/e'))
        await unchanging(() => made, 'the generator waits for its client')
        assert.ok(made < 16_000, `${made} events were made for nobody`)
        const chunks: Buffer[] = []
        wire.socket.removeAllListeners('data')
        wire.socket.on('data', (bytes: Buffer) => chunks.push(bytes))
        wire.socket.resume()
        await eventually(
          () => made === total && chunks.at(-1)?.includes('\r\n0\r\n\r\n') === true,
          'the end of the stream',
        )
        const ids = Buffer.concat(chunks)
          .toString('latin1')
          .match(/(?<=id: )\d+/g) as string[]
        assert.deepEqual(
          ids.map(Number),
          Array.from({ length: total }, (_, at) => at + 1),
        )
      })
    })

    test('send gives false to a client that does not read, drained() waits for it, and nothing is lost', async () => {
      const app = kit.app()
      const streams = keeping(app, { maxBuffer: 2 ** 30 })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/e'))
        await eventually(() => streams.length === 1, 'the stream')
        const [stream] = streams as [EventStream]
        let count = await fill(stream)
        for (let more = 0; more < 10; more++) assert.equal(stream.send({ id: ++count, data: 'x' }), false)
        let drained = false
        const wait = stream.drained().then(() => {
          drained = true
        })
        await turns()
        assert.equal(drained, false)
        wire.socket.resume()
        await within(wait, 'drained')
        assert.equal(stream.send({ id: ++count, data: 'x' }), true)
        stream.close()
        const ids = (await wire.reply()).text.match(/(?<=id: )\d+/g) as string[]
        assert.deepEqual(
          ids.map(Number),
          Array.from({ length: count }, (_, at) => at + 1),
        )
      })
    })

    test('600,000 events that wait for a slow client are sent before anybody loses patience', async () => {
      const app = kit.app()
      const streams = keeping(app, { maxBuffer: 2 ** 30 })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/e'))
        await eventually(() => streams.length === 1, 'the stream')
        const [stream] = streams as [EventStream]
        await fill(stream)
        for (let count = 0; count < 600_000; count++) stream.send('')
        stream.send('the last')
        let end = ''
        wire.socket.removeAllListeners('data')
        wire.socket.on('data', (bytes: Buffer) => {
          end = `${end}${bytes.toString('latin1')}`.slice(-100)
        })
        wire.socket.resume()
        await eventually(() => end.includes('the last'), 'the last event')
      })
    })

    test('a client for which more than maxBuffer waits is reset, others are not, and nothing is reported', async () => {
      const app = kit.app()
      const streams = keeping(app, { maxBuffer: 100_000 })
      const infos: [boolean, unknown][] = []
      app.onResponse((_, { aborted, error }) => void infos.push([aborted, error]))
      await kit.serve(app, async (live) => {
        const slow = await live.connect()
        slow.socket.pause()
        slow.send(request('GET', '/e'))
        await eventually(() => streams.length === 1, 'the slow one')
        const quick = await open(live)
        const reported = kit.reports.length
        const padding = 'p'.repeat(10_000)
        for (let id = 1; streams[0]?.closed === false && id <= 10_000; id++) {
          const event = encodeEvent({ id, data: padding })
          for (const stream of streams) stream.send(event)
          // Only the slow one has something that waits.
          await quick.until(() => (quick.received.includes(`id: ${id}\n`) ? true : undefined), `event ${id}`)
          quick.received = Buffer.alloc(0)
        }
        assert.deepEqual(
          streams.map(({ closed }) => closed),
          [true, false],
        )
        streams[1]?.send('still here')
        await quick.until(() => (quick.received.includes('still here') ? true : undefined), 'the event')
        slow.socket.resume()
        await slow.closed
        assert.equal(slow.received.toString('latin1').endsWith('\r\n0\r\n\r\n'), false)
        await eventually(() => infos.length === 1, 'the end of the request')
        assert.equal(infos[0]?.[0], true)
        assert.match(String(infos[0]?.[1]), /more than maxBuffer \(100000 bytes\) waited/)
        assert.equal(kit.reports.length, reported)
      })
    })
  })
}
