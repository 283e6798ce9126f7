import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deferred, type Kit } from '../../kit.ts'
import { ask, type Http2Server } from './server.ts'

export function http2Requests(kit: Kit, server: Http2Server): void {
  test('a request is what it is on HTTP/1.1, but for its version', async () => {
    const app = kit.app()
    app.get('/a/:id', (ctx) => ({
      version: ctx.httpVersion,
      protocol: ctx.protocol,
      host: ctx.host,
      header: ctx.headers.host,
      id: ctx.params.id,
      query: ctx.query,
      cookies: ctx.cookies,
      alpn: ctx.tls?.alpn ?? null,
    }))
    await server.serve(app, async (client) => {
      const reply = await ask(client, {
        ':path': '/a/b%20c?x=1',
        ':authority': 'one.example',
        cookie: ['a=1', 'b=2'] as unknown as string,
      })
      assert.deepEqual(JSON.parse(reply.body.toString()), {
        version: '2',
        protocol: server.isEncrypted ? 'https' : 'http',
        host: 'one.example',
        header: 'one.example',
        id: 'b c',
        query: { x: '1' },
        cookies: { a: '1', b: '2' },
        alpn: server.isEncrypted ? 'h2' : null,
      })
      assert.equal(reply.headers['connection'], undefined)
      assert.equal(reply.headers['content-length'], String(reply.body.length))
      assert.notEqual(reply.headers['date'], undefined)
    })
  })

  test('404, 405, HEAD and 413 are what they are on HTTP/1.1', async () => {
    const app = kit.app()
    app.get('/', () => 'hello')
    app.post('/small', { maxBodySize: 10 }, () => 'small')
    await server.serve(app, async (client) => {
      assert.equal((await ask(client, { ':path': '/none' })).status, 404)
      assert.equal((await ask(client, { ':method': 'POST' }, 'x')).status, 405)
      const head = await ask(client, { ':method': 'HEAD' })
      assert.deepEqual([head.status, head.headers['content-length'], head.body.length], [200, '5', 0])
      const large = await ask(
        client,
        { ':method': 'POST', ':path': '/small', 'content-length': 11 },
        'x'.repeat(11),
      )
      assert.equal(large.status, 413)
      const streamed = await ask(client, { ':method': 'POST', ':path': '/small' }, 'x'.repeat(11))
      assert.equal(streamed.status, 413)
      assert.equal((await ask(client, {})).status, 200)
    })
  })

  test('bodies are collected and streamed both ways, and one that is not read holds up no other', async () => {
    const app = kit.app()
    const gate = deferred()
    app.post('/length', { maxBodySize: 2_000_000 }, (ctx) => ({ length: ctx.bodyBytes.length }))
    app.post('/back', { bodyMode: 'stream', maxBodySize: 2_000_000 }, (ctx) => ctx.stream(ctx.bodyStream))
    app.post('/wait', { bodyMode: 'stream', maxBodySize: 2_000_000 }, async () => {
      await gate.promise
      return 'unread'
    })
    await server.serve(app, async (client) => {
      const body = Buffer.alloc(1_500_000, 'abcdefg')
      const stalled = ask(client, { ':method': 'POST', ':path': '/wait' }, body.subarray(0, 200_000))
      const post = (path: string) => ask(client, { ':method': 'POST', ':path': path }, body)
      assert.deepEqual(JSON.parse((await post('/length')).body.toString()), { length: body.length })
      assert.ok((await post('/back')).body.equals(body))
      gate.resolve()
      assert.equal((await stalled).body.toString(), 'unread')
    })
  })

  test('early hints and repeated fields arrive, and a priority is taken', async () => {
    const app = kit.app()
    app.get('/', (ctx) => {
      ctx.earlyHints({ link: ['</a>; rel=preload', '</b>; rel=preload'] })
      ctx.append('set-cookie', 'a=1').append('set-cookie', 'b=2').append('x-a', '1').append('x-a', '2')
      return 'x'
    })
    await server.serve(app, async (client) => {
      const reply = await ask(client, { priority: 'u=1, i' })
      assert.deepEqual(
        reply.hints.map((each) => each[':status']),
        [103],
      )
      assert.equal(reply.hints[0]?.['link'], '</a>; rel=preload, </b>; rel=preload')
      assert.deepEqual(reply.headers['set-cookie'], ['a=1', 'b=2'])
      assert.equal(reply.headers['x-a'], '1, 2')
    })
  })

  test('more than maxHeaders fields are 431', async () => {
    const app = kit.app({ limits: { maxHeaders: 20 } })
    app.get('/', () => 'x')
    await server.serve(app, async (client) => {
      const many = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`x-${at}`, '1']))
      assert.equal((await ask(client, many)).status, 431)
      assert.equal((await ask(client, {})).status, 200)
    })
  })
}
