/** Paths and methods that no procedure takes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createTRPCClient,
  httpBatchLink,
  httpBatchStreamLink,
  httpLink,
  safe,
  TRPCClientError,
} from '@trpc/client'
import { cors } from 'volant'
import { procedure, router } from 'volant/procedures'
import { trpc, type TRPCRouterOf } from 'volant/trpc'
import { type Shape, kit, served } from './served.ts'

describe('tRPC: what no route takes', () => {
  const tree = router({
    ping: procedure().query(() => 'pong'),
    users: router({ set: procedure().mutation(() => 1) }),
  })
  const links = [httpLink, httpBatchLink, httpBatchStreamLink]
  /** The error a client of `url` has whose requests something on the way changes. */
  const failure = async (
    link: (typeof links)[number],
    url: string,
    changed: (url: string, init: RequestInit) => [string, RequestInit],
  ) => {
    const client = createTRPCClient<TRPCRouterOf<typeof tree>>({
      links: [link({ url, fetch: (at, init) => fetch(...changed(String(at), init as RequestInit)) })],
    })
    const [, error] = await safe(client.ping.query())
    assert.ok(error instanceof TRPCClientError, String(error))
    return `${error.data?.httpStatus} ${error.data?.code} ${error.message}`
  }

  test('other methods and the prefix by itself: clients can read why', () =>
    served(tree, async (live) => {
      const url = `${live.address.url}/trpc`
      for (const link of links) {
        for (const method of ['PUT', 'PATCH', 'DELETE']) {
          assert.equal(
            await failure(link, url, (at, init) => [at, { ...init, method }]),
            `405 METHOD_NOT_SUPPORTED ${method} is not allowed here; GET, HEAD, POST, OPTIONS are`,
          )
        }
        for (const slash of ['', '/']) {
          assert.equal(
            await failure(link, url, (at, init) => [at.replace('/ping', slash), init]),
            '404 NOT_FOUND No procedure found on path ""',
          )
        }
      }
      const { headers, text } = await live.ask('/trpc/users.set', { method: 'DELETE' })
      assert.equal(headers['allow'], 'GET, HEAD, POST, OPTIONS')
      assert.equal(headers['content-type'], 'application/json; charset=utf-8')
      assert.deepEqual(JSON.parse(text), {
        error: {
          message: 'DELETE is not allowed here; GET, HEAD, POST, OPTIONS are',
          code: -32005,
          data: {
            code: 'METHOD_NOT_SUPPORTED',
            httpStatus: 405,
            error: { code: 'E_METHOD_NOT_ALLOWED' },
          },
        },
      })
      const head = await live.ask('/trpc', { method: 'HEAD' })
      assert.deepEqual([head.status, head.text], [404, ''])
    }))

  test('are the affair of the tRPC endpoint under its prefix, and only there', async () => {
    const app = kit.app()
    const asked: string[] = []
    app.onError((_, ctx) => {
      asked.push(`error ${ctx.path}`)
      return 'error'
    })
    app.onNotFound((ctx) => {
      asked.push(`not found ${ctx.path}`)
      return 'not found'
    })
    app.get('/other', () => 1)
    app.group('/teams/:team', (team) => team.register(trpc(tree, { prefix: '/rpc/' })))
    const inner = kit.app()
    inner.register(trpc(tree))
    app.mount('/inner', inner)
    app.register(trpc(tree))
    app.get('/trpc', () => 'a page')
    await kit.serve(app, async (live) => {
      const code = async (method: string, path: string): Promise<string> => {
        const reply = await live.ask(path, { method })
        if (!reply.headers['content-type']?.startsWith('application/json')) return reply.text
        const { data } = (reply.json() as { error: Shape }).error
        assert.equal(data.httpStatus, reply.status)
        return data.code
      }
      for (const prefix of ['/teams/7/rpc', '/inner/trpc', '/trpc']) {
        assert.equal(await code('PUT', `${prefix}/ping`), 'METHOD_NOT_SUPPORTED')
        assert.equal(await code('GET', `${prefix}/`), 'NOT_FOUND')
      }
      assert.equal(await code('POST', '/inner/trpc'), 'NOT_FOUND')
      assert.equal(await code('GET', '/trpc'), 'a page')
      assert.deepEqual(asked, [])
      assert.equal(await code('PUT', '/other'), 'error')
      assert.equal(await code('GET', '/trpcs'), 'not found')
      assert.equal(await code('GET', '/inner'), 'not found')
      assert.deepEqual(asked, ['error /other', 'not found /trpcs', 'not found /inner'])
      // No routes were needed for that.
      const methods = new Set(app.routes().map(({ method, path }) => path.includes('rpc/') && method))
      assert.deepEqual(methods, new Set([false, 'GET', 'POST']))
    })
  })

  test('an endpoint without a prefix leaves the other paths to the app', async () => {
    const problem = 'application/problem+json; charset=utf-8'
    for (const prefix of ['/', '']) {
      const app = kit.app()
      app.register(trpc(tree, { prefix }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/ping')).text, '{"result":{"data":"pong"}}')
        const root = await live.ask('/')
        assert.deepEqual([root.status, root.headers['content-type']], [404, problem])
        const put = await live.ask('/ping', { method: 'PUT' })
        assert.deepEqual([put.status, put.headers['content-type']], [405, problem])
      })
    }
  })

  test('OPTIONS and preflights are answered as anywhere', async () => {
    const app = kit.app()
    app.use('/trpc', cors({ origin: 'https://app.example' }))
    app.register(trpc(tree))
    await kit.serve(app, async (live) => {
      for (const path of ['/trpc/ping', '/trpc/users.set', '/trpc/ping,ping?batch=1']) {
        const plain = await live.ask(path, { method: 'OPTIONS' })
        assert.deepEqual([plain.status, plain.headers['allow']], [204, 'GET, HEAD, POST, OPTIONS'], path)
        const preflight = await live.ask(path, {
          method: 'OPTIONS',
          headers: { origin: 'https://app.example', 'access-control-request-method': 'POST' },
        })
        assert.deepEqual(
          [preflight.status, preflight.headers['access-control-allow-origin']],
          [204, 'https://app.example'],
        )
      }
      const refused = await live.ask('/trpc/ping', {
        method: 'PUT',
        headers: { origin: 'https://app.example' },
      })
      assert.deepEqual(
        [refused.status, refused.headers['access-control-allow-origin']],
        [405, 'https://app.example'],
      )
    })
  })
})
