/** Preflights, and what they allow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { allowed, ask, here, preflight, serving } from './kit.ts'

const elsewhere = 'https://evil.example'

describe('cors', () => {
  test('a preflight is answered whether there is a route or not, and before a route of its own', async () => {
    await serving(undefined, async (live) => {
      for (const path of ['/x', '/none', '/own', '/broken']) {
        const reply = await preflight(live, path, here, { 'access-control-request-headers': 'x-a, X-B' })
        assert.equal(reply.status, 204, path)
        assert.equal(reply.text, '')
        assert.equal(allowed(reply), '*')
        assert.equal(
          reply.headers['access-control-allow-methods'],
          'GET, HEAD, POST, PUT, PATCH, DELETE, QUERY',
        )
        assert.equal(reply.headers['access-control-allow-headers'], 'x-a, X-B')
        assert.equal(reply.headers['vary'], 'Access-Control-Request-Headers')
        assert.equal(reply.headers['access-control-max-age'], undefined)
      }
    })
  })

  test('other OPTIONS requests are not its affair', async () => {
    await serving(undefined, async (live) => {
      assert.equal((await live.ask('/own', { method: 'OPTIONS', headers: { origin: here } })).text, 'own')
      const plain = await live.ask('/x', { method: 'OPTIONS' })
      assert.equal(plain.status, 204)
      assert.match(plain.headers['allow'] ?? '', /GET/)
      const noOrigin = await live.ask('/own', {
        method: 'OPTIONS',
        headers: { 'access-control-request-method': 'PUT' },
      })
      assert.equal(noOrigin.text, 'own')
    })
  })

  test('a preflight of an origin that is not allowed gets 204 and nothing else', async () => {
    await serving({ origin: here }, async (live) => {
      const no = await preflight(live, '/x', elsewhere)
      assert.equal(no.status, 204)
      assert.deepEqual(
        Object.keys(no.headers).filter((name) => name.startsWith('access-control-')),
        [],
      )
      assert.equal(no.headers['vary'], 'Origin, Access-Control-Request-Headers')
      const yes = await preflight(live, '/x')
      assert.equal(allowed(yes), here)
    })
  })

  test('methods, headers, age and private network', async () => {
    const options = {
      methods: ['get', 'PUT'],
      allowedHeaders: ['x-a', 'X-B'],
      exposedHeaders: ['x-total', 'link'],
      maxAge: 600,
      privateNetwork: true,
    }
    await serving(options, async (live) => {
      const reply = await preflight(live, '/x', here, {
        'access-control-request-headers': 'x-other',
        'access-control-request-private-network': 'true',
      })
      assert.equal(reply.headers['access-control-allow-methods'], 'GET, PUT')
      assert.equal(reply.headers['access-control-allow-headers'], 'x-a, X-B')
      assert.equal(reply.headers['access-control-max-age'], '600')
      assert.equal(reply.headers['access-control-allow-private-network'], 'true')
      assert.equal(reply.headers['access-control-expose-headers'], undefined)
      assert.equal(reply.headers['vary'], undefined)
      const actual = await ask(live, '/x')
      assert.equal(actual.headers['access-control-expose-headers'], 'x-total, link')
      assert.equal(actual.headers['access-control-allow-methods'], undefined)
    })
    await serving({}, async (live) => {
      const more = { 'access-control-request-private-network': 'true' }
      const reply = await preflight(live, '/x', here, more)
      assert.equal(reply.headers['access-control-allow-private-network'], undefined)
    })
  })

  test('names that are none are not sent back', async () => {
    await serving({}, async (live) => {
      for (const names of ['a b', 'x-a,', ',', 'x-a;q=1', `${'x,'.repeat(2_000)} (`]) {
        const reply = await preflight(live, '/x', here, { 'access-control-request-headers': names })
        assert.equal(reply.status, 204)
        assert.equal(reply.headers['access-control-allow-headers'], undefined, names.slice(0, 20))
      }
    })
  })
})
