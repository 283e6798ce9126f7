/** The page that shows a document. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { openapi, securityHeaders, type VolantError } from 'volant'
import { Kit } from '../kit.ts'

const info = { title: 'Test', version: '1.0.0' }

const kit = new Kit()

describe('openapi', () => {
  test('the page names its files and the document relatively, wherever it is', async () => {
    const app = kit.app()
    app.register(openapi, { info: { title: 'A <"Test">', version: '1' } })
    app.group('/v2', (group) => {
      group.register(openapi, { info, path: '/api/schema', page: '/api/reference', servers })
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/docs')
      assert.equal(reply.status, 200)
      assert.equal(reply.headers['content-type'], 'text/html; charset=utf-8')
      assert.match(reply.text, /<title>A &lt;&quot;Test&quot;&gt;<\/title>/)
      for (const [path, text] of [
        ['/docs', reply.text],
        ['/v2/api/reference', (await live.ask('/v2/api/reference')).text],
      ] as const) {
        const addresses = [...text.matchAll(/(?:src|data-document)="([^"]+)"/g)]
        assert.equal(addresses.length, 3)
        for (const [, address] of addresses) {
          const { pathname } = new URL(address as string, `http://localhost${path}`)
          assert.equal((await live.ask(pathname)).status, 200, pathname)
        }
      }
    })
  })

  const servers = [
    { url: 'https://api.example:8443/v1' },
    { url: 'https://api.example:8443/v2' },
    { url: '/v3' },
    {
      url: 'https://api-{env}.example/{version}',
      variables: { env: { default: 'live', enum: ['live', 'test'] }, version: { default: 'https://no' } },
    },
    {
      url: '{scheme}://{host}',
      variables: {
        scheme: { default: 'http' },
        host: { default: 'host:80', enum: ['host:81', "'self'; x"] },
      },
    },
    { url: 'https://{unknown}.example' },
  ]

  test('without servers the page asks where it is, also behind a proxy that adds a prefix', async () => {
    const app = kit.app()
    app.group('/v2', (group) => {
      group.register(openapi, { info, page: '/api/reference' })
    })
    await kit.serve(app, async (live) => {
      const path = '/v2/api/reference'
      const { text } = await live.ask(path)
      const dataset = Object.fromEntries(
        [...text.matchAll(/ data-(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
      )
      const asked: { servers?: object; url?: string }[] = []
      runInNewContext((await live.ask('/v2/api/reference/start.js')).text, {
        document: { querySelector: () => ({ dataset }) },
        location: { href: `https://example/prefix${path}?x#y`, origin: 'https://example' },
        URL,
        Scalar: { createApiReference: (_: unknown, options: object) => asked.push(options) },
      })
      assert.equal(asked[0]?.url, 'https://example/prefix/v2/openapi.json')
      assert.equal(JSON.stringify(asked[0]?.servers), '[{"url":"https://example/prefix"}]')
    })
  })

  test('the page may load what is its own and ask the servers of the document, and nothing else', async () => {
    const app = kit.app()
    app.use(securityHeaders())
    app.register(openapi, { info, servers })
    await kit.serve(app, async (live) => {
      const policy = (await live.ask('/docs')).headers['content-security-policy'] as string
      const directives = new Map(policy.split('; ').map((each) => [each.split(' ')[0], each]))
      assert.equal(directives.get('default-src'), "default-src 'none'")
      assert.equal(directives.get('script-src'), "script-src 'self'")
      assert.equal(
        directives.get('connect-src'),
        "connect-src 'self' https://api.example:8443 https://api-live.example https://api-test.example http://host:80 http://host:81",
      )
      assert.equal(directives.get('frame-ancestors'), "frame-ancestors 'none'")
    })
  })

  test('the bundle is compressed for those who take that, and sent once', async () => {
    const app = kit.app()
    app.register(openapi, { info })
    await kit.serve(app, async (live) => {
      const headers = { 'accept-encoding': 'gzip, deflate, br' }
      const wire = await live.ask('/docs/reference.js', { method: 'HEAD', headers })
      assert.equal(wire.headers['content-encoding'], 'gzip')
      assert.equal(wire.headers['content-type'], 'text/javascript; charset=utf-8')
      assert.match(wire.headers['vary'] as string, /accept-encoding/i)
      const etag = wire.headers['etag'] as string
      assert.equal(
        (await live.ask('/docs/reference.js', { headers: { ...headers, 'if-none-match': etag } })).status,
        304,
      )
      const plain = await live.ask('/docs/reference.js')
      assert.equal(plain.headers['content-encoding'], undefined)
      assert.ok(plain.text.length > Number(wire.headers['content-length']))
    })
  })

  for (const [options, message] of [
    [{ info, page: '/' }, 'openapi.page'],
    [{ info, page: true }, 'openapi.page'],
    [{}, 'openapi: info'],
    [{ info, path: 'openapi' }, 'openapi.path'],
    [{ info, path: '/' }, 'openapi.path'],
    [{ info, pages: false }, 'openapi has no option "pages"; did you mean "page"?'],
  ] as const) {
    test(`${JSON.stringify(options)} is refused`, () => {
      assert.throws(
        () => kit.app().register(openapi, options as never),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith(message),
      )
    })
  }
})
