import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { fromConnect } from 'volant/connect'
import { type Kit } from '../../kit.ts'
import { serving } from './serving.ts'

export function connectTimeLimits(kit: Kit): void {
  describe('connect middleware', () => {
    const serve = serving(kit)

    test('a store that never answers leaves the reply to the time limit of the route', async () => {
      const never = fromConnect((_, res, next) => {
        res.end = (() => res) as never
        next()
      })
      await serve(
        (app) => {
          app.get('/', { handlerTimeout: 50 }, never, () => 'never')
          app.get(
            '/no-next',
            { handlerTimeout: 50 },
            fromConnect(() => {}),
            () => 'never',
          )
        },
        async (live) => {
          for (const path of ['/', '/no-next']) assert.equal((await live.ask(path)).status, 503)
        },
      )
    })
  })
}
