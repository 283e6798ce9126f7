/** `cors` beside what else concerns a reply: scopes, Vary, refused bodies. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors } from 'volant'
import { allowed, ask, here, kit, preflight, serving } from './kit.ts'

describe('cors', () => {
  test('Vary of the app and of cors are one', async () => {
    await serving({ origin: here }, async (live) => {
      assert.equal((await ask(live, '/vary')).headers['vary'], 'Origin, accept, cookie')
      assert.equal((await ask(live, '/appended')).headers['vary'], 'Origin, accept')
      assert.equal((await ask(live, '/teapot')).headers['vary'], 'Origin, accept')
    })
    const app = kit.app()
    app.use(async (ctx, next) => {
      ctx.header('vary', 'accept, ORIGIN')
      await next()
    })
    app.use(cors({ origin: here }))
    app.get('/x', (ctx) => ctx.text('x'))
    app.get('/star', (ctx) => ctx.header('vary', '*').text('x'))
    await kit.serve(app, async (live) => {
      assert.equal((await ask(live, '/x')).headers['vary'], 'accept, ORIGIN')
      assert.equal((await ask(live, '/star')).headers['vary'], '*')
    })
  })

  test('a scope has its own, and leaves the others alone', async () => {
    const app = kit.app()
    app.get('/x', () => 'x')
    app.group('/api', (api) => {
      api.use(cors({ origin: here }))
      api.get('/x', () => 'x')
    })
    await kit.serve(app, async (live) => {
      assert.equal(allowed(await ask(live, '/x')), undefined)
      assert.equal(allowed(await ask(live, '/api/x')), here)
      assert.equal(allowed(await preflight(live, '/api/none')), here)
      assert.equal(allowed(await preflight(live, '/x')), undefined)
    })
  })

  test('a body refused by a handler still lets the page read why', async () => {
    await serving({ origin: here }, async (live) => {
      const { status, headers } = await live.app.inject({
        method: 'POST',
        url: '/upload',
        headers: { origin: here },
        body: (async function* () {
          yield '0123456789'
          yield '0123456789'
        })(),
      })
      assert.equal(status, 413)
      assert.equal(headers['access-control-allow-origin'], here)
    })
  })
})
