/** Which origins may read a reply. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type CorsOptions } from 'volant'
import { allowed, ask, here, preflight, serving } from './kit.ts'

const elsewhere = 'https://evil.example'

describe('cors', () => {
  test('without options every page may read every reply', async () => {
    await serving(undefined, async (live) => {
      for (const [path, status] of [
        ['/x', 200],
        ['/none', 404],
        ['/teapot', 418],
        ['/broken', 500],
      ] as const) {
        const reply = await ask(live, path)
        assert.equal(reply.status, status)
        assert.equal(allowed(reply), '*', path)
        assert.equal(reply.headers['access-control-allow-credentials'], undefined)
      }
      const reply = await live.ask('/x')
      assert.equal(allowed(reply), '*')
      assert.equal(reply.headers['vary'], undefined)
      const wrong = await live.ask('/x', { method: 'DELETE', headers: { origin: here } })
      assert.equal(wrong.status, 405)
      assert.equal(allowed(wrong), '*')
    })
  })

  test('listed origins are told apart, and caches are told so', async () => {
    await serving({ origin: [here, 'http://localhost:5173'], credentials: true }, async (live) => {
      for (const origin of [here, 'http://localhost:5173']) {
        const reply = await ask(live, '/x', origin)
        assert.equal(allowed(reply), origin)
        assert.equal(reply.headers['access-control-allow-credentials'], 'true')
        assert.equal(reply.headers['vary'], 'Origin')
      }
      for (const origin of [
        elsewhere,
        'null',
        `${here}.evil.example`,
        'http://localhost',
        here.toUpperCase(),
      ]) {
        const reply = await ask(live, '/x', origin)
        assert.equal(reply.status, 200)
        assert.equal(allowed(reply), undefined, origin)
        assert.equal(reply.headers['access-control-allow-credentials'], undefined)
        assert.equal(reply.headers['vary'], 'Origin')
      }
      const bare = await live.ask('/x')
      assert.equal(allowed(bare), undefined)
      assert.equal(bare.headers['vary'], 'Origin')
      for (const path of ['/none', '/teapot', '/broken']) {
        const reply = await ask(live, path)
        assert.equal(allowed(reply), here)
        assert.match(reply.headers['vary'] ?? '', /Origin/)
      }
    })
  })

  test('a RegExp matches whole origins, and keeps no state', async () => {
    const options = {
      origin: [/^https:\/\/([a-z]+\.)?app\.example$|^http:\/\/dev$/gi, 'https://b.example'],
    }
    await serving(options, async (live) => {
      for (const origin of [here, here, 'https://www.app.example', 'http://dev', 'https://b.example']) {
        assert.equal(allowed(await ask(live, '/x', origin)), origin)
      }
      for (const origin of [
        'https://app.example.evil.example',
        'https://evilapp.example',
        'http://dev.evil',
      ]) {
        assert.equal(allowed(await ask(live, '/x', origin)), undefined, origin)
      }
    })
    await serving({ origin: /^.*$/ }, async (live) => {
      assert.equal(allowed(await ask(live, '/x', 'null')), undefined)
      assert.equal(allowed(await ask(live, '/x', `https://${'a'.repeat(600)}.example`)), undefined)
    })
    await serving({ origin: 'null' }, async (live) => {
      assert.equal(allowed(await ask(live, '/x', 'null')), 'null')
    })
  })

  test('a function decides, at once or later', async () => {
    const asked: string[] = []
    for (const later of [false, true]) {
      const check = (origin: string): boolean | string => {
        asked.push(origin)
        if (origin === 'https://broken.example') throw new Error('no database')
        if (origin === 'https://alias.example') return here
        return origin === here
      }
      const origin: CorsOptions['origin'] = later ? async (text) => check(text) : check
      await serving({ origin, credentials: true }, async (live) => {
        assert.equal(allowed(await ask(live, '/x')), here)
        assert.equal(allowed(await ask(live, '/x', elsewhere)), undefined)
        assert.equal(allowed(await ask(live, '/x', 'https://alias.example')), here)
        assert.equal(allowed(await preflight(live, '/none')), here)
        const broken = await ask(live, '/x', 'https://broken.example')
        assert.equal(broken.status, 500)
        assert.equal(broken.headers['vary'], 'Origin')
        const before = asked.length
        assert.equal((await live.ask('/x')).headers['vary'], 'Origin')
        assert.equal(asked.length, before)
      })
    }
  })

  test('what a function returns cannot widen or split the reply', async () => {
    for (const [origin, credentials] of [
      ['*', true],
      ['https://a\r\nset-cookie: a=b', false],
    ] as const) {
      await serving({ origin: () => origin, credentials }, async (live) => {
        const reply = await ask(live, '/x')
        assert.equal(reply.status, 500)
        assert.equal(allowed(reply), undefined)
        assert.equal(reply.headers['set-cookie'], undefined)
      })
    }
  })
})
