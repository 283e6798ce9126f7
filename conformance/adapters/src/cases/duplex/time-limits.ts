/** The time for a request whose handler writes its reply meanwhile. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import { Call, versionsOf } from '../../call.ts'
import { comes, reach } from '../../clock.ts'
import { eventually, type Kit, turns } from '../../kit.ts'

export function duplexTimeLimits(kit: Kit): void {
  for (const version of versionsOf(kit)) {
    describe(`streams both ways over HTTP/${version}`, () => {
      test('a route whose streams stay open has a time of its own for requests', async (t) => {
        const clock = kit.clock(t)
        const [shorter, usually] = clock.isHeld ? [5_000, 20_000] : [300, 1_500]
        const app = kit.app({ limits: { requestTimeout: usually } })
        const echo = async function* (ctx: Context): AsyncGenerator<string | Uint8Array> {
          yield 'begin;'
          yield* ctx.bodyStream
        }
        app.post('/usual', { bodyMode: 'stream' }, (ctx) => ctx.stream(echo(ctx)))
        app.post('/long', { bodyMode: 'stream', requestTimeout: 0 }, (ctx) => ctx.stream(echo(ctx)))
        app.post('/short', { bodyMode: 'stream', requestTimeout: shorter }, (ctx) => ctx.stream(echo(ctx)))
        app.post('/whole', { requestTimeout: shorter }, (ctx) => ctx.text(ctx.bodyText))
        await kit.serve(
          app,
          async (live) => {
            const long = Call.open(live.address, version, '/long')
            await long.has('begin;')
            const usual = Call.open(live.address, version, '/usual')
            await usual.has('begin;')
            const short = Call.open(live.address, version, '/short')
            await short.has('begin;')
            await turns()
            const ends: string[] = []
            const cutShort = assert.rejects(short.whole()).then(() => ends.push('short'))
            const cutUsual = assert.rejects(usual.whole()).then(() => ends.push('usual'))
            if (clock.isHeld) {
              await reach(clock, shorter, () => ends.length > 0)
              await cutShort
              await reach(clock, usually - shorter, () => ends.length > 1)
            } else {
              await Promise.all([
                comes(clock, shorter, () => ends.length > 0, 'the shorter end'),
                comes(clock, usually, () => ends.length > 1, 'the usual end'),
              ])
            }
            await Promise.all([cutShort, cutUsual])
            assert.deepEqual(ends, ['short', 'usual'])
            await eventually(() => app.stats().connections === 1, 'one is left')
            const whole = Call.open(live.address, version, '/whole')
            whole.write('x')
            let isAnswered = false
            const answer = whole.whole().finally(() => (isAnswered = true))
            await eventually(() => app.stats().connections === 2, 'the connection is accepted')
            await turns()
            await reach(clock, shorter, () => isAnswered)
            assert.equal((await answer).status, 408)
            long.write('x')
            await long.has('begin;x')
            assert.equal((await long.end().whole()).text, 'begin;x')
          },
          { http2: version === '2' },
        )
        assert.throws(() => kit.app().post('/', { requestTimeout: -1 }, () => null), { code: 'E_BAD_OPTION' })
      })
    })
  }
}
