import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { z } from 'zod'
import { Kit } from '../kit.ts'

const kit = new Kit()

describe('messages', () => {
  test('inject takes a path, or a whole URL', async () => {
    const app = kit.app()
    app.get('/users', () => 'all')
    const message = /^inject: url takes a path that starts with '\/'.*, not "users"$/
    await assert.rejects(app.inject('users'), { code: 'E_BAD_OPTION', message })
    assert.equal((await app.inject('http://localhost/users')).text(), 'all')
  })

  const circle: Record<string, unknown> = { list: [1] }

  circle['self'] = { 'a b': [{ circle }] }

  let deep: unknown[] = []

  for (let level = 0; level < 50_000; level++) deep = [deep]

  test('a body that was not JSON says how it was read', async () => {
    const app = kit.app()
    app.post('/x', { body: z.object({ age: z.number() }) }, () => 1)
    app.post('/first', { body: z.object({ age: z.number() }), beforeBody: () => undefined }, () => 1)
    await kit.serve(app, async (live) => {
      const detail = async (path: string, type: string | null, body: string) =>
        ((await live.post(path, type, body)).json() as { detail: string }).detail
      const form = 'application/x-www-form-urlencoded'
      for (const path of ['/x', '/first']) {
        assert.equal(
          await detail(path, form, 'age=1'),
          `The request is not valid; the body was read as ${form}`,
        )
        assert.match(
          await detail(path, 'Text/Plain; charset=utf-8', '1'),
          /; the body was read as text\/plain$/,
        )
        assert.match(await detail(path, null, '{}'), /; the body has no Content-Type and was read as bytes$/)
        assert.match(await detail(path, null, ''), /; the request has no body$/)
        assert.equal(await detail(path, 'application/json', '{}'), 'The request is not valid')
      }
    })
  })

  test('413 and 422 have the names of RFC 9110 everywhere', async () => {
    const app = kit.app({ limits: { maxBodySize: 10 } })
    app.post('/x', (ctx) => ctx.body)
    app.get('/413', (ctx) => ctx.reply(413))
    app.get('/422', (ctx) => ctx.reply(422))
    await kit.serve(app, async (live) => {
      const refused = await live.post('/x', 'text/plain', 'x'.repeat(20))
      assert.equal((refused.json() as { title: string }).title, 'Content Too Large')
      assert.equal((await live.ask('/413')).statusText, 'Content Too Large')
      assert.equal((await live.ask('/422')).statusText, 'Unprocessable Content')
    })
    const injected = await app.inject({ method: 'POST', url: '/x', body: 'x'.repeat(20) })
    assert.equal(injected.statusText, 'Content Too Large')
    assert.equal(injected.json<{ title: string }>().title, 'Content Too Large')
  })
})
