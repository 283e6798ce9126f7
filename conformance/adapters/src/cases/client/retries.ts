import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { createClient } from 'volant/client'
import { eventually, type Kit, type Live, turns } from '../../kit.ts'

export function retriesOfClients(kit: Kit): void {
  describe('client', () => {
    test('a call is tried again where it can be, as often as it may', async () => {
      const app = kit.app()
      let tries = 0
      let refusals = 0
      let status = 503
      let after: string | null = null
      const busy = (ctx: {
        header(name: string, value: string): unknown
        reply(status: number): never
      }): boolean => {
        tries++
        if (refusals-- <= 0) return false
        if (after !== null) ctx.header('retry-after', after)
        ctx.reply(status)
        return true
      }
      const api = {
        get: app.get('/get', (ctx) => (busy(ctx as never) ? undefined : { tries })),
        put: app.put('/put', (ctx) => (busy(ctx as never) ? undefined : { tries, body: ctx.body })),
        post: app.post('/post', (ctx) => (busy(ctx as never) ? undefined : { tries, body: ctx.body })),
      }
      app.expose(api)
      await kit.serve(app, async ({ address }) => {
        const seen: number[] = []
        const client = createClient<typeof api>(address.url, {
          retry: { count: 2, delay: 1 },
          onResponse: ({ status: each }, _, operation) => void (operation.startsWith('/') || seen.push(each)),
        })
        const set = (count: number, code = 503, wait: string | null = null): void => {
          tries = 0
          refusals = count
          status = code
          after = wait
          seen.length = 0
        }
        for (const code of [429, 502, 503, 504]) {
          set(2, code)
          assert.deepEqual((await client.get()).data, { tries: 3 })
          assert.deepEqual(seen, [code, code, 200])
        }
        set(3)
        await assert.rejects(client.get(), { name: 'ClientError', status: 503 })
        assert.equal(tries, 3)
        set(1, 500)
        await assert.rejects(client.get(), { status: 500 })
        assert.equal(tries, 1)
        set(1, 503)
        await assert.rejects(client.get({}, { retry: 0 }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        assert.deepEqual((await client.put({ body: { a: 1 } })).data, { tries: 2, body: { a: 1 } })
        set(1)
        await assert.rejects(client.put({ body: new Blob(['x']).stream() }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        await assert.rejects(client.post({ body: { a: 1 } }), { status: 503 })
        assert.equal(tries, 1)
        set(1)
        const repeatable = { count: 1, delay: 1, methods: ['POST'], statuses: [503] }
        assert.deepEqual((await client.post({ body: 5 }, { retry: repeatable })).data, { tries: 2, body: 5 })

        set(1, 503, '60')
        await assert.rejects(client.get(), { status: 503 })
        assert.equal(tries, 1)
        set(1, 503, 'Fri, 27 Nov 2020 10:00:00 GMT')
        assert.deepEqual((await client.get()).data, { tries: 2 })
        set(1, 503, 'rubbish')
        assert.deepEqual((await client.get()).data, { tries: 2 })
      })

      let lost = 2
      const flaky = createClient<typeof api>('http://server.test', {
        retry: { count: 2, delay: 1 },
        fetch: async (request) => {
          if (lost-- > 0) throw new TypeError('fetch failed')
          return app.fetch(request)
        },
      })
      refusals = 0
      assert.equal((await flaky.get()).ok, true)
      lost = 3
      await assert.rejects(flaky.get(), {
        name: 'ClientError',
        message: 'get: no reply from http://server.test/get: fetch failed',
      })
    })

    test('a call waits before it is tried again as long as Retry-After says, and not past its time', async (t) => {
      const clock = testClock(t)
      const app = kit.app()
      let tries = 0
      let isWell = false
      const api = {
        get: app.get('/get', (ctx) => {
          tries++
          if (isWell) return { tries }
          ctx.header('retry-after', '3600').reply(503)
          return undefined
        }),
        busy: app.get('/busy', (ctx) => void ctx.reply(503)),
      }
      app.expose(api)
      const run = async ({ address }: Live): Promise<void> => {
        let replies = 0
        const client = createClient<typeof api>(address.url, { onResponse: () => void replies++ })
        await client.get({}, { retry: 0 }).catch(() => {})
        replies = 0
        const waits = client.get({}, { retry: { count: 1, delay: 1, maxDelay: 3_600_000 } })
        await eventually(() => replies === 1, 'the first reply')
        await turns()
        isWell = true
        await clock.advance(3_599_999)
        await turns()
        assert.equal(replies, 1)
        await clock.advance(1)
        assert.deepEqual((await waits).data, { tries: 3 })

        replies = 0
        let isOver = false
        const late = client.busy({}, { retry: { count: 5, delay: 5_000 }, timeout: 50 })
        void late.catch(() => (isOver = true))
        await eventually(() => replies === 1, 'the first reply')
        await clock.advance(49)
        await turns()
        assert.equal(isOver, false)
        await clock.advance(1)
        await assert.rejects(late, { name: 'ClientError', message: 'busy: no reply within 50 ms' })
      }
      await kit.serve(app, run, { clock })
    })
  })
}
