import assert from 'node:assert/strict'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { HTTPError, type ResponseInfo, type RouteOptions } from 'volant'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { deferred, eventually, type Kit, request } from '../kit.ts'

/** L5: the client leaves at every point. */
export function aborts(kit: Kit): void {
  describe('aborts', () => {
    for (const how of ['reset', 'close'] as const) {
      test(`${how} while the handler waits: the signal fires once, the late reply is dropped`, async () => {
        const app = kit.app()
        const started = deferred()
        const replied = deferred<unknown>()
        let fired = 0
        app.get('/w', async (ctx) => {
          ctx.signal.addEventListener('abort', () => fired++)
          started.resolve()
          await eventually(() => fired > 0, 'the signal')
          try {
            ctx.json({ late: true })
            replied.resolve(undefined)
          } catch (error) {
            replied.resolve(error)
          }
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/w'))
          await started.promise
          wire[how]()
          assert.equal(await replied.promise, undefined)
          await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
          assert.equal(fired, 1)
        })
      })
    }

    test('a refusal after the client left is not reported, and an unexpected error is', async () => {
      const reports: string[] = []
      const app = kit.app({ report: (error) => void reports.push((error as Error).message) })
      let begun = 0
      app.use(async (ctx, next) => {
        begun++
        if (!ctx.signal.aborted) await once(ctx.signal, 'abort')
        await next()
      })
      app.get('/refused', () => {
        throw new HTTPError(401)
      })
      app.get('/broken', () => {
        throw new Error('broken')
      })
      await kit.serve(app, async (live) => {
        for (const [at, path] of ['/refused', '/nowhere', '/broken'].entries()) {
          const wire = await live.connect()
          wire.send(request('GET', path))
          await eventually(() => begun === at + 1, 'the request')
          wire.reset()
          await eventually(() => app.stats().inFlight === 0, 'its end')
        }
        await eventually(() => reports.includes('broken'), 'the report')
        assert.deepEqual(reports, ['broken'])
      })
    })

    test('the signal is aborted already when first read after the client left', async () => {
      const app = kit.app()
      const started = deferred()
      const aborted = deferred<boolean>()
      app.get('/w', async (ctx) => {
        started.resolve()
        await eventually(() => app.stats().connections === 0, 'the client has left')
        aborted.resolve(ctx.signal.aborted)
        return 'late'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/w'))
        await started.promise
        wire.reset()
        assert.equal(await aborted.promise, true)
      })
    })

    test('the signal does not fire after a complete reply', async () => {
      const app = kit.app()
      let signal: AbortSignal | undefined
      app.get('/x', (ctx) => {
        signal = ctx.signal
        return 'ok'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        await wire.send(request('GET', '/x')).reply()
        wire.reset()
        await eventually(() => app.stats().connections === 0, 'no connection')
        assert.equal(signal?.aborted, false)
      })
    })

    const bytes = request('POST', '/up', { 'content-type': 'text/plain' }, 'hello, this is the body')
    for (const mode of ['buffer', 'stream'] as const) {
      test(`leaving after every byte of an upload (${mode})`, async () => {
        const app = kit.app()
        const settled: (() => string)[] = []
        app.post('/up', { bodyMode: mode }, async (ctx) => {
          let fired = 0
          ctx.signal.addEventListener('abort', () => fired++)
          try {
            const text = mode === 'buffer' ? ctx.bodyText : await new Response(ctx.bodyStream).text()
            settled.push(() => text)
            return text
          } catch (error) {
            settled.push(() => `failed ${fired}`)
            throw error
          }
        })
        await kit.serve(app, async (live) => {
          for (let cut = 1; cut <= bytes.length; cut++) {
            const wire = await live.connect()
            wire.send(bytes.subarray(0, cut))
            // So that the server has read some of it, which nothing shows.
            if (cut % 3 === 0) await sleep(1)
            if (cut % 2 === 0) wire.reset()
            else wire.close()
          }
          await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
          for (const end of settled) {
            const one = end()
            assert.ok(one === 'hello, this is the body' || one === 'failed 1', one)
          }
          assert.equal((await live.ask('/up', { method: 'POST', body: 'x' })).text, 'x')
        })
      })
    }

    test('leaving after every kilobyte of a large reply', async () => {
      const app = kit.app()
      const big = 'x'.repeat(200_000)
      app.get('/big', () => big)
      app.get('/stream', function* () {
        for (let at = 0; at < 200; at++) yield 'y'.repeat(1_000)
      })
      await kit.serve(app, async (live) => {
        for (let cut = 0; cut < 60; cut++) {
          const wire = await live.connect()
          wire.send(request('GET', cut % 2 === 0 ? '/big' : '/stream'))
          await wire.until(() => (wire.received.length >= cut * 1_000 ? true : undefined), 'bytes')
          wire.reset()
        }
        await eventually(() => app.stats().inFlight === 0 && app.stats().connections === 0, 'nothing left')
        assert.equal((await live.ask('/big')).body.length, 200_000)
      })
    })

    const unfinished = [
      ['while its body is read', 'half', 'reading'],
      ['before its body is read', 'half', 'handler'],
      ['before the first byte of its body', '', 'handler'],
      ['before the first byte of its body, while that is checked', '', 'check'],
    ] as const
    for (const [when, body, stage] of unfinished) {
      for (const how of ['close', 'end', 'reset'] as const) {
        test(`${how} ${when}: nothing is left, and nobody is blamed`, async () => {
          const app = kit.app()
          const before = kit.reports.length
          const told = deferred<ResponseInfo>()
          app.onResponse((_, info) => told.resolve(info))
          const reached = deferred()
          // The client leaves meanwhile; not every adapter notices before the body is read.
          const leaving = (): Promise<void> => {
            reached.resolve()
            return sleep(50)
          }
          const options: RouteOptions = stage === 'check' ? { beforeBody: leaving } : { bodyMode: 'stream' }
          app.post('/up', options, async (ctx) => {
            if (stage === 'handler') await leaving()
            if (stage === 'check') return 'done'
            for await (const chunk of ctx.bodyStream) {
              assert.ok(chunk.length)
              reached.resolve()
            }
            return 'done'
          })
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            wire.send(request('POST', '/up', { 'content-length': '1000' }, body))
            await reached.promise
            if (how === 'end') wire.socket.end()
            else wire[how]()
            const { status, aborted } = await told.promise
            assert.deepEqual([status, aborted], [499, true])
            await eventually(
              () => app.stats().inFlight === 0 && app.stats().connections === 0,
              'nothing left',
            )
            assert.equal(kit.reports.length, before)
          })
        })
      }
    }

    test('an upload stream fails with E_ABORTED when the client leaves, and nothing is reported', async () => {
      const app = kit.app()
      const failure = deferred<{ code?: string }>()
      const begun = deferred()
      const before = kit.reports.length
      app.post('/up', { bodyMode: 'stream' }, async (ctx) => {
        try {
          for await (const chunk of ctx.bodyStream) {
            assert.ok(chunk.length > 0)
            begun.resolve()
          }
        } catch (error) {
          failure.resolve(error as { code?: string })
          throw error
        }
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nabc')
        await begun.promise
        wire.reset()
        assert.equal((await failure.promise).code, 'E_ABORTED')
        await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
        assert.equal(kit.reports.length, before)
      })
    })

    test('a half-closed client is served, and its handler is told', kit.needs('half-close'), async () => {
      const app = kit.app()
      let fired = 0
      app.get('/now', () => 'now')
      app.get('/later', async (ctx) => {
        ctx.signal.addEventListener('abort', () => fired++)
        await eventually(() => fired > 0, 'the handler is told')
        return 'later'
      })
      app.get('/stream', async function* () {
        for (let at = 0; at < 5; at++) {
          yield String(at)
          // The client's end comes in between.
          await sleep(5)
        }
      })
      app.post('/body', (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        for (const [bytes, text] of [
          [request('GET', '/now'), 'now'],
          [request('GET', '/later'), 'later'],
          [request('GET', '/stream'), '01234'],
          [request('POST', '/body', {}, 'abc'), 'abc'],
        ] as const) {
          const wire = await live.connect()
          wire.socket.end(bytes)
          assert.equal((await wire.reply()).text, text)
          await wire.ended()
        }
        assert.equal(fired, 1)
      })
    })

    test(
      'work that stops for a half-closed client is no news, its faults are',
      kit.needs('half-close'),
      async () => {
        const app = kit.app()
        // Work that its signal stops.
        const told = (signal: AbortSignal) => sleep(10_000, undefined, { signal })
        app.get('/work', (ctx) => told(ctx.signal))
        app.register(trpc(router({ work: procedure().query(({ ctx }) => told(ctx.signal)) })))
        app.get('/stream', async function* (ctx) {
          yield 'first'
          await told(ctx.signal)
        })
        app.get('/fault', async (ctx) => {
          await told(ctx.signal).catch(() => undefined)
          throw new Error('broken')
        })
        await kit.serve(app, async (live) => {
          const before = kit.reports.length
          for (const [path, reports] of [
            ['/work', 0],
            ['/trpc/work', 0],
            ['/trpc/work?batch=1&input=%7B%7D', 0],
            ['/stream', 0],
            ['/fault', 1],
          ] as const) {
            const wire = await live.connect()
            wire.socket.end(request('GET', path))
            await wire.until(() => wire.isEnded || undefined, `the end of ${path}`)
            await eventually(() => app.stats().inFlight === 0, `nothing is left of ${path}`)
            assert.equal(kit.reports.length, before + reports, path)
          }
        })
      },
    )
  })
}
