import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { eventually, type Kit, request, turns, untilAborted } from '../../kit.ts'

/** L5: the client leaves at every point. */
export function abortsOfHalfClosedClients(kit: Kit): void {
  describe('aborts', () => {
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
          await turns()
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
        app.get('/work', (ctx) => untilAborted(ctx.signal))
        app.register(trpc(router({ work: procedure().query(({ ctx }) => untilAborted(ctx.signal)) })))
        app.get('/stream', async function* (ctx) {
          yield 'first'
          await untilAborted(ctx.signal)
        })
        app.get('/fault', async (ctx) => {
          await untilAborted(ctx.signal).catch(() => undefined)
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
