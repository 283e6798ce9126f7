/** Input that means harm, by every library. How long a refusal takes is in refusal-cost.test.ts. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Problem } from 'volant'
import { Kit } from '../kit.ts'
import { good, items, libraries, type Schemas } from './libraries.ts'

const kit = new Kit()

for (const [library, api] of Object.entries(libraries)) describe(`schemas of ${library}`, () => badInput(api))

function badInput(api: Schemas): void {
  const code = (reply: { json(): unknown }) => (reply.json() as Problem).code

  test('__proto__, wherever it is', async () => {
    const app = kit.app()
    items(app, api)
    app.post('/body', { body: api.body }, (ctx) => ctx.json({ own: Object.keys(ctx.body) }))
    await kit.serve(app, async (live) => {
      const headers = { 'x-key': 'key' }
      const send = (path: string, body: string, more: Record<string, string> = {}) =>
        live.post(path, 'application/json', body, { ...headers, ...more })
      const text = JSON.stringify(good)
      assert.equal((await send('/items/__proto__', text)).status, 400)
      const query = await send('/items/1?__proto__=1&__proto__[x]=1&constructor=1&toString=1', text)
      assert.equal(query.status, 200)
      const header = await send('/items/1', text, { __proto__: 'x', cookie: '__proto__=1; constructor=1' })
      assert.equal(header.status, 200)
      for (const [inner, outer] of [
        ['{"__proto__":{"name":"ann"}', text.slice(1)],
        ['{"\\u005f_proto__":1', text.slice(1)],
      ]) {
        assert.equal(code(await send('/items/1', `${inner},${outer}`)), 'E_JSON_PROTO')
      }
      const deep = text.replace('{"city":', '{"__proto__":{"x":1},"city":')
      assert.equal(code(await send('/items/1', deep)), 'E_JSON_PROTO')
      const form = await live.post('/body', 'application/x-www-form-urlencoded', '__proto__=1&name=ann')
      assert.equal(form.status, 400)
      assert.equal(({} as Record<string, unknown>)['x'], undefined)
      assert.equal(({} as Record<string, unknown>)['name'], undefined)
    })
  })

  test('too many keys, too deep, too long', async () => {
    const app = kit.app()
    items(app, api)
    await kit.serve(app, async (live) => {
      const send = (query: string, body: string) =>
        live.post(`/items/1?${query}`, 'application/json', body, { 'x-key': 'key' })
      const text = JSON.stringify(good)
      assert.equal(code(await send('a&'.repeat(1_001), text)), 'E_QUERY_TOO_MANY_KEYS')
      const many = await send('a&'.repeat(10_000), text).catch(() => null)
      assert.ok(many === null || [400, 414, 431].includes(many.status))
      assert.equal(code(await send('', '['.repeat(100_000))), 'E_JSON_DEPTH')
      assert.equal(code(await send('', `${'['.repeat(65)}${']'.repeat(65)}`)), 'E_JSON_DEPTH')
    })
  })

  test('wrong content types are told', async () => {
    const app = kit.app()
    app.post('/x', { body: api.body }, () => 'passed')
    await kit.serve(app, async (live) => {
      const text = JSON.stringify(good)
      const plain = (await live.post('/x', 'text/plain', text)).json() as Problem
      assert.equal(plain.code, 'E_VALIDATION')
      assert.match(plain.detail as string, /read as text\/plain/)
      const form = await live.post('/x', 'application/x-www-form-urlencoded', 'name=ann')
      assert.match((form.json() as Problem).detail as string, /x-www-form-urlencoded/)
      assert.equal((await live.post('/x', 'application/xml', text)).status, 415)
      const none = (await live.post('/x', null, text)).json() as Problem
      assert.match(none.detail as string, /no Content-Type/)
      const empty = (await live.ask('/x', { method: 'POST' })).json() as Problem
      assert.match(empty.detail as string, /no body/)
    })
  })

  test('a large body, all of it wrong, is refused in few words', async () => {
    const app = kit.app()
    app.post('/x', { body: api.body }, () => 'passed')
    await kit.serve(app, async (live) => {
      const bodies = [
        // ArkType takes its time for each issue, however many there are.
        { ...good, lines: Array.from({ length: 5_000 }, () => 1) },
        { ...good, lines: Array.from({ length: 2_500 }, () => ({ sku: 1 })) },
        { ...good, size: 'x'.repeat(1_000_000) },
        Object.fromEntries(Array.from({ length: 60_000 }, (_, at) => [`key${at}`, 1])),
      ]
      for (const body of bodies) {
        const reply = await live.post('/x', 'application/json', JSON.stringify(body))
        assert.deepEqual([reply.status, code(reply)], [400, 'E_VALIDATION'])
        const { errors = [] } = reply.json() as Problem
        assert.ok(errors.length > 0 && errors.length <= 100)
        assert.ok(reply.text.length < 100_000, String(reply.text.length))
      }
    })
  })
}
