/** What a client sends is what handlers see. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClient } from 'volant/client'
import { born, kit, serverOf } from './kit.ts'

describe('client', () => {
  test('parameters, query, fields, cookies and bodies arrive as they were given', async () => {
    const { app, api } = serverOf()
    await kit.serve(app, async ({ address }) => {
      const { echo } = createClient<typeof api>(address.url)
      const got = async (
        input: Partial<Parameters<typeof echo>[0]>,
        options?: Parameters<typeof echo>[1],
      ) => {
        const reply = await echo({ params: { a: 'a', rest: 'r' }, ...input }, options)
        assert.ok(reply.ok)
        return reply.data
      }
      for (const a of ['a b', 'a/b', 'ä', '%2e%2e', '..a', 'a?b#c', '+', '😀', '1', 'a:b', 'a;b=c']) {
        assert.equal((await got({ params: { a, rest: 'x' } })).params.a, a, a)
      }
      for (const rest of ['a/b', 'a//b', 'a/', 'ä/%/?', '...']) {
        assert.equal((await got({ params: { a: 'x', rest } })).params.rest, rest, rest)
      }
      const query = {
        'a b': 'c&d=e',
        list: ['x', 'y+z'],
        number: -1.5,
        big: 2n ** 64n,
        no: false,
        at: born,
        gone: undefined,
        none: null,
        empty: '',
        nothing: [],
        __proto: 'x',
      }
      assert.deepEqual((await got({ query })).query, {
        'a b': 'c&d=e',
        list: ['x', 'y+z'],
        number: '-1.5',
        big: String(2n ** 64n),
        no: 'false',
        at: born.toISOString(),
        empty: '',
        __proto: 'x',
      })
      const cookies = { session: 'a; b=c', n: 5, gone: undefined }
      assert.deepEqual((await got({ cookies })).cookies, { session: 'a; b=c', n: '5' })
      assert.equal((await got({ headers: { 'X-Key': 7 } })).key, '7')
      assert.equal((await got({}, { headers: { 'x-key': 'own' } })).key, 'own')

      const json = 'application/json'
      for (const body of [{ a: [1, null, 'x'] }, [], 'text', '', 0, false, null]) {
        assert.deepEqual(await got({ body }).then((data) => [data.body, data.type]), [body, json])
      }
      const form = new URLSearchParams({ a: '1', b: 'c d' })
      assert.deepEqual((await got({ body: form })).body, { a: '1', b: 'c d' })
      assert.deepEqual((await got({ body: new Uint8Array([1, 2, 255]) })).body, [1, 2, 255])
      const blob = await got({ body: new Blob(['<a>'], { type: 'text/html' }) })
      assert.deepEqual([blob.body, blob.type], ['<a>', 'text/html'])
      const csv = await got({ body: 'a,b' }, { headers: { 'content-type': 'text/csv' } })
      assert.deepEqual([csv.body, csv.type], ['a,b', 'text/csv'])
      assert.equal((await got({})).body, null)
    })
  })

  test('what would lead to another path, or has no text, is refused before anything is sent', async () => {
    const { app, api } = serverOf()
    let sent = 0
    const fetch = async (request: Request): Promise<Response> => {
      if (!request.url.endsWith('.json')) sent++
      return app.fetch(request)
    }
    const { echo, users } = createClient<typeof api>('http://server.test', { fetch })
    const loose = echo as (input?: object) => Promise<unknown>
    for (const a of ['', '.', '..', null, undefined, {}, [], Symbol('x')]) {
      await assert.rejects(loose({ params: { a, rest: 'x' } }), { name: 'TypeError', message: /\ba\b/ })
    }
    for (const rest of ['', '/', '/etc/passwd', '//evil.test/', '..', 'a/../b', './a', 'a/.', 'a/..']) {
      await assert.rejects(loose({ params: { a: 'x', rest } }), { name: 'TypeError', message: /\brest\b/ })
    }
    await assert.rejects(loose(), { name: 'TypeError', message: /parameter a is missing/ })
    await assert.rejects(loose({ params: Object.create({ a: 'x', rest: 'y' }) as object }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, query: { deep: { a: 1 } } }), {
      name: 'TypeError',
      message: /^deep cannot be of type object/,
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, headers: { 'x-key': 'a\r\nb: c' } }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, cookies: { 'a=b; c': '1' } }), {
      name: 'TypeError',
    })
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, cookies: { '': '1' } }), {
      name: 'TypeError',
      message: '"" cannot be the name of a cookie',
    })
    for (const body of [() => 1, Symbol('x'), { toJSON: () => undefined }, 1n]) {
      await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, body }), { name: 'TypeError' })
    }
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    await assert.rejects(loose({ params: { a: 'x', rest: 'y' }, body: cycle }), { name: 'TypeError' })
    assert.equal(sent, 0)
    assert.equal((await users.add({ body: { name: 'ada' } })).status, 201)
    assert.equal(sent, 1)
  })
})
