import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from 'volant/client'
import { type Kit } from '../../kit.ts'

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

        set(1, 503, '1')
        let since = performance.now()
        await client.get()
        assert.ok(performance.now() - since >= 995, `${performance.now() - since} ms`)
        set(1, 503, '60')
        await assert.rejects(client.get(), { status: 503 })
        assert.equal(tries, 1)
        set(1, 503, new Date(Date.now() - 5000).toUTCString())
        assert.deepEqual((await client.get()).data, { tries: 2 })
        set(1, 503, 'rubbish')
        assert.deepEqual((await client.get()).data, { tries: 2 })

        set(5)
        since = performance.now()
        const waiting = client.get({}, { retry: { count: 5, delay: 5000 }, timeout: 50 })
        await assert.rejects(waiting, { name: 'ClientError', message: 'get: no reply within 50 ms' })
        assert.ok(performance.now() - since < 4500)
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
  })
}
