import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request, unchanging, within, turns } from '../../kit.ts'

/** Streams wait for clients that read slowly, and end with those that leave. */
export function slowClients(kit: Kit): void {
  describe('streamed replies', () => {
    for (const kind of ['a generator', 'a web stream', 'a Node.js stream'] as const) {
      test(`${kind} waits for a slow reader, and 30 MB arrive whole`, async () => {
        const app = kit.app()
        let produced = 0
        const total = 30_000_000
        const block = () => {
          produced += 100_000
          return Buffer.alloc(100_000, 'z')
        }
        app.get('/s', () => {
          if (kind === 'a generator') {
            return (function* () {
              while (produced < total) yield block()
            })()
          }
          if (kind === 'a web stream') {
            return new ReadableStream<Uint8Array>({
              pull(controller) {
                if (produced < total) controller.enqueue(block())
                else controller.close()
              },
            })
          }
          return new Readable({
            read() {
              this.push(produced < total ? block() : null)
            },
          })
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.socket.pause()
          wire.send(request('GET', '/s'))
          await unchanging(() => produced, 'the source waits for its client')
          assert.ok(produced < 16_000_000, `${produced} bytes were produced for nobody`)
          let received = 0
          wire.socket.removeAllListeners('data')
          wire.socket.on('data', (bytes: Buffer) => {
            received += bytes.length
          })
          wire.socket.resume()
          await eventually(() => received > total, 'all bytes')
        })
      })
    }

    for (const kind of ['a generator', 'a web stream', 'a Node.js stream'] as const) {
      test(`${kind} is cancelled when the client leaves`, async () => {
        const app = kit.app()
        const cancelled = deferred()
        app.get('/s', () => {
          if (kind === 'a generator') {
            return (async function* () {
              try {
                for (;;) {
                  yield 'x'
                  await turns(1)
                }
              } finally {
                cancelled.resolve()
              }
            })()
          }
          if (kind === 'a web stream') {
            return new ReadableStream<Uint8Array>({
              start: (controller) => controller.enqueue(Buffer.from('x')),
              pull: () => new Promise(() => {}),
              cancel: () => cancelled.resolve(),
            })
          }
          const stream = new Readable({ read() {} })
          stream.push('x')
          stream.on('close', () => cancelled.resolve())
          return stream
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/s'))
          await wire.until(() => (wire.received.includes('\r\n1\r\nx') ? true : undefined), 'a chunk')
          wire.reset()
          await within(cancelled.promise, 'the cancel')
          await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        })
      })
    }

    test('a client that leaves while the server waits for it to read', async () => {
      const app = kit.app()
      const cancelled = deferred()
      let made = 0
      app.get('/s', function* () {
        try {
          for (; ; made++) yield Buffer.alloc(65_536)
        } finally {
          cancelled.resolve()
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/s'))
        await unchanging(() => made, 'the generator waits for its client')
        wire.reset()
        await within(cancelled.promise, 'the cancel')
        await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
      })
    })
  })
}
