/** Single calls of tRPC 11 as requests, and the options. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { procedure, router } from 'volant/procedures'
import { trpc } from 'volant/trpc'
import type { Live } from '../kit.ts'
import { User, api, kit, served, get } from './kit.ts'

describe('tRPC over the wire', () => {
  test('headers that procedures set are those of the reply', () =>
    served(async (live) => {
      const reply = await live.ask('/trpc/cookie')
      assert.equal(reply.headers['x-made-by'], 'procedure')
      assert.equal(reply.headers['vary'], 'x-user, trpc-accept, accept')
      assert.match(reply.headers['set-cookie'] ?? '', /^seen=yes/)
      assert.equal((await live.ask('/trpc/teapot')).headers['retry-after'], '5')
    }))

  test('bad requests are told in the shape of tRPC, before anything runs', () =>
    served(async (live) => {
      const shape = async (path: string, ask?: Parameters<Live['ask']>[1]) => {
        const reply = await live.ask(path, ask)
        const { error } = reply.json() as {
          error: { message: string; data: { code: string; httpStatus: number } }
        }
        assert.equal(error.data.httpStatus, reply.status, path)
        return `${reply.status} ${error.data.code}: ${error.message}`
      }
      const json = { method: 'POST', headers: { 'content-type': 'application/json' } }
      assert.equal(await shape('/trpc/nope'), '404 NOT_FOUND: No procedure found on path "nope"')
      assert.equal(await shape('/trpc/__proto__'), '404 NOT_FOUND: No procedure found on path "__proto__"')
      assert.equal(
        await shape('/trpc/users.constructor'),
        '404 NOT_FOUND: No procedure found on path "users.constructor"',
      )
      assert.equal(await shape('/trpc/users.get?input=%7B'), '400 BAD_REQUEST: the input is not valid JSON')
      assert.equal(
        await shape('/trpc/users.get?input=%'),
        '400 BAD_REQUEST: the query has a malformed escape',
      )
      assert.match(
        await shape(`/trpc/echo${get(JSON.parse('{"__proto__":1}'))}`),
        /^400 BAD_REQUEST: .*__proto__/,
      )
      assert.match(
        await shape(`/trpc/echo?input=${'['.repeat(100)}${']'.repeat(100)}`),
        /^400 BAD_REQUEST: .*nested/,
      )
      assert.equal(await shape('/trpc/users.add', json), '401 UNAUTHORIZED: who are you?')
      assert.match(await shape('/trpc/upload', { ...json, body: '{' }), /^400 BAD_REQUEST: .*not valid JSON/)
      assert.equal(
        await shape('/trpc/upload', { method: 'POST', body: '{}' }),
        '415 UNSUPPORTED_MEDIA_TYPE: Missing content-type header',
      )
      for (const type of [
        'text/plain',
        'application/x-www-form-urlencoded',
        'multipart/form-data; boundary=a',
      ]) {
        const headers = { 'content-type': type }
        assert.match(
          await shape('/trpc/upload', { method: 'POST', headers, body: '{}' }),
          /^415 UNSUPPORTED_MEDIA_TYPE/,
        )
      }
      assert.equal(
        await shape('/trpc/upload'),
        '405 METHOD_NOT_SUPPORTED: Unsupported GET-request to mutation procedure at path "upload"',
      )
      assert.equal((await live.ask('/trpc/upload')).headers['allow'], 'POST')
      assert.match(await shape('/trpc/ping', { ...json, body: '{}' }), /^405 METHOD_NOT_SUPPORTED/)
      assert.equal((await live.ask('/trpc/ping', { ...json, body: '{}' })).headers['allow'], 'GET')
      assert.match(
        await shape('/trpc/ping', { headers: { 'trpc-accept': 'application/jsonl' } }),
        /^400 BAD_REQUEST: Streaming/,
      )
      assert.match(await shape('/trpc/deferred'), /^415 UNSUPPORTED_MEDIA_TYPE: .*httpBatchStreamLink/)
      assert.equal(await shape('/trpc/big'), '500 INTERNAL_SERVER_ERROR: Internal Server Error')
      assert.equal((await live.ask('/trpc/ping', { method: 'HEAD' })).status, 204)
      assert.equal(
        await shape('/trpc/ping', { method: 'PUT' }),
        '405 METHOD_NOT_SUPPORTED: PUT is not allowed here; GET, HEAD, POST, OPTIONS are',
      )
    }))

  test('queries are taken with POST where that is allowed, mutations never with GET', () =>
    served(
      async (live) => {
        const headers = { 'content-type': 'application/json' }
        const reply = await live.ask('/trpc/users.get', { method: 'POST', headers, body: '{"id":"a"}' })
        assert.deepEqual(reply.json(), { result: { data: { id: 'a', name: 'Ann' } } })
        assert.equal((await live.ask('/trpc/upload')).status, 405)
      },
      { allowMethodOverride: true },
    ))

  test('responseMeta sets status and headers', () =>
    served(
      async (live) => {
        const one = await live.ask('/trpc/ping')
        assert.equal(one.headers['x-paths'], 'ping query 0 false')
        const batch = await live.ask('/trpc/ping,secret?batch=1')
        assert.equal(batch.status, 202)
        assert.equal(batch.headers['x-paths'], 'ping,secret query 1 false')
        const streamed = await live.ask('/trpc/ping,secret?batch=1', {
          headers: { accept: 'application/jsonl' },
        })
        assert.equal(streamed.headers['x-paths'], 'ping,secret query 0 true')
      },
      {
        responseMeta: ({ paths, type, errors, streamed }) => ({
          status: paths.length === 2 && !streamed ? 202 : undefined,
          headers: { 'x-paths': `${paths.join()} ${type} ${errors.length} ${streamed}` },
        }),
      },
    ))

  test('errors nobody expected are reported, and no others', () =>
    served(async (live) => {
      const before = kit.reports.length
      await live.ask('/trpc/secret')
      await live.ask('/trpc/broken')
      await live.ask('/trpc/users.get?input={"id":"none"}')
      await live.ask('/trpc/ping,secret?batch=1')
      const reports = kit.reports.slice(before)
      assert.equal(reports.length, 3)
      assert.match(String(reports[0]), /hunter2/)
      assert.doesNotMatch(String(reports[1]), /hunter2/)
      assert.match(String(reports[1]), /the procedure broken .*#\/name/)
    }))

  test('what an output does not declare is named in development and not sent in production', async () => {
    const rows = { id: 'a', name: 'Ann', password: 'hunter2' }
    const tree = router({
      user: procedure()
        .output(User)
        .query(() => rows),
    })
    const ways: [string, Record<string, string>][] = [
      ['/trpc/user', {}],
      ['/trpc/user?batch=1', {}],
      ['/trpc/user?batch=1', { 'trpc-accept': 'application/jsonl' }],
    ]
    for (const undeclaredProperties of ['strip', 'throw'] as const) {
      const app = kit.app({ undeclaredProperties })
      app.register(trpc(tree))
      await kit.serve(app, async (live) => {
        for (const [path, headers] of ways) {
          const { text } = await live.ask(path, { headers })
          assert.doesNotMatch(text, /hunter2|password/)
          assert.match(text, undeclaredProperties === 'strip' ? /"name":"Ann"/ : /Internal Server Error/)
          if (undeclaredProperties === 'throw')
            assert.match(String(kit.reports.at(-1)), /the procedure user .*\/password/)
        }
      })
    }
  })

  test('options that make no sense are refused', () => {
    const { tree } = api()
    for (const options of [
      { maxBatchSize: 0 },
      { maxBatchSize: 1.5 },
      { allowMethodOverride: 1 },
      { transformer: {} },
      { acceptForms: 'yes' },
      { responseMeta: 1 },
      { pingInterval: -1 },
      { reconnectAfter: 10_000 },
      { batching: true },
    ]) {
      assert.throws(() => trpc(tree, options as never), { code: 'E_BAD_OPTION' }, JSON.stringify(options))
    }
    assert.throws(() => trpc({} as never), { code: 'E_BAD_OPTION' })
  })
})
