import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { HTTPError, type ResponseInfo } from 'volant'
import { deferred, type Kit, readSlowly, request, within } from '../../kit.ts'

/** How long a client may take. */
export function timeLimits(kit: Kit): void {
  describe('limits', () => {
    test('an idle connection is closed after keepAliveTimeout', kit.needs('keepAliveTimeout'), async () => {
      const app = kit.app({ limits: { keepAliveTimeout: 150 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const start = Date.now()
        await wire.send(request('GET', '/x')).reply()
        await wire.ended()
        const took = Date.now() - start
        assert.ok(took >= 100 && took < 8_000, `${took} ms`)
      })
    })

    test('a head that does not arrive is 408 after headersTimeout', kit.needs('headersTimeout'), async () => {
      const app = kit.app({ limits: { headersTimeout: 250 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('GET /x HTTP/1.1\r\nHo')
        assert.equal((await wire.reply()).status, 408)
        await wire.ended()
      })
    })

    test('a body that does not arrive is 408 after requestTimeout', async () => {
      const app = kit.app({ limits: { requestTimeout: 300, headersTimeout: 300, drainTimeout: 300 } })
      app.post('/b', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        assert.equal((await wire.reply()).status, 408)
        await wire.ended()
      })
    })

    test('a body that is read as a stream and does not arrive is 408 after requestTimeout', async () => {
      const app = kit.app({ limits: { requestTimeout: 700, headersTimeout: 500 } })
      const reports = kit.reports.length
      const failed = deferred<unknown>()
      const stopped = deferred()
      const heard = deferred<ResponseInfo>()
      app.onResponse((_, info) => heard.resolve(info))
      app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.resolve())
        try {
          for await (const _ of ctx.bodyStream);
        } catch (error) {
          failed.resolve(error)
          throw error
        }
        return 'whole'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        const reply = await wire.reply()
        assert.deepEqual([reply.status, reply.headers['connection']], [408, 'close'])
        assert.equal((reply.json() as { code: string }).code, 'E_REQUEST_TIMEOUT')
        await wire.ended()
        const error = await within(failed.promise, 10_000, 'the failure of the body')
        assert.ok(error instanceof HTTPError)
        assert.deepEqual([error.status, error.code], [408, 'E_REQUEST_TIMEOUT'])
        await within(stopped.promise, 10_000, 'the abort of ctx.signal')
        const { status, aborted } = await within(heard.promise, 10_000, 'onResponse')
        assert.deepEqual([status, aborted], [408, true])
      })
      assert.deepEqual(kit.reports.slice(reports), [])
    })

    test('a body that does not arrive once its reply has begun ends that reply without its end', async () => {
      const app = kit.app({ limits: { requestTimeout: 700, headersTimeout: 500 } })
      const stopped = deferred()
      app.post('/s', { bodyMode: 'stream' }, (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.resolve())
        ctx.stream(ctx.bodyStream)
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        await within(wire.closed, 10_000, 'the end of the connection')
        assert.match(wire.received.toString('latin1'), /^HTTP\/1\.1 200 [^]*\r\nabc(\r\n)?$/)
        await within(stopped.promise, 10_000, 'the abort of ctx.signal')
      })
    })

    test('a client that does not read is reset after sendTimeout', async () => {
      const app = kit.app({ limits: { sendTimeout: 300 } })
      const left = deferred<number>()
      app.get('/big', (ctx) => {
        const start = Date.now()
        ctx.signal.addEventListener('abort', () => left.resolve(Date.now() - start))
        return (function* () {
          for (;;) yield Buffer.alloc(65_536)
        })()
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/big'))
        const took = await within(left.promise, 30_000, 'the reset')
        assert.ok(took >= 250, `${took} ms`)
      })
    })

    test('sendTimeout leaves a client alone that reads slowly but steadily', async () => {
      const long = Buffer.alloc(24_000_000)
      let isWhole = false
      // A client that stands still for once is late: then one that reads more slowly has a longer time.
      for (const sendTimeout of [1_000, 4_000, 16_000]) {
        const app = kit.app({ limits: { sendTimeout } })
        app.get('/long', () => long)
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/long'))
          isWhole = await readSlowly(wire.socket, long.length, sendTimeout / 100)
        })
        if (isWhole) break
      }
      assert.ok(isWhole, 'the whole reply')
    })

    test(
      'a connection past maxConnectionAge is closed with its next reply',
      kit.needs('maxConnectionAge'),
      async () => {
        // The server's clock may be up to a second behind, but shows no time before its start.
        const start = performance.now()
        const app = kit.app({ limits: { maxConnectionAge: 1_000 } })
        app.get('/x', () => 'ok')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const untilTheLast = async () => {
            while ((await wire.send(request('GET', '/x')).reply()).headers['connection'] !== 'close')
              await sleep(20)
          }
          await within(untilTheLast(), 30_000, 'the last reply')
          const took = performance.now() - start
          assert.ok(took >= 990, `${took} ms`)
          await wire.ended()
        })
      },
    )
  })
}
