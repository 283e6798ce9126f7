/** Subscriptions of tRPC 11 by its own client. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock, turns } from '@volant/test-kit'
import { createTRPCClient, httpSubscriptionLink, TRPCClientError } from '@trpc/client'
import { FetchEventSource } from './event-source.ts'
import { deferred, eventually, within } from '../kit.ts'
import { type Same, same, type AppRouter, served } from './kit.ts'

describe('tRPC subscriptions', () => {
  const subscriber = (url: string, more: object = {}) =>
    createTRPCClient<AppRouter>({
      links: [httpSubscriptionLink({ url, EventSource: FetchEventSource as never, ...more })],
    })

  test('events come until the client has enough', () =>
    served(async (_, url, released) => {
      const events: unknown[] = []
      const enough = deferred()
      const subscription = subscriber(url).ticks.subscribe(undefined, {
        onData(event) {
          same<Same<typeof event, { readonly id: string; readonly data: { at: number } }>>()
          events.push([event.id, event.data.at])
          if (events.length === 3) enough.resolve()
        },
      })
      await within(enough.promise, 'three events')
      subscription.unsubscribe()
      assert.deepEqual(events, [
        ['1', 1],
        ['2', 2],
        ['3', 3],
      ])
      await eventually(() => released.includes('ticks 3'), 'the generator is released')
    }))

  test('the end, errors and parameters of the connection', () =>
    served(async (_, url, released) => {
      const all: unknown[] = []
      await within(
        new Promise<void>((resolve, reject) => {
          subscriber(url).three.subscribe(undefined, {
            onData: (event) => all.push(event),
            onComplete: resolve,
            onError: reject,
          })
        }),
        'three',
      )
      assert.deepEqual(
        all.map((event) => (typeof event === 'object' ? { ...event } : event)),
        [1, { id: 'b', data: 2 }, 3],
      )
      const error = await within(
        new Promise<unknown>((resolve) => {
          subscriber(url).refused.subscribe(undefined, { onError: resolve })
        }),
        'refused',
      )
      assert.ok(error instanceof TRPCClientError)
      assert.equal((error.shape as { code: number }).code, -32029)
      const token = await within(
        new Promise<unknown>((resolve) => {
          const subscription = subscriber(url, { connectionParams: { token: 't1' } }).quiet.subscribe(
            undefined,
            {
              onData(value) {
                subscription.unsubscribe()
                resolve(value)
              },
            },
          )
        }),
        'quiet',
      )
      assert.equal(token, 't1')
      await eventually(() => released.includes('quiet'), 'the generator is released')
    }))

  test('a client that lost its connection goes on after the last event', (t) => {
    const clock = testClock(t)
    return served(
      async (_, url, released) => {
        const ids: string[] = []
        const enough = deferred()
        const subscription = subscriber(url).ticks.subscribe(undefined, {
          onData(event) {
            ids.push(event.id)
            if (ids.length === 6) enough.resolve()
          },
        })
        await eventually(() => ids.length === 3, 'three events')
        await clock.advance(99)
        await turns()
        assert.equal(released.length, 0)
        await clock.advance(1)
        await within(enough.promise, 'six events')
        subscription.unsubscribe()
        assert.deepEqual(ids, ['1', '2', '3', '4', '5', '6'])
        assert.ok(released.includes('ticks 3'), 'the first connection was released')
      },
      { maxSubscription: 100 },
    )
  })
})
