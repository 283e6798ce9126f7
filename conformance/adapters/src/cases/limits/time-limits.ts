import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError, type ResponseInfo } from 'volant'
import { deferred, type Kit, readInSteps, readSlowly, request, unchanging, within } from '../../kit.ts'
import { comes } from '../../clock.ts'
import { passes } from '../../time-limit.ts'

/** How long a client may take. */
export function timeLimits(kit: Kit): void {
  describe('limits', () => {
    test('an idle connection is closed after keepAliveTimeout', kit.needs('keepAliveTimeout'), async (t) => {
      const clock = kit.clock(t)
      const keepAliveTimeout = clock.isHeld ? 10_000 : 300
      const app = kit.app({ limits: { keepAliveTimeout } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        // Each request begins its time again.
        for (let requests = 0; requests < 3; requests++) {
          assert.equal((await wire.send(request('GET', '/x')).reply()).text, 'ok')
          if (clock.isHeld) await clock.advance(keepAliveTimeout - 1)
        }
        assert.equal((await wire.send(request('GET', '/x')).reply()).text, 'ok')
        await passes(clock, keepAliveTimeout, () => wire.isEnded, 'the end of the connection')
        await wire.ended()
      })
    })

    test(
      'a head that does not arrive is 408 after headersTimeout',
      kit.needs('headersTimeout'),
      async (t) => {
        const clock = kit.clock(t)
        const headersTimeout = clock.isHeld ? 10_000 : 250
        const app = kit.app({ limits: { headersTimeout } })
        app.get('/x', () => 'ok')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('GET /x HTTP/1.1\r\nHo')
          await passes(clock, headersTimeout, () => wire.received.length > 0, 'the reply')
          assert.equal((await wire.reply()).status, 408)
          await wire.ended()
        })
      },
    )

    test('a body that does not arrive is 408 after requestTimeout', async (t) => {
      const clock = kit.clock(t)
      const [requestTimeout, drainTimeout] = clock.isHeld ? [60_000, 2_000] : [300, 300]
      const headersTimeout = clock.isHeld ? 10_000 : 300
      const app = kit.app({ limits: { requestTimeout, headersTimeout, drainTimeout } })
      app.post('/b', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        await passes(clock, requestTimeout, () => wire.received.length > 0, 'the reply')
        assert.equal((await wire.reply()).status, 408)
        if (clock.isHeld) await clock.advance(drainTimeout)
        await wire.ended()
      })
    })

    test('a body that is read as a stream and does not arrive is 408 after requestTimeout', async (t) => {
      const clock = kit.clock(t)
      const requestTimeout = clock.isHeld ? 60_000 : 400
      const app = kit.app({ limits: { requestTimeout, headersTimeout: requestTimeout / 2 } })
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
        await passes(clock, requestTimeout, () => wire.received.length > 0, 'the reply')
        const reply = await wire.reply()
        assert.deepEqual([reply.status, reply.headers['connection']], [408, 'close'])
        assert.equal((reply.json() as { code: string }).code, 'E_REQUEST_TIMEOUT')
        if (clock.isHeld) await clock.advance(2_000)
        await wire.ended()
        const error = await within(failed.promise, 'the failure of the body')
        assert.ok(error instanceof HTTPError)
        assert.deepEqual([error.status, error.code], [408, 'E_REQUEST_TIMEOUT'])
        await within(stopped.promise, 'the abort of ctx.signal')
        const { status, aborted } = await within(heard.promise, 'onResponse')
        assert.deepEqual([status, aborted], [408, true])
      })
      assert.deepEqual(kit.reports.slice(reports), [])
    })

    test('a body that does not arrive once its reply has begun ends that reply without its end', async (t) => {
      const clock = kit.clock(t)
      const requestTimeout = clock.isHeld ? 60_000 : 400
      const app = kit.app({ limits: { requestTimeout, headersTimeout: requestTimeout / 2 } })
      const stopped = deferred()
      app.post('/s', { bodyMode: 'stream' }, (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.resolve())
        ctx.stream(ctx.bodyStream)
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        await wire.until(() => wire.received.includes('\r\nabc') || undefined, 'the begun reply')
        await passes(clock, requestTimeout, () => wire.isEnded, 'the end of the connection')
        assert.match(wire.received.toString('latin1'), /^HTTP\/1\.1 200 [^]*\r\nabc(\r\n)?$/)
        await within(stopped.promise, 'the abort of ctx.signal')
      })
    })

    test('a client that does not read is reset after sendTimeout', async (t) => {
      const clock = kit.clock(t)
      const sendTimeout = clock.isHeld ? 30_000 : 300
      const app = kit.app({ limits: { sendTimeout } })
      let sent = 0
      let isLeft = false
      app.get('/big', (ctx) => {
        ctx.signal.addEventListener('abort', () => (isLeft = true))
        return (function* () {
          for (; ; sent++) yield Buffer.alloc(65_536)
        })()
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/big'))
        await unchanging(() => sent, 'the reply waits for its client')
        await passes(clock, sendTimeout, () => isLeft, 'the reset')
      })
    })

    test('sendTimeout leaves a client alone that reads slowly but steadily', async (t) => {
      const clock = kit.clock(t)
      const long = Buffer.alloc(24_000_000)
      let isWhole = false
      // Where time goes on, a client that stands still for once is late: then one that reads more slowly has a longer time.
      for (const sendTimeout of clock.isHeld ? [30_000] : [400, 4_000, 16_000]) {
        const app = kit.app({ limits: { sendTimeout } })
        app.get('/long', () => long)
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/long'))
          // Either way the whole takes several times as long as sendTimeout.
          isWhole = clock.isHeld
            ? await readInSteps(wire.socket, long.length, () => clock.advance(sendTimeout - 1))
            : await readSlowly(wire.socket, long.length, sendTimeout / 100, clock)
        })
        if (isWhole) break
      }
      assert.ok(isWhole, 'the whole reply')
    })

    test(
      'a connection past maxConnectionAge is closed with its next reply',
      kit.needs('maxConnectionAge'),
      async (t) => {
        const clock = kit.clock(t)
        const maxConnectionAge = clock.isHeld ? 3_600_000 : 1_000
        const limits = { maxConnectionAge, keepAliveTimeout: 86_400_000 }
        const app = kit.app({ limits })
        app.get('/x', () => 'ok')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const isLast = async () =>
            (await wire.send(request('GET', '/x')).reply()).headers['connection'] === 'close'
          assert.equal(await isLast(), false)
          if (clock.isHeld) {
            await clock.advance(maxConnectionAge - 1)
            assert.equal(await isLast(), false)
            await clock.advance(1)
            assert.equal(await isLast(), false)
            await clock.advance(1)
            assert.equal(await isLast(), true)
          } else {
            await comes(clock, maxConnectionAge, isLast, 'the last reply')
          }
          await wire.ended()
        })
      },
    )
  })
}
