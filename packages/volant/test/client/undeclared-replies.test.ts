/** Replies that no route declares are errors of the client. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { ClientError, createClient } from 'volant/client'
import * as z from 'zod'
import { kit } from './kit.ts'

describe('client', () => {
  test('replies that are not declared are errors with all there is to know', async () => {
    const app = kit.app()
    const response = z.object({ id: z.number() })
    const api = {
      boom: app.get('/boom', { response }, () => {
        throw new Error('secret')
      }),
      refused: app.get('/refused', { response }, () => {
        throw new HTTPError(409, 'Taken', { code: 'TAKEN', data: { by: 'x' } })
      }),
      page: app.get('/page', { response }, () => {
        const headers = { 'content-type': 'text/html; charset=utf-8' }
        return new Response('<h1>', { status: 502, headers }) as never
      }),
      bytes: app.get('/bytes', (ctx) => ctx.bytes(new Uint8Array(3), 500)),
      broken: app.get('/broken', (ctx) => {
        ctx.header('content-type', 'application/json')
        ctx.bytes(Buffer.from('{"a":'))
      }),
      old: app.get('/old/:id', { response }, (ctx) => ({ id: Number(ctx.params.id) })),
    }
    app.expose(api)
    await kit.serve(app, async ({ address }) => {
      const client = createClient<typeof api>(address.url)
      const thrown = async (promise: Promise<unknown>): Promise<ClientError> => {
        const error: unknown = await promise.then(
          () => assert.fail('it resolved'),
          (reason: unknown) => reason,
        )
        assert.ok(error instanceof ClientError, String(error))
        return error
      }
      const boom = await thrown(client.boom())
      assert.equal(boom.message, 'boom: the reply 500 is not declared: Internal Server Error')
      assert.deepEqual(
        [boom.operation, boom.status, boom.problem?.title],
        ['boom', 500, 'Internal Server Error'],
      )
      const refused = await thrown(client.refused())
      assert.equal(refused.message, 'refused: the reply 409 is not declared: Taken')
      assert.deepEqual(refused.problem?.data, { by: 'x' })
      assert.equal(refused.problem?.code, 'TAKEN')
      const page = await thrown(client.page())
      assert.deepEqual([page.status, page.body, page.problem], [502, '<h1>', undefined])
      assert.equal((await thrown(client.bytes())).body, undefined)
      const broken = await thrown(client.broken())
      assert.equal(broken.message, 'broken: the reply 200 cannot be read')
      assert.ok(broken.cause instanceof SyntaxError)
      // Older than the client: a path that is not there.
      const routes = { old: ['GET', '/older/:id', [200]] } as const
      const old = await thrown(createClient<typeof api>(address.url, { routes }).old({ params: { id: 1 } }))
      assert.deepEqual([old.status, old.problem?.code], [404, 'E_NOT_FOUND'])
    })
    const gone = await createClient<typeof api>('http://127.0.0.1:1', {
      routes: { boom: ['GET', '/boom'] },
    })
      .boom()
      .catch((error: unknown) => error)
    assert.ok(gone instanceof ClientError)
    assert.equal(gone.status, 0)
    assert.match(gone.message, /^boom: no reply from http:\/\/127\.0\.0\.1:1\/boom: bad port$/)
    assert.ok(gone.cause instanceof Error)
  })

  test('what is no reply is named', async () => {
    const routes = { a: ['GET', '/a'] } as const
    type API = { a: { method: 'GET'; path: '/a' } }
    for (const given of [undefined, null, 5, {}, 'x']) {
      let calls = 0
      const fetch = async (): Promise<Response> => (calls++, given as never)
      const client = createClient<API>('http://a.test', { routes, fetch, retry: 2 })
      await assert.rejects(client.a(), {
        name: 'TypeError',
        message: `fetch gave ${String(given)}, which is no Response`,
      })
      assert.equal(calls, 1)
    }
    const hooked = createClient<API>('http://a.test', {
      routes,
      fetch: async () => new Response('x'),
      onResponse: () => 5 as never,
    })
    await assert.rejects(hooked.a(), {
      name: 'TypeError',
      message: 'onResponse gave 5, which is no Response',
    })
  })
})
