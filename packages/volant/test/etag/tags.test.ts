/** Which replies have a tag, and what it is made of. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { etag, HTTPError } from 'volant'
import { kit, serving } from './kit.ts'

describe('etag', () => {
  test('the tag is strong, and made of content type and content', async () => {
    await serving(async (live) => {
      const tagOf = async (path: string) => (await live.ask(path)).headers['etag'] ?? ''
      const digest = createHash('sha1').update('text/plain; charset=utf-8\n').update('hello').digest('base64')
      assert.equal(await tagOf('/text'), `"${digest.slice(0, 27)}"`)
      assert.equal(await tagOf('/later'), await tagOf('/text'))
      assert.equal(await tagOf('/typed'), await tagOf('/html'))
      const tags = await Promise.all(['/text', '/json', '/bytes', '/html', '/empty'].map(tagOf))
      assert.equal(new Set(tags).size, 5)
      for (const tag of tags) assert.match(tag, /^"[A-Za-z0-9+/]{27}"$/)
    })
  })

  test('with `weak` it is the same tag, weak', async () => {
    let strong = ''
    await serving(async (live) => void (strong = (await live.ask('/text')).headers['etag'] ?? ''))
    await serving(
      async (live) => {
        assert.equal((await live.ask('/text')).headers['etag'], `W/${strong}`)
        assert.equal((await live.ask('/own')).headers['etag'], '"v1"')
        const reply = await live.ask('/text', { headers: { 'if-none-match': strong } })
        assert.deepEqual([reply.status, reply.headers['etag']], [304, `W/${strong}`])
        assert.equal((await live.ask('/text', { headers: { 'if-match': `W/${strong}` } })).status, 412)
      },
      { weak: true },
    )
  })

  test('HEAD has the tag of GET', async () => {
    await serving(async (live) => {
      for (const path of ['/text', '/json', '/own']) {
        const { headers } = await live.ask(path)
        const head = await live.ask(path, { method: 'HEAD' })
        assert.equal(head.headers['etag'], headers['etag'])
        assert.equal(head.headers['content-length'], headers['content-length'])
        const conditional = { method: 'HEAD', headers: { 'if-none-match': headers['etag'] as string } }
        assert.equal((await live.ask(path, conditional)).status, 304)
      }
    })
  })

  test('other methods, other statuses, streams and replies that nobody may store have no tag', async () => {
    const app = kit.app()
    app.use(etag())
    app.post('/x', () => 'hello')
    app.put('/x', (ctx) => ctx.header('etag', '"v1"').text('hello'))
    app.get('/created', (ctx) => ctx.text('hello', 201))
    app.get('/nothing', () => null)
    app.get('/teapot', () => {
      throw new HTTPError(418)
    })
    app.get('/broken', () => {
      throw new Error('broken')
    })
    app.get('/stream', () => new Response('hello').body)
    app.get('/secret', (ctx) => ctx.header('cache-control', 'private, No-Store').text('hello'))
    app.get('/tagged', (ctx) => ctx.header('cache-control', 'no-store').header('etag', '"v1"').text('hello'))
    app.get('/redirect', (ctx) => ctx.redirect('/x'))
    await kit.serve(app, async (live) => {
      for (const [path, status] of [
        ['/created', 201],
        ['/nothing', 204],
        ['/teapot', 418],
        ['/broken', 500],
        ['/none', 404],
        ['/stream', 200],
        ['/secret', 200],
        ['/redirect', 302],
      ] as const) {
        const reply = await live.ask(path, { headers: { 'if-none-match': '*' } })
        assert.deepEqual([reply.status, reply.headers['etag']], [status, undefined], path)
      }
      const post = await live.ask('/x', { method: 'POST', headers: { 'if-none-match': '*' } })
      assert.deepEqual([post.status, post.headers['etag']], [200, undefined])
      // What If-Match means for a PUT is the handler's to say, before it has changed anything.
      const put = await live.ask('/x', { method: 'PUT', headers: { 'if-match': '"x"' } })
      assert.deepEqual([put.status, put.headers['etag']], [200, '"v1"'])
      assert.equal((await live.ask('/tagged', { headers: { 'if-none-match': '"v1"' } })).status, 304)
    })
  })

  test('the tag is made of what the hooks before it have left', async () => {
    let note = 'a'
    const app = kit.app()
    app.use(etag())
    app.onSend((_, reply) => {
      reply.body = `${note}: ${String(reply.body)}`
    })
    app.get('/x', () => 'hello')
    await kit.serve(app, async (live) => {
      const tag = (await live.ask('/x')).headers['etag'] as string
      const headers = { 'if-none-match': tag }
      assert.equal((await live.ask('/x', { headers })).status, 304)
      note = 'b'
      assert.equal((await live.ask('/x', { headers })).text, 'b: hello')
    })
  })
})
