import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Context, Verb, VolantError } from 'volant'
import type { Kit } from '../kit.ts'

const seen = (ctx: Context) => ({ path: ctx.path, params: ctx.params })

export function routing(kit: Kit): void {
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

    test('404 is a problem', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/y')
        assert.equal(reply.status, 404)
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        const { type, title, status, code } = reply.json() as Record<string, unknown>
        assert.deepEqual([type, title, status, code], ['about:blank', 'Not Found', 404, 'E_NOT_FOUND'])
      })
    })

    test('405 names the methods in Allow', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.put('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'DELETE' })
        assert.equal(reply.status, 405)
        assert.deepEqual(reply.headers['allow']?.split(', ').sort(), ['GET', 'HEAD', 'OPTIONS', 'PUT'])
      })
    })

    test('OPTIONS without a route is 204 with Allow', async () => {
      const app = kit.app()
      app.post('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'OPTIONS' })
        assert.equal(reply.status, 204)
        assert.deepEqual(reply.headers['allow']?.split(', ').sort(), ['OPTIONS', 'POST'])
        assert.equal(reply.headers['content-length'], undefined)
        assert.equal((await live.ask('/nowhere', { method: 'OPTIONS' })).status, 404)
      })
    })

    test('OPTIONS * lists every method', kit.needs('target-forms'), async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.delete('/y', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('*', { method: 'OPTIONS' })
        assert.equal(reply.status, 204)
        assert.match(reply.headers['allow'] ?? '', /GET/)
        assert.match(reply.headers['allow'] ?? '', /DELETE/)
      })
    })

    test('a route of its own for OPTIONS', async () => {
      const app = kit.app()
      app.options('/x', () => 'mine')
      await kit.serve(app, async (live) =>
        assert.equal((await live.ask('/x', { method: 'OPTIONS' })).text, 'mine'),
      )
    })

    test('HEAD runs the GET route and sends its length without a body', async () => {
      const app = kit.app()
      let method = ''
      app.get('/x', (ctx) => {
        method = ctx.method
        return 'hello'
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x', { method: 'HEAD' })
        assert.equal(reply.status, 200)
        assert.equal(reply.headers['content-length'], '5')
        assert.equal(reply.headers['content-type'], 'text/plain; charset=utf-8')
        assert.equal(method, 'HEAD')
      })
    })

    test('a route of its own for HEAD', async () => {
      const app = kit.app()
      app.get('/x', () => 'get')
      app.head('/x', (ctx) => ctx.header('x-head', '1').text(''))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x', { method: 'HEAD' })).headers['x-head'], '1')
        assert.equal((await live.ask('/x')).text, 'get')
      })
    })

    test('every verb', async () => {
      const app = kit.app()
      for (const verb of ['get', 'post', 'put', 'patch', 'delete', 'options'] as const) {
        const register: Verb<string> = app[verb]
        register('/v', (ctx) => ctx.method)
      }
      await kit.serve(app, async (live) => {
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
          assert.equal((await live.ask('/v', { method })).text, method)
        }
      })
    })

    test('all and on', async () => {
      const app = kit.app()
      app.all('/all', (ctx) => ctx.method)
      app.on(['PUT', 'PATCH'], '/on', (ctx) => ctx.method)
      await kit.serve(app, async (live) => {
        for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS'])
          assert.equal((await live.ask('/all', { method })).text, method)
        assert.equal((await live.ask('/on', { method: 'PATCH' })).text, 'PATCH')
        assert.equal((await live.ask('/on')).status, 405)
      })
    })

    for (const method of ['BREW', 'PURGE', 'trace']) {
      test(`${method} is 501`, async () => {
        const app = kit.app()
        app.all('/x', () => 1)
        await kit.serve(app, async (live) => assert.equal((await live.ask('/x', { method })).status, 501))
      })
    }

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

    test('middleware: order, around the handler, and state', async () => {
      const app = kit.app()
      const order: string[] = []
      app.use(async (ctx, next) => {
        order.push('a')
        ctx.state['user'] = 'ann'
        await next()
        order.push(`a${ctx.status()}`)
      })
      app.use((_ctx, next) => {
        order.push('b')
        return next()
      })
      app.get(
        '/m',
        (_ctx, next) => {
          order.push('c')
          return next()
        },
        (ctx) => {
          order.push('handler')
          ctx.status(201)
          return { user: ctx.state['user'] as unknown }
        },
      )
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/m')
        assert.equal(reply.status, 201)
        assert.deepEqual(reply.json(), { user: 'ann' })
        assert.deepEqual(order, ['a', 'b', 'c', 'handler', 'a201'])
      })
    })

    test('middleware runs for routes registered before it, and for 404, 405 and OPTIONS', async () => {
      const app = kit.app()
      app.get('/x', () => 1)
      app.use((ctx, next) => {
        ctx.header('x-mw', ctx.method)
        return next()
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).headers['x-mw'], 'GET')
        assert.equal((await live.ask('/none')).headers['x-mw'], 'GET')
        assert.equal((await live.ask('/x', { method: 'PUT' })).headers['x-mw'], 'PUT')
        assert.equal((await live.ask('/x', { method: 'OPTIONS' })).headers['x-mw'], 'OPTIONS')
      })
    })

    test('middleware that replies keeps the handler from running', async () => {
      const app = kit.app()
      let ran = false
      app.use((ctx) => ctx.json({ no: true }, 401))
      app.get('/x', () => {
        ran = true
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).status, 401)
        assert.equal(ran, false)
      })
    })

    test('middleware may return the reply', async () => {
      const app = kit.app()
      app.use(async (ctx) => {
        ctx.status(403)
        return { no: true }
      })
      app.get('/x', () => 1)
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 403)
        assert.deepEqual(reply.json(), { no: true })
      })
    })

    test('next() twice is an error', async () => {
      const app = kit.app()
      app.use(async (_ctx, next) => {
        await next()
        await next()
      })
      app.get('/x', () => 'once')
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        assert.equal((await live.ask('/x')).text, 'once')
        const { code, message } = kit.reports[before] as VolantError
        assert.equal(code, 'E_NEXT_TWICE')
        assert.match(message, /^a middleware of GET \/x called next\(\) more than once: /)
      })
    })

    test('next() without await or return still gives the reply', async () => {
      const app = kit.app()
      app.use((_ctx, next) => {
        void next()
      })
      app.use(async (_ctx, next) => {
        void next()
      })
      app.get('/x', async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        return 'late'
      })
      app.get('/fails', async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        throw new Error('late')
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, 'late')
        assert.equal((await live.ask('/fails')).status, 500)
      })
    })

    test('onNotFound replies with 404 unless told otherwise', async () => {
      const app = kit.app()
      app.onNotFound((ctx) => ({ lost: ctx.path }))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/gone')
        assert.equal(reply.status, 404)
        assert.deepEqual(reply.json(), { lost: '/gone' })
      })
    })
  })
}
