/** Middlewares that set header fields: cors, the five of polka's field, and helmet. */
import assert from 'node:assert/strict'
import { brief, type Client, type Seen } from '../src/client.ts'
import {
  cors,
  dnsPrefetchControl,
  frameguard,
  type Handle,
  helmet,
  hidePoweredBy,
  hsts,
  xssProtection,
} from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import { chunks, type Site } from '../src/site.ts'

const origin = 'https://shop.example'
const hello = () => ({ headers: { 'content-type': 'text/plain' }, body: 'hello' })
const plain: Handle = (_, res) => res.end('hello')

/** The same layers before a handler of the framework and one of Connect. */
function both(site: Site, ...layers: Handle[]): void {
  site.use(...layers)
  site.reply('GET', '/own', hello)
  site.handle('GET', '/connect', plain)
  site.reply('GET', '/stream', () => ({ body: chunks() }))
}

async function everywhere(client: Client, headers: Record<string, string> = {}): Promise<unknown[]> {
  const out: unknown[] = []
  for (const path of ['/own', '/connect', '/stream']) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await client.ask(path, { method, headers })
      assert.equal(reply.status, 200)
      out.push(reply)
    }
  }
  return out
}

/** The fields of a layer are on replies of both kinds, and on those to requests that no route takes. */
function sets(...names: string[]): (make: () => Handle[]) => Scenario {
  return (make) => ({
    build: (site) => both(site, ...make()),
    async play(client) {
      const replies = await everywhere(client)
      const missed = await client.get('/none')
      for (const name of names) assert.ok(missed.headers[name] !== undefined, name)
      // Express has a policy of its own for the pages of its errors.
      return [replies, brief(missed, ...names.filter((name) => name !== 'content-security-policy'))]
    },
  })
}

const preflight = {
  origin,
  'access-control-request-method': 'PUT',
  'access-control-request-headers': 'content-type, x-one',
}

/** An OPTIONS request that cors leaves alone is answered by the framework. */
function allowed(reply: Seen): unknown {
  return reply.headers['access-control-allow-methods'] === undefined
    ? (reply.headers['access-control-allow-origin'] ?? null)
    : reply
}

function corsCase(options: unknown, play?: Scenario['play']): Scenario {
  return {
    build(site) {
      both(site, options === undefined ? cors() : cors(options))
      site.reply('PUT', '/own', hello)
    },
    async play(client, made, live) {
      return [
        await everywhere(client, { origin }),
        await everywhere(client),
        allowed(await client.ask('/own', { method: 'OPTIONS', headers: preflight })),
        await client.ask('/own', { method: 'PUT', headers: { origin: 'https://other.example' } }),
        await play?.(client, made, live),
      ]
    },
  }
}

scenarios('cors', {
  'of any origin': corsCase(undefined),
  'of one origin': corsCase({ origin, credentials: true, maxAge: 600 }),
  'of origins in a list and by a pattern': corsCase({ origin: [/\.example$/, 'https://a.test'] }),
  'of an origin that a function decides on later': corsCase({
    origin: (_: unknown, done: (error: null, allowed: string) => void) =>
      setImmediate(() => done(null, origin)),
  }),
  'with the origin of the request': corsCase({ origin: true, exposedHeaders: ['x-one', 'x-two'] }),
  'with methods and headers of its own': corsCase({ methods: ['GET', 'PUT'], allowedHeaders: 'x-one' }),
  'that says no': corsCase({ origin: false }),
  'with another status for preflights': corsCase({ optionsSuccessStatus: 200 }),
  'options by request': corsCase((req: { url: string }, done: (error: null, options: unknown) => void) =>
    done(null, { origin: req.url === '/own' ? origin : false }),
  ),
  'that fails': {
    build: (site) =>
      both(
        site,
        cors({
          origin: (_: unknown, done: (error: Error) => void) =>
            done(Object.assign(new Error('no'), { status: 403 })),
        }),
      ),
    async play(client) {
      const reply = await client.get('/own', { origin })
      assert.equal(reply.status, 403)
      return brief(reply, 'access-control-allow-origin')
    },
  },
  'with preflights that go on': {
    build(site) {
      site.use(cors({ preflightContinue: true, origin }))
      site.handle('OPTIONS', '/own', (_, res) => {
        res.statusCode = 299
        res.end('mine')
      })
    },
    async play(client) {
      const reply = await client.ask('/own', { method: 'OPTIONS', headers: preflight })
      assert.equal(reply.text, 'mine')
      return reply
    },
  },
  'of one route': {
    build(site) {
      site.reply('GET', '/open', hello, cors())
      site.reply('GET', '/closed', hello)
    },
    play: async (client) => [await client.get('/open', { origin }), await client.get('/closed', { origin })],
  },
})

scenarios('dns-prefetch-control', {
  off: sets('x-dns-prefetch-control')(() => [dnsPrefetchControl()]),
  on: sets('x-dns-prefetch-control')(() => [dnsPrefetchControl({ allow: true })]),
})

scenarios('frameguard', {
  sameorigin: sets('x-frame-options')(() => [frameguard()]),
  deny: sets('x-frame-options')(() => [frameguard({ action: 'deny' })]),
})

const named: Handle = (_, res, next) => {
  res.setHeader('X-Powered-By', 'a test')
  next()
}

scenarios('hide-powered-by', {
  'removes what was set': scenario({
    build: (site) => both(site, named, hidePoweredBy()),
    async play(client) {
      const replies = await everywhere(client)
      assert.ok(!JSON.stringify(replies).includes('powered'))
      return replies
    },
  }),
  'sets another': sets('x-powered-by')(() => [named, hidePoweredBy({ setTo: 'PHP 4.2.0' })]),
})

scenarios('hsts', {
  'by default': sets('strict-transport-security')(() => [hsts()]),
  'with options': sets('strict-transport-security')(() => [
    hsts({ maxAge: 60, includeSubDomains: false, preload: true }),
  ]),
})

scenarios('x-xss-protection', { off: sets('x-xss-protection')(() => [xssProtection()]) })

scenarios('the six of them', {
  together: sets(
    'x-xss-protection',
    'strict-transport-security',
    'access-control-allow-origin',
  )(() => [cors(), dnsPrefetchControl(), frameguard(), hidePoweredBy(), hsts(), xssProtection()]),
})

scenarios('helmet', {
  'by default': sets('content-security-policy', 'x-content-type-options')(() => [helmet()]),
  'with a policy of the request': sets('content-security-policy')(() => [
    helmet({
      contentSecurityPolicy: {
        directives: { scriptSrc: ["'self'", (req: { url: string }) => `'nonce-${req.url.length}'`] },
      },
      crossOriginEmbedderPolicy: true,
      referrerPolicy: { policy: ['no-referrer', 'origin'] },
      strictTransportSecurity: false,
    }),
  ]),
  'whose policy fails': {
    build: (site) =>
      both(site, helmet({ contentSecurityPolicy: { directives: { scriptSrc: [() => 'a;b'] } } })),
    reports: true,
    async play(client) {
      const reply = await client.get('/own')
      assert.equal(reply.status, 500)
      return brief(reply)
    },
  },
})
