import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import type { Kit } from '../../kit.ts'

const seen = (ctx: Context) => ({ path: ctx.path, params: ctx.params })

/** Which path is which route, and how paths and queries are read. */
export function paths(kit: Kit): void {
  describe('routing', () => {
    const found: [string, string, string, Record<string, string>][] = [
      ['a static path', '/a/b', '/a/b', {}],
      ['the root', '/', '/', {}],
      ['a parameter', '/u/:id', '/u/7', { id: '7' }],
      ['two parameters', '/u/:id/p/:post', '/u/7/p/x', { id: '7', post: 'x' }],
      ['a decoded parameter', '/d/:v', '/d/a%20b', { v: 'a b' }],
      ['an escaped slash in a parameter', '/d/:v', '/d/a%2fb', { v: 'a/b' }],
      ['UTF-8 in a parameter', '/d/:v', '/d/%C3%A9', { v: 'é' }],
      [
        'a parameter with a suffix',
        '/badge/:label/:value.svg',
        '/badge/x/1.2.svg',
        { label: 'x', value: '1.2' },
      ],
      ['an optional parameter given', '/o/:x?', '/o/1', { x: '1' }],
      ['an optional parameter left out', '/o/:x?', '/o', {}],
      ['a wildcard', '/files/*rest', '/files/a/b.txt', { rest: 'a/b.txt' }],
      ['an unnamed wildcard', '/any/*', '/any/q', { '*': 'q' }],
      ['an escaped unreserved character in a static path', '/a/b', '/%61/b', {}],
      ['a plus in a path as itself', '/d/:v', '/d/a+b', { v: 'a+b' }],
      ['the name of an inherited property', '/d/:constructor', '/d/x', { constructor: 'x' }],
      ['absolute form', '/a/b', 'http://localhost/a/b', {}],
    ]

    for (const [name, pattern, path, params] of found) {
      test(name, path.startsWith('/') ? {} : kit.needs('target-forms'), async () => {
        const app = kit.app()
        app.get(pattern, seen)
        await kit.serve(app, async (live) => {
          const reply = await live.ask(path)
          assert.equal(reply.status, 200, reply.text)
          assert.deepEqual((reply.json() as { params: unknown }).params, { ...params })
        })
      })
    }

    const bad = [
      '/%zz',
      '/a/../b',
      '/%2e%2e/b',
      '/a%00b',
      '/%ff',
      '/a\\b',
      '/a{b',
      '/a}b',
      '/a`b',
      '/a"b',
      '/a<b',
      '/a>b',
      '/a\x7fb',
    ]

    for (const path of bad) {
      test(`refuses ${path} with 400`, async () => {
        const app = kit.app()
        app.get('/*', seen)
        await kit.serve(app, async (live) => assert.equal((await live.ask(path)).status, 400))
      })
    }

    // URL parsers of clients leave these raw, and RFC 3986 does not allow them in a path.
    const encoded = { '|': '%7C', '^': '%5E', '[': '%5B', ']': '%5D' }

    for (const [raw, escape] of Object.entries(encoded)) {
      test(`a raw ${raw} in a path is ${escape}, in patterns as well`, async () => {
        const app = kit.app()
        const paths: string[] = []
        app.onResponse(({ path }) => void paths.push(path))
        app.get(`/fixed${raw}`, seen)
        app.get(`/of/:v.${raw}`, seen)
        app.get('/rest/*', seen)
        app.group(`/in${raw}`, (inside) => inside.onNotFound((ctx) => ({ inside: ctx.path })))
        await kit.serve(app, async (live) => {
          // Twice: an adapter may remember the first.
          for (const text of [raw, raw, escape, escape.toLowerCase()]) {
            const answers: [string, unknown][] = [
              [`/fixed${text}`, { path: `/fixed${escape}`, params: {} }],
              [`/of/x${text}.${text}`, { path: `/of/x${escape}.${escape}`, params: { v: `x${raw}` } }],
              [`/rest/a${text}/b`, { path: `/rest/a${escape}/b`, params: { '*': `a${raw}/b` } }],
            ]
            for (const [path, expected] of answers) {
              assert.deepEqual((await live.ask(path)).json(), expected)
              assert.equal(paths.at(-1), (expected as { path: string }).path)
            }
            const lost = await live.ask(`/in${text}/x`)
            assert.deepEqual(lost.json(), { inside: `/in${escape}/x` })
          }
        })
      })
    }

    test('a path that is past maxUrlLength once it is canonical is 414', async () => {
      const app = kit.app({ limits: { maxUrlLength: 100, maxParamLength: 100 } })
      app.get('/*', seen)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask(`/${'|'.repeat(33)}`)).status, 200)
        assert.equal((await live.ask(`/${'|'.repeat(33)}a`)).status, 414)
        assert.equal((await live.ask(`/${'a'.repeat(99)}`)).status, 200)
      })
    })

    for (const character of ['"', '<', '>', '`', '{', '}', '\\', '|', '^', '[', ']', "'"]) {
      test(`a raw ${character} in a query stays as it is`, async () => {
        const app = kit.app()
        app.get('/x', (ctx) => ({ url: ctx.url, q: ctx.query['q'] }))
        await kit.serve(app, async (live) => {
          const reply = await live.ask(`/x?q=a${character}b`)
          assert.deepEqual(reply.json(), { url: `/x?q=a${character}b`, q: `a${character}b` })
        })
      })
    }

    test('static before parameter before wildcard', async () => {
      const app = kit.app()
      app.get('/s/*', () => 'wildcard')
      app.get('/s/:x', () => 'parameter')
      app.get('/s/fixed', () => 'static')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/s/fixed')).text, 'static')
        assert.equal((await live.ask('/s/other')).text, 'parameter')
        assert.equal((await live.ask('/s/a/b')).text, 'wildcard')
      })
    })

    test('trailing slash and case matter by default', async () => {
      const app = kit.app()
      app.get('/Users', () => 1)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/Users')).status, 200)
        assert.equal((await live.ask('/Users/')).status, 404)
        assert.equal((await live.ask('/users')).status, 404)
      })
    })

    test('trailing slash and case ignored when asked to', async () => {
      const app = kit.app({ router: { caseSensitive: false, ignoreTrailingSlash: true } })
      app.get('/Users/:name', (ctx) => ctx.params.name)
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/uSERS/Bob/')).text, 'Bob')
      })
    })

    test('the query: values, repeats, escapes, and no prototype', async () => {
      const app = kit.app()
      app.get('/q', (ctx) => ({
        query: ctx.query,
        url: ctx.url,
        proto: Object.hasOwn(ctx.query, '__proto__'),
      }))
      await kit.serve(app, async (live) => {
        const reply = (await live.ask('/q?a=1&b=x%20y&b=z+w&c&__proto__=p&%C3%A9=%C3%A8&x=10%')).text
        const { query, url, proto } = JSON.parse(reply) as {
          query: Record<string, unknown>
          url: string
          proto: boolean
        }
        assert.equal(query['a'], '1')
        assert.deepEqual(query['b'], ['x y', 'z w'])
        assert.equal(query['c'], '')
        assert.equal(query['é'], 'è')
        assert.equal(query['x'], '10%')
        assert.equal(proto, true)
        assert.equal(url, '/q?a=1&b=x%20y&b=z+w&c&__proto__=p&%C3%A9=%C3%A8&x=10%')
      })
    })

    test('routes that conflict are refused by name', () => {
      const app = kit.app()
      app.get('/a/:x', () => 1)
      assert.throws(() => app.get('/a/:y', () => 1), /\/a\/:y.*\/a\/:x/)
      assert.throws(() => app.get('no-slash' as '/x', () => 1), /start with/)
    })
  })
}
