import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, VolantError } from 'volant'
import { procedure } from 'volant/procedures'
import { rateLimit, type RateLimitOptions } from 'volant/rate-limit'
import { kit, limited } from './kit.ts'

describe('the options of rateLimit', () => {
  const rows: [unknown, RegExp][] = [
    [undefined, /rateLimit takes an object of options/],
    [{}, /rateLimit: max takes an integer from 1/],
    [{ max: 0 }, /max takes an integer from 1 to/],
    [{ max: '5' }, /max takes an integer from 1 to/],
    [{ max: Infinity }, /max takes/],
    [{ max: 2_000, timeWindow: 1 }, /max takes at most 1000 for a timeWindow of 1 ms/],
    [{ max: 1, timeWindow: 0 }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: 1.5 }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: 'soon' }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: '2 moons' }, /timeWindow takes milliseconds/],
    [{ max: 1, timeWindow: '40 days' }, /timeWindow takes milliseconds/],
    [{ max: 1, algorithm: 'leaky' }, /algorithm takes gcra, fixed, sliding/],
    [{ max: 1, algorithm: 'fixed', burst: 2 }, /burst is for the algorithm 'gcra'/],
    [{ max: 1, burst: 0 }, /burst takes an integer/],
    [{ max: 1, keyGenerator: 'ip' }, /keyGenerator takes a function/],
    [{ max: 1, cost: 0 }, /cost takes an integer from 1/],
    [{ max: 1, cost: '1' }, /cost takes an integer from 1/],
    [{ max: 1, refund: true }, /refund takes a function/],
    [{ max: 1, allowList: '127.0.0.1' }, /allowList takes a list/],
    [{ max: 1, allowList: [1] }, /allowList takes a list/],
    [{ max: 1, onExceeded: 'x' }, /onExceeded takes a function/],
    [{ max: 1, headers: true }, /headers takes draft, legacy, false/],
    [{ max: 1, cache: 1 }, /cache takes a number of keys/],
    [{ max: 1, store: {} }, /store takes an object with take, refund and reset/],
    [{ max: 1, onStoreError: 'allow' }, /onStoreError is for a store, and there is none/],
    [{ max: 1, workers: 2 }, /workers is for a store/],
    [{ max: 1, nameSpace: 'x' }, /nameSpace is for a store/],
    [{ max: 1, groupId: '' }, /groupId takes 1 to 64 letters/],
    [{ max: 1, groupId: 'a"b' }, /groupId takes 1 to 64 letters/],
    [{ max: 1, policies: { a: { max: 1 } } }, /max and policies are both given/],
    [{ policies: {} }, /policies takes an object of policies by name/],
    [{ policies: [{ max: 1 }] }, /policies takes an object of policies by name/],
    [{ policies: { a: { max: 0 } } }, /policies\.a: max takes/],
    [{ policies: { a: { max: 1, cost: 1 } } }, /policies\.a has no option "cost"/],
    [{ policies: { 'a b': { max: 1 } } }, /the name of a policy takes/],
    [{ max: 1, windowMs: 5 }, /no option "windowMs"; did you mean "timeWindow"/],
    [{ max: 1, skipOnError: true }, /write onStoreError: 'allow'/],
    [{ max: 1, timeWindows: 5 }, /no option "timeWindows"; did you mean "timeWindow"/],
  ]
  for (const [options, message] of rows) {
    test(JSON.stringify(options) ?? 'undefined', () => {
      assert.throws(
        () => rateLimit(options as RateLimitOptions),
        (error: VolantError) => {
          assert.equal(error.code, 'E_BAD_OPTION')
          assert.match(error.message, message)
          return true
        },
      )
    })
  }

  test('times as text', async () => {
    for (const [text, seconds] of [
      ['1 second', 1],
      ['30s', 30],
      ['2 minutes', 120],
      ['1 min', 60],
      ['3 Hours', 10_800],
      ['1 day', 86_400],
      ['1500 ms', 2],
    ] as const) {
      const reply = await limited({ max: 1, timeWindow: text }).inject('/')
      assert.equal(reply.headers['ratelimit-policy'], `"default";q=1;w=${seconds}`)
    }
  })

  test('a limit that is given as beforeBody is refused, with what to write', () => {
    for (const beforeBody of [rateLimit({ max: 1 }), (_: Context, next: () => void) => next()]) {
      assert.throws(
        () => kit.app().post('/x', { beforeBody: beforeBody as never }, () => 'x'),
        /beforeBody takes a function \(ctx\), not a middleware: those of scopes run before it/,
      )
    }
  })

  test('a limit of a procedure is refused', () => {
    assert.throws(
      () => procedure().use(rateLimit({ max: 1 })),
      /or a rate limit, belongs to an app or a scope/,
    )
  })

  test('a limiter that is passed without being called is named', () => {
    assert.throws(() => kit.app().use(rateLimit as never), /write app\.use\(rateLimit\(\{ max: 100 \}\)\)/)
  })
})
