import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { serving, json } from './kit.ts'

const jobs = Array.from({ length: 200 }, (_, id) => ({
  id,
  title: 'Software engineer',
  employer: 'acme corp',
}))

describe('veloze', () => {
  test('what its conformance test asks', () =>
    serving('veloze', async (ask) => {
      const root = await ask('/')
      assert.equal(root.status, 200)
      assert.equal(root.headers.get('content-type'), 'application/json; charset=utf-8')
      assert.deepEqual(root.value, { hello: 'world' })
      assert.deepEqual((await ask('/kitty')).value, { hello: 'kitty' })
      const posted = await ask('/', json({ hello: 'new' }))
      assert.equal(posted.status, 201)
      assert.deepEqual(posted.value, { created: true })
      assert.equal((await ask('/foo', { method: 'PUT' })).status, 405)
      assert.equal((await ask('/foo/bar')).status, 404)
    }))

  test('with six middlewares', () =>
    serving('veloze-with-middlewares', async (ask) => {
      const reply = await ask('/')
      assert.deepEqual(reply.value, { hello: 'world' })
      for (const [name, value] of [
        ['access-control-allow-origin', '*'],
        ['x-dns-prefetch-control', 'off'],
        ['x-frame-options', 'SAMEORIGIN'],
        ['x-powered-by', null],
        ['strict-transport-security', 'max-age=15552000; includeSubDomains'],
        ['x-xss-protection', '0'],
      ] as const) {
        assert.equal(reply.headers.get(name), value, name)
      }
    }))

  test('200 records', () =>
    serving('veloze-big-json', async (ask) => {
      assert.deepEqual((await ask('/')).value, jobs)
    }))
})
