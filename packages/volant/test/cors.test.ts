import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cors, type CorsOptions, HTTPError, type VolantError } from 'volant'
import { Kit, type Live } from './kit.ts'
import type { Reply } from './kit.ts'

const here = 'https://app.example'
const elsewhere = 'https://evil.example'

const kit = new Kit()

const serving = (options: CorsOptions | undefined, run: (live: Live) => Promise<void>) => {
  const app = kit.app({ limits: { maxBodySize: 10 } })
  app.use(cors(options))
  app.get('/x', (ctx) => ctx.text('x'))
  app.put('/x', (ctx) => ctx.text('x'))
  app.get('/vary', (ctx) => ctx.header('Vary', 'accept').header('vary', 'Accept, cookie').text('x'))
  app.get('/appended', (ctx) => ctx.append('vary', 'origin').append('Vary', 'accept').text('x'))
  app.get('/teapot', () => {
    throw new HTTPError(418, 'short', { headers: { vary: 'accept' } })
  })
  app.get('/broken', () => {
    throw new Error('broken')
  })
  app.post('/upload', { beforeBody: () => {} }, (ctx) => ctx.text(String(ctx.bodyBytes.length)))
  app.options('/own', (ctx) => ctx.text('own'))
  return kit.serve(app, run)
}

const preflight = (live: Live, path: string, origin = here, more: Record<string, string> = {}) =>
  live.ask(path, {
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'PUT', ...more },
  })
const allowed = (reply: Reply) => reply.headers['access-control-allow-origin']
const ask = (live: Live, path: string, origin = here) => live.ask(path, { headers: { origin } })

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

  const nonsense: [string, unknown][] = [
    ['cors', null],
    ['cors', '*'],
    ['origins', { origins: '*' }],
    ['credentials', { credentials: true }],
    ['credentials', { origin: '*', credentials: true }],
    ['credentials', { origin: here, credentials: 'yes' }],
    ['origin', { origin: true }],
    ['origin', { origin: [] }],
    ['origin', { origin: [5] }],
    ['origin', { origin: ['*'] }],
    ['origin', { origin: 'app.example' }],
    ['origin', { origin: `${here}/` }],
    ['origin', { origin: `${here}:443` }],
    ['origin', { origin: `${here}/path` }],
    ['origin', { origin: `${here}\r\nx: y` }],
    ['origin', { origin: 'null', credentials: true }],
    ['origin', { origin: /app\.example/ }],
    ['origin', { origin: /app\.example$/ }],
    ['methods', { methods: 'GET' }],
    ['methods', { methods: ['GET, PUT'] }],
    ['allowedHeaders', { allowedHeaders: ['a b'] }],
    ['allowedHeaders', { allowedHeaders: ['*'], origin: here, credentials: true }],
    ['exposedHeaders', { exposedHeaders: ['a\r\nb'] }],
    ['maxAge', { maxAge: -1 }],
    ['maxAge', { maxAge: '600' }],
    ['maxAge', { maxAge: 1.5 }],
    ['maxAge', { maxAge: Infinity }],
    ['privateNetwork', { privateNetwork: 1 }],
  ]
  for (const [name, given] of nonsense) {
    test(`the option ${JSON.stringify(given, (_, value: unknown) => (value instanceof RegExp ? String(value) : value))} is refused`, () => {
      assert.throws(
        () => cors(given as CorsOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
