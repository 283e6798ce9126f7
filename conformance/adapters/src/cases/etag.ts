import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, etag } from 'volant'
import { type Kit, request } from '../kit.ts'

/** Conditional requests over sockets; the conditions are in `packages/volant/test/etag/conditions.test.ts`. */
export function etags(kit: Kit): void {
  describe('etag', () => {
    const build = (): App => {
      const app = kit.app()
      app.use(etag())
      app.get('/x', (ctx) => ctx.header('cache-control', 'max-age=60').json({ hello: 'wörld' }))
      app.get('/large', () => 'x'.repeat(100_000))
      app.post('/x', (ctx) => ctx.bodyText)
      return app
    }

    test('a 304 is a head alone, and the connection goes on', async () => {
      await kit.serve(build(), async (live) => {
        const wire = await live.connect()
        const first = await wire.send(request('GET', '/x')).reply()
        const tag = first.headers['etag'] as string
        assert.match(tag, /^"[\w+/]{27}"$/)
        assert.deepEqual([first.status, first.headers['content-length']], [200, '18'])
        const same = await wire.send(request('GET', '/x', { 'if-none-match': tag })).reply()
        assert.deepEqual([same.status, same.reason, same.text], [304, 'Not Modified', ''])
        assert.deepEqual([same.headers['etag'], same.headers['cache-control']], [tag, 'max-age=60'])
        for (const name of ['content-type', 'content-length', 'transfer-encoding']) {
          assert.equal(same.headers[name], undefined, name)
        }
        assert.notEqual(same.headers['connection'], 'close')
        assert.ok(same.headers['date'])
        const again = await wire.send(request('GET', '/x')).reply()
        assert.deepEqual([again.status, again.text], [200, '{"hello":"wörld"}'])
        const body = await wire.send(request('POST', '/x', { 'if-none-match': '*' }, 'sent')).reply()
        assert.deepEqual([body.status, body.text, body.headers['etag']], [200, 'sent', undefined])
      })
    })

    test('HEAD', async () => {
      await kit.serve(build(), async (live) => {
        const wire = await live.connect()
        for (const path of ['/x', '/large']) {
          const { headers } = await wire.send(request('GET', path)).reply()
          const tag = headers['etag'] as string
          const head = await wire.send(request('HEAD', path)).reply('HEAD')
          assert.deepEqual([head.status, head.headers['etag']], [200, tag])
          assert.equal(head.headers['content-length'], headers['content-length'])
          const same = await wire.send(request('HEAD', path, { 'if-none-match': tag })).reply('HEAD')
          assert.deepEqual([same.status, same.headers['etag']], [304, tag])
        }
      })
    })

    test('several requests at once', async () => {
      await kit.serve(build(), async (live) => {
        const wire = await live.connect()
        const tag = (await wire.send(request('GET', '/large')).reply()).headers['etag'] as string
        const conditional = request('GET', '/large', { 'if-none-match': tag })
        const plain = request('GET', '/large')
        const statuses: [number, number][] = []
        for await (const reply of kit.replies(wire, [conditional, plain, conditional, conditional, plain])) {
          statuses.push([reply.status, reply.body.length])
        }
        const [same, whole] = [
          [304, 0],
          [200, 100_000],
        ]
        assert.deepEqual(statuses, [same, whole, same, same, whole])
      })
    })

    test('a stream whose handler tagged it is cancelled where the client has it', async () => {
      let cancelled = 0
      const app = kit.app()
      app.use(etag())
      app.get('/x', (ctx) => {
        ctx.header('etag', '"v1"')
        async function* parts(): AsyncGenerator<string> {
          try {
            yield 'hel'
            yield 'lo'
          } finally {
            cancelled++
          }
        }
        return ctx.stream(parts(), { type: 'text/plain' })
      })
      app.get('/source', (ctx) => {
        ctx.header('etag', '"v1"')
        return ctx.stream(new ReadableStream({ cancel: () => void cancelled++ }), { length: 5 })
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send(request('GET', '/x')).reply()).text, 'hello')
        assert.equal(cancelled, 1)
        for (const path of ['/x', '/source']) {
          const same = await wire.send(request('GET', path, { 'if-none-match': '"v1"' })).reply()
          assert.deepEqual([same.status, same.text, same.headers['content-length']], [304, '', undefined])
        }
        assert.equal(cancelled, 2)
        assert.equal((await wire.send(request('GET', '/x')).reply()).text, 'hello')
      })
    })
  })
}
