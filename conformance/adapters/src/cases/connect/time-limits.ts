import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromConnect } from 'volant/connect'
import { reach } from '../../clock.ts'
import { eventually, type Kit } from '../../kit.ts'
import { serving } from './serving.ts'

export function connectTimeLimits(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('a store that never answers leaves the reply to the time limit of the route', async (t) => {
      const clock = kit.clock(t)
      const handlerTimeout = clock.isHeld ? 3_600_000 : 300
      let begun = 0
      const never = fromConnect((_, res, next) => {
        begun++
        res.end = (() => res) as never
        next()
      })
      await serve(
        (app) => {
          app.get('/', { handlerTimeout }, never, () => 'never')
          app.get(
            '/no-next',
            { handlerTimeout },
            fromConnect(() => void begun++),
            () => 'never',
          )
        },
        async (live) => {
          for (const [at, path] of ['/', '/no-next'].entries()) {
            const asked = live.ask(path)
            await eventually(() => begun === at + 1, 'the middleware began')
            await reach(clock, handlerTimeout, () => live.app.stats().inFlight === 0)
            assert.equal((await asked).status, 503)
          }
        },
      )
    })
  })
}
