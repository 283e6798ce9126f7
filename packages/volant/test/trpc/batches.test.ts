/** Several calls of tRPC 11 in one request. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import { kit, served } from './kit.ts'

describe('tRPC over the wire', () => {
  test('headers that a procedure sets before it waits are in the head of a streamed batch', () =>
    served(async (live) => {
      const { length } = kit.reports
      const reply = await live.ask('/trpc/cookie,ping?batch=1', {
        headers: { 'trpc-accept': 'application/jsonl' },
      })
      assert.equal(reply.headers['x-made-by'], 'procedure')
      assert.deepEqual(reply.setCookies, ['seen=yes; Path=/; HttpOnly; SameSite=Lax'])
      assert.deepEqual(kit.reports.slice(length), [])
    }))

  test('a batch has a limit, which is looked at first', () =>
    served(
      async (live) => {
        const paths = (count: number) => Array.from({ length: count }, () => 'ping').join(',')
        const three = await live.ask(`/trpc/${paths(3)}?batch=1`)
        assert.equal(three.status, 200)
        assert.deepEqual(
          three.json(),
          Array.from({ length: 3 }, () => ({ result: { data: 'pong' } })),
        )
        for (const count of [4, 10_000]) {
          const headers = { 'content-type': 'application/json' }
          const reply = await live.ask(
            `/trpc/${Array.from({ length: count }, () => 'a').join(',')}?batch=1`,
            {
              method: 'POST',
              headers,
              body: '{',
            },
          )
          assert.equal(reply.status, count > 4 ? reply.status : 400)
          if (count > 4) {
            assert.ok([414, 431].includes(reply.status), String(reply.status))
            continue
          }
          const { error } = reply.json() as { error: { data: object } }
          assert.deepEqual(error.data, {
            code: 'BAD_REQUEST',
            httpStatus: 400,
            error: { code: 'E_BATCH_SIZE' },
          })
        }
      },
      { maxBatchSize: 3 },
    ))

  test('the calls of a batch have one outcome each', () =>
    served(async (live) => {
      const reply = await live.ask(
        `/trpc/users.get,nope,secret,ticks,users.get?batch=1&input=${encodeURIComponent('{"0":{"id":"a"},"4":{"id":"none"}}')}`,
      )
      assert.equal(reply.status, 400)
      const mixed = reply.json() as { error: { message: string } }
      assert.equal(mixed.error.message, 'Cannot mix procedure types in call: query, subscription')
      const mixedWell = await live.ask(
        `/trpc/users.get,nope,users.get?batch=1&input=${encodeURIComponent('{"0":{"id":"a"},"2":{"id":"none"}}')}`,
      )
      assert.equal(mixedWell.status, 207)
      const items = mixedWell.json() as { result?: { data: unknown }; error?: { data: { code: string } } }[]
      assert.deepEqual(items[0]?.result?.data, { id: 'a', name: 'Ann' })
      assert.equal(items[1]?.error?.data.code, 'NOT_FOUND')
      assert.equal(items[2]?.error?.data.code, 'NOT_FOUND')
      const inputs = await live.ask('/trpc/ping,ping?batch=1&input=[1]')
      assert.equal(inputs.status, 400)
    }))

  test('what cannot be written is an error of its call alone', async () => {
    const tree = router({
      big: procedure().query(() => 1n),
      later: procedure().query(() => ({ big: Promise.resolve({ value: 1n }) })),
      failing: procedure().query(() => {
        throw new HTTPError(400, 'no', { code: 'NO', data: 1n })
      }),
      fine: procedure().query(() => 1),
    })
    const app = kit.app()
    app.register(trpc(tree))
    await kit.serve(app, async (live) => {
      const batch = (paths: string, headers = {}) => live.ask(`/trpc/${paths}?batch=1`, { headers })
      const two = (await batch('big,fine')).json() as { result?: object; error?: { data: object } }[]
      assert.deepEqual(two[1], { result: { data: 1 } })
      assert.deepEqual(two[0]?.error?.data, { code: 'INTERNAL_SERVER_ERROR', httpStatus: 500, path: 'big' })
      for (const path of ['failing', 'failing?batch=1'])
        assert.equal((await live.ask(`/trpc/${path}`)).status, 500)
      const lines = await batch('big,fine,failing,later', { 'trpc-accept': 'application/jsonl' })
      assert.equal(lines.status, 200)
      assert.match(lines.text, /\{"data":1\}|\[1\]/)
      assert.equal(lines.text.match(/INTERNAL_SERVER_ERROR/g)?.length, 3)
    })
  })
})
