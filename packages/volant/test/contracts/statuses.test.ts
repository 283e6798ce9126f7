/** Statuses and media types that a route declares, and which replies are outside of its contract. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before } from 'volant'
import * as z from 'zod'
import { kit, reported, User } from './kit.ts'

describe('declared replies', () => {
  test('statuses: the declared ones, with content or without', async () => {
    const app = kit.app()
    const response = { 200: User, 202: null, 204: null, 409: z.object({ taken: z.string() }) }
    app.post('/one', { response }, (ctx) => ctx.reply(200, { id: 1, name: 'a' }))
    app.post('/two', { response }, (ctx) => ctx.reply(202))
    app.post('/three', { response }, () => {})
    app.post('/four', { response }, async (ctx) => ctx.reply(409, { taken: 'x' }))
    app.post('/five', { response }, (ctx) => ctx.reply(201 as 202))
    app.post('/six', { response }, (ctx) => ctx.json({ id: 1, name: 'a' }, 203 as 200))
    app.post('/seven', { response: { 201: User } }, () => ({ id: 1, name: 'a' }) as never)
    app.post('/eight', { response }, (ctx) => (ctx.reply as (...args: unknown[]) => never)(202, { id: 1 }))
    await kit.serve(app, async (live) => {
      const ask = async (path: string) => live.ask(path, { method: 'POST' })
      assert.equal((await ask('/one')).status, 200)
      const two = await ask('/two')
      assert.equal(two.status, 202)
      assert.equal(two.text, '')
      assert.equal((await ask('/three')).status, 204)
      const four = await ask('/four')
      assert.equal(four.status, 409)
      assert.deepEqual(four.json(), { taken: 'x' })
      for (const [path, message] of [
        ['/five', /replies with status 201 but declares 200, 202, 204, 409/],
        ['/six', /status 203/],
        ['/seven', /replies with status 200 but declares 201/],
        ['/eight', /declares status 202 without content and replied with a value/],
      ] as const) {
        assert.equal((await ask(path)).status, 500, path)
        reported('E_RESPONSE_STATUS', message)
      }
    })
  })

  test('files, streams and Response go as they are; middleware is not under the contract', async () => {
    const app = kit.app()
    const refuse = before((ctx) =>
      ctx.headers['x-key'] === undefined ? ctx.json({ no: 'key' }, 401) : undefined,
    )
    app.get('/stream', { response: User }, () => new Response('raw', { status: 203 }) as never)
    app.get('/file', { response: User }, (ctx) => void ctx.file(new URL(import.meta.url)) as never)
    app.get('/guarded', { response: User }, refuse, () => ({ id: 1, name: 'a' }))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/stream')).status, 203)
      assert.match((await live.ask('/file')).text, /kit\.serve/)
      assert.equal((await live.ask('/guarded')).status, 401)
      assert.equal((await live.ask('/guarded', { headers: { 'x-key': '1' } })).status, 200)
    })
  })

  test('a media type is sent unless the handler sets another; errors have their own', async () => {
    const app = kit.app()
    const options = { response: z.string(), mediaType: 'image/svg+xml', errors: { NONE: { status: 404 } } }
    app.get('/:what', options, (ctx) => {
      if (ctx.params.what === 'none') return ctx.fail('NONE')
      if (ctx.params.what === 'other') ctx.header('content-type', 'text/css')
      return '<svg/>'
    })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/svg')).headers['content-type'], 'image/svg+xml')
      assert.equal((await live.ask('/other')).headers['content-type'], 'text/css')
      const none = await live.ask('/none')
      assert.equal(none.headers['content-type'], 'application/problem+json; charset=utf-8')
    })
    assert.throws(() => app.get('/x', { mediaType: 'svg' }, () => ''), { code: 'E_BAD_OPTION' })
  })

  test('a contract without content is one, too', async () => {
    const app = kit.app()
    app.delete('/value', { response: { 204: null } }, () => ({ password: 'secret' }) as never)
    app.delete('/status', { response: { 204: null } }, (ctx) => ctx.reply(418 as 204))
    app.delete('/accepted', { response: { 202: null } }, (ctx) => ctx.reply(202))
    app.delete('/empty', { response: { 200: null } }, () => undefined as never)
    await kit.serve(app, async (live) => {
      const ask = async (path: string) => live.ask(path, { method: 'DELETE' })
      assert.equal((await ask('/value')).status, 500)
      reported('E_RESPONSE_STATUS', /replies with status 200 but declares 204/)
      assert.equal((await ask('/status')).status, 500)
      assert.equal((await ask('/accepted')).status, 202)
      assert.equal((await ask('/empty')).status, 200)
    })
  })

  test('text, bytes and redirects have a declared status; text is checked', async () => {
    const app = kit.app()
    const response = { 200: z.string().max(3), 302: null, 404: z.object({ a: z.string() }) }
    app.get('/good', { response }, (ctx) => ctx.text('abc') as never)
    app.get('/long', { response }, (ctx) => ctx.html('abcd') as never)
    app.get('/teapot', { response }, (ctx) => ctx.text('abc', 418) as never)
    app.get('/object', { response }, (ctx) => ctx.text('abc', 404) as never)
    app.get('/there', { response }, (ctx) => ctx.redirect('/good'))
    app.get('/gone', { response }, (ctx) => ctx.redirect('/good', 301) as never)
    app.get('/bytes', { response }, (ctx) => ctx.bytes(new Uint8Array(1), 206) as never)
    app.get('/stream', { response }, (ctx) => ctx.stream(['a'][Symbol.iterator](), { status: 206 }) as never)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/good')).text, 'abc')
      assert.equal((await live.ask('/there')).status, 302)
      for (const path of ['/long', '/teapot', '/object', '/gone', '/bytes', '/stream']) {
        assert.equal((await live.ask(path)).status, 500, path)
      }
    })
  })

  test('a middleware that catches what a handler throws replies as it likes', async () => {
    const app = kit.app()
    app.use(async (ctx, next) => {
      try {
        await next()
      } catch {
        ctx.json({ caught: ctx.path }, 418)
      }
    })
    app.get('/sync', { response: User }, () => {
      throw new Error('boom')
    })
    app.get('/async', { response: User }, async () => {
      throw new Error('boom')
    })
    app.get('/invalid', { response: User }, async () => ({}) as never)
    await kit.serve(app, async (live) => {
      for (const path of ['/sync', '/async', '/invalid']) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 418, path)
        assert.deepEqual(reply.json(), { caught: path })
      }
    })
  })

  test('errors are answered outside of the contract', async () => {
    const app = kit.app()
    app.onError((error, ctx) => ctx.json({ seen: (error as Error).message }, 418))
    app.get('/x', { response: User }, () => {
      throw new Error('boom')
    })
    app.get('/invalid', { response: User }, () => ({}) as never)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.status, 418)
      assert.deepEqual(reply.json(), { seen: 'boom' })
      assert.equal((await live.ask('/invalid')).status, 418)
    })
  })
})
