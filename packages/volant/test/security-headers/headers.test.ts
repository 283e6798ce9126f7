import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { securityHeaders, type SecurityHeadersOptions, type VolantError } from 'volant'
import { Kit } from '../kit.ts'
import { usual } from './usual.ts'

const kit = new Kit()

const appWith = (options?: SecurityHeadersOptions) => {
  const app = kit.app()
  app.use(securityHeaders(options))
  app.get('/x', (ctx) => ctx.text('x'))
  return app
}

describe('securityHeaders', () => {
  test('without options: the whole set, errors included', async () => {
    const app = appWith()
    app.get('/broken', (ctx) => {
      ctx.header('content-language', 'en')
      throw new Error('broken')
    })
    await kit.serve(app, async (live) => {
      for (const path of ['/x', '/none', '/broken']) {
        const { headers } = await live.ask(path)
        for (const [name, value] of Object.entries(usual)) {
          assert.equal(headers[name], value, `${name} of ${path}`)
        }
        assert.match(headers['permissions-policy'] ?? '', /camera=\(\), .*geolocation=\(\)/)
        assert.equal(headers['cross-origin-embedder-policy'], undefined)
        assert.equal(headers['strict-transport-security'], undefined)
        assert.equal(headers['content-language'], undefined)
      }
    })
  })

  test('Strict-Transport-Security is for requests by https, or for all where that is asked for', async () => {
    const app = kit.app({ trustProxy: true })
    app.use(securityHeaders())
    app.get('/x', (ctx) => ctx.text('x'))
    await kit.serve(app, async (live) => {
      const byProxy = { 'x-forwarded-proto': 'https', host: 'app.example' }
      const secure = await live.ask('/x', { headers: byProxy })
      assert.equal(secure.headers['strict-transport-security'], 'max-age=31536000; includeSubDomains')
      assert.equal(secure.headers['x-frame-options'], 'DENY')
      assert.equal((await live.ask('/x')).headers['strict-transport-security'], undefined)
    })
    await kit.serve(appWith(), async ({ app: direct }) => {
      const overTls = await direct.fetch(new Request('https://app.example/x'))
      assert.equal(overTls.headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains')
    })
    const forced = { maxAge: 63_072_000, preload: true, force: true }
    await kit.serve(appWith({ strictTransportSecurity: forced }), async (live) => {
      const reply = await live.ask('/x')
      assert.equal(reply.headers['strict-transport-security'], 'max-age=63072000; includeSubDomains; preload')
    })
  })

  test('Strict-Transport-Security is not for localhost, whose other ports have no https', async () => {
    await kit.serve(appWith(), async ({ app }) => {
      const rows: [host: string, isSent: boolean][] = [
        ['localhost', false],
        ['localhost:8443', false],
        ['shop.localhost:8443', false],
        ['localhost.example', true],
        ['notlocalhost', true],
      ]
      for (const [host, isSent] of rows) {
        const { headers } = await app.fetch(new Request(`https://${host}/x`))
        assert.equal(headers.has('strict-transport-security'), isSent, host)
        assert.equal(headers.get('x-frame-options'), 'DENY')
      }
    })
  })

  test('each header has other values, or is left out', async () => {
    const options: SecurityHeadersOptions = {
      contentSecurityPolicy: { defaultSrc: ["'none'"], upgradeInsecureRequests: true, sandbox: [] },
      strictTransportSecurity: { maxAge: 0, includeSubDomains: false, force: true },
      xFrameOptions: 'SAMEORIGIN',
      referrerPolicy: ['no-referrer', 'strict-origin-when-cross-origin'],
      crossOriginOpenerPolicy: 'same-origin-allow-popups',
      crossOriginResourcePolicy: 'cross-origin',
      crossOriginEmbedderPolicy: 'require-corp',
      permissionsPolicy: { camera: [], geolocation: ['self', 'https://maps.example'], fullscreen: '*' },
      reportingEndpoints: { csp: '/csp-reports', other: 'https://reports.example/a?b=c' },
      xPermittedCrossDomainPolicies: 'master-only',
      xDnsPrefetchControl: 'on',
    }
    await kit.serve(appWith(options), async (live) => {
      const { headers } = await live.ask('/x')
      const seen = {
        'content-security-policy': "default-src 'none'; upgrade-insecure-requests; sandbox",
        'strict-transport-security': 'max-age=0',
        'x-frame-options': 'SAMEORIGIN',
        'referrer-policy': 'no-referrer, strict-origin-when-cross-origin',
        'cross-origin-opener-policy': 'same-origin-allow-popups',
        'cross-origin-resource-policy': 'cross-origin',
        'cross-origin-embedder-policy': 'require-corp',
        'permissions-policy': 'camera=(), geolocation=(self "https://maps.example"), fullscreen=*',
        'reporting-endpoints': 'csp="/csp-reports", other="https://reports.example/a?b=c"',
        'x-permitted-cross-domain-policies': 'master-only',
        'x-dns-prefetch-control': 'on',
      }
      for (const [name, value] of Object.entries(seen)) assert.equal(headers[name], value, name)
    })
    const none = {
      contentSecurityPolicy: false,
      strictTransportSecurity: false,
      xContentTypeOptions: false,
      xFrameOptions: false,
      referrerPolicy: false,
      crossOriginOpenerPolicy: false,
      crossOriginResourcePolicy: false,
      crossOriginEmbedderPolicy: false,
      permissionsPolicy: false,
      xPermittedCrossDomainPolicies: false,
      xDnsPrefetchControl: false,
      originAgentCluster: false,
      xXssProtection: false,
    } as const
    await kit.serve(appWith(none), async (live) => {
      const { headers } = await live.ask('/x')
      const left = ['connection', 'content-length', 'content-type', 'date']
      assert.deepEqual(
        Object.keys(headers).filter((name) => !left.includes(name)),
        [],
      )
    })
  })

  test('what the handler and inner scopes set replaces it', async () => {
    const app = appWith()
    app.get('/own', (ctx) => ctx.header('X-Frame-Options', 'SAMEORIGIN').text('x'))
    app.group('/docs', (docs) => {
      docs.use(securityHeaders({ referrerPolicy: 'origin', contentSecurityPolicy: { defaultSrc: ['*'] } }))
      docs.get('/x', () => 'x')
    })
    app.use('/late', async (ctx, next) => {
      ctx.append('set-cookie', 'a=b')
      await next()
    })
    await kit.serve(app, async (live) => {
      const own = await live.ask('/own')
      assert.equal(own.headers['x-frame-options'], 'SAMEORIGIN')
      const docs = await live.ask('/docs/x')
      assert.equal(docs.headers['referrer-policy'], 'origin')
      assert.equal(docs.headers['content-security-policy'], 'default-src *')
      assert.equal((await live.ask('/docs/none')).headers['referrer-policy'], 'origin')
    })
  })

  test('headers set before it stay', async () => {
    const app = kit.app()
    app.use(async (ctx, next) => {
      ctx.header('x-before', '1').header('X-Frame-Options', 'SAMEORIGIN')
      await next()
    })
    app.use(securityHeaders())
    app.get('/x', (ctx) => ctx.text('x'))
    await kit.serve(app, async (live) => {
      const { headers } = await live.ask('/x')
      assert.equal(headers['x-before'], '1')
      assert.equal(headers['x-frame-options'], 'DENY')
    })
  })

  const nonsense: [string, unknown][] = [
    ['securityHeaders', null],
    ['frameguard', { frameguard: true }],
    ['contentSecurityPolicy', { contentSecurityPolicy: true }],
    ['contentSecurityPolicy', { contentSecurityPolicy: null }],
    ['contentSecurityPolicy', { contentSecurityPolicy: () => 1 }],
    ['csp', { contentSecurityPolicy: {} }],
    ['strictTransportSecurity.maxAge', { strictTransportSecurity: { maxAge: -1 } }],
    ['strictTransportSecurity.maxAge', { strictTransportSecurity: { maxAge: '1y' } }],
    ['strictTransportSecurity.preload', { strictTransportSecurity: { maxAge: 1, preload: true } }],
    ['strictTransportSecurity', { strictTransportSecurity: { age: 1 } }],
    ['strictTransportSecurity', { strictTransportSecurity: 'max-age=1' }],
    ['xFrameOptions', { xFrameOptions: 'ALLOW-FROM https://a.example' }],
    ['xContentTypeOptions', { xContentTypeOptions: true }],
    ['referrerPolicy', { referrerPolicy: 'none' }],
    ['referrerPolicy', { referrerPolicy: [] }],
    ['permissionsPolicy', { permissionsPolicy: 'a\r\nb' }],
    ['permissionsPolicy', { permissionsPolicy: { 'a=b': [] } }],
    ['permissionsPolicy.camera', { permissionsPolicy: { camera: true } }],
    ['permissionsPolicy.camera', { permissionsPolicy: { camera: ['https://a.example"'] } }],
    ['reportingEndpoints', { reportingEndpoints: '/csp-reports' }],
    ['reportingEndpoints', { reportingEndpoints: { 'a=b': '/x' } }],
    ['reportingEndpoints.csp', { reportingEndpoints: { csp: 'http://a.example' } }],
    ['reportingEndpoints.csp', { reportingEndpoints: { csp: '//a.example' } }],
    ['reportingEndpoints.csp', { reportingEndpoints: { csp: '/x", evil="/y' } }],
    ['originAgentCluster', { originAgentCluster: '?1' }],
    ['xXssProtection', { xXssProtection: '1' }],
  ]
  for (const [name, given] of nonsense) {
    test(`the option ${JSON.stringify(given)} is refused`, () => {
      assert.throws(
        () => securityHeaders(given as SecurityHeadersOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
