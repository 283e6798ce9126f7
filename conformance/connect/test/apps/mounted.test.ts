/** Whole apps of Express 4 and Express 5, mounted by fromConnect. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { brief, type Client, requestBytes, seen } from '../../src/client.ts'
import { express4, express5, type Handle, type Next, type Req, type Res } from '../../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../../src/scenario.ts'

const json =
  (body: unknown): Handle =>
  (_, res) =>
    res['json'](body)

const paths = [
  '/send-text',
  '/send-bytes',
  '/send-json',
  '/json',
  '/jsonp?callback=f',
  '/status',
  '/empty',
  '/redirect',
  '/redirect-301',
  '/cookie',
  '/type',
  '/format',
  '/links',
  '/attachment',
  '/file',
  '/download',
  '/render',
  '/render-locals',
  '/stream',
  '/chunks',
  '/request',
  '/request?a=1&a=2&b[c]=3',
  '/own-error',
  '/cart/7/items/8',
  '/cart/7/items/skip/it',
  '/route',
  '/static/a.txt',
]

const failing = ['/next', '/none', '/throws', '/fails', '/no-file', '/unexpected']

scenarios('Express apps', {
  'of version 5 under a prefix': mounted(5, '/shop'),
  'of version 5 at the root': mounted(5, '/'),
  'of version 4 under a prefix': mounted(4, '/shop'),
  'of version 4 at the root': mounted(4, '/'),
  'several requests on one connection': scenario({
    memory: false,
    build(site) {
      const root = folder()
      site.mount('/', shop(express5, root))
      return root
    },
    after: (root) => rmSync(root, { recursive: true }),
    async play(client) {
      const wire = await client.connect()
      const out: unknown[] = []
      for (const path of ['/json', '/chunks', '/request', '/send-text']) {
        wire.send(requestBytes('GET', path))
        out.push(seen(await wire.reply()))
      }
      return out
    },
  }),
})

type Express = typeof express5

function folder(): string {
  const root = mkdtempSync(join(tmpdir(), 'connect-apps-'))
  for (const [name, content] of Object.entries({ 'a.txt': 'a file of text', 'page.tpl': 'hello NAME' })) {
    writeFileSync(join(root, name), content)
    utimesSync(join(root, name), 1_700_000_000, 1_700_000_000)
  }
  return root
}

/** An app that uses most of what Express adds to requests and replies. */
function shop(express: Express, root: string): Handle {
  const app = express()
  app.disable('x-powered-by')
  app.set('env', 'test')
  app.set('trust proxy', 'loopback')
  app.set('views', root)
  app.set('view engine', 'tpl')
  app.engine('tpl', (_path: string, locals: { name: string }, done: (error: null, text: string) => void) =>
    done(null, `hello ${locals.name}`),
  )
  app.locals.name = 'of the app'
  app.use(express.json(), express.urlencoded({ extended: false }))
  app.use((_req: Req, res: Res, next: Next) => {
    res['locals'].name = 'of the reply'
    res['set']('X-App', 'shop')
    next()
  })

  const about: Record<string, Handle> = {
    '/send-text': (_, res) => res['send']('<p>text</p>'),
    '/send-bytes': (_, res) => res['send'](Buffer.from('bytes')),
    '/send-json': (_, res) => res['status'](201).send({ a: 1 }),
    '/json': json({ a: [1, 2, null], b: 'ü' }),
    '/jsonp': (_, res) => res['jsonp']({ a: 1 }),
    '/status': (_, res) => res['sendStatus'](404),
    '/empty': (_, res) => res['status'](204).end(),
    '/redirect': (_, res) => res['redirect']('/elsewhere?a=b'),
    '/redirect-301': (_, res) => res['redirect'](301, 'https://a.example/ü'),
    '/cookie': (_, res) =>
      res['cookie']('a', 'b c', { maxAge: 0, path: '/x' })
        .cookie('j', { x: 1 })
        .clearCookie('old')
        .end('set'),
    '/type': (_, res) => res['type']('html').send('<p>'),
    '/format': (_, res) =>
      res['format']({ text: () => res['send']('text'), json: () => res['send']({ json: true }) }),
    '/links': (_, res) =>
      res['links']({ next: '/2', last: '/9' })
        .vary('X-One')
        .append('X-Many', 'a')
        .append('X-Many', 'b')
        .send('x'),
    '/attachment': (_, res) => res['attachment']('a b.txt').send('content'),
    '/file': (_, res) => res['sendFile']('a.txt', { root }),
    '/download': (_, res) => res['download'](join(root, 'a.txt'), 'other.txt'),
    '/no-file': (_, res, next) =>
      res['sendFile']('none.txt', { root }, (error: { status?: number }) => next(error)),
    '/render': (_, res) => res['render']('page', { name: 'Ada' }),
    '/render-locals': (_, res) => res['render']('page'),
    '/stream': (_, res) => Readable.from(['one ', 'two ', 'three']).pipe(res),
    '/chunks': (_, res) => {
      res.write('one ')
      setImmediate(() => res.end('two'))
    },
    '/request': (req, res) =>
      res['json']([
        [req.url, req.originalUrl, req.baseUrl, req['path'], req.method],
        [
          req['query'],
          req['ip'],
          req['ips'],
          req['protocol'],
          req['secure'],
          req['hostname'],
          req['subdomains'],
          req['xhr'],
        ],
        [
          req['get']('X-One') ?? null,
          req['is']('json'),
          req['accepts'](['html', 'json']),
          req['acceptsLanguages']('de', 'en'),
        ],
        [req['fresh'], req['stale'], typeof req['app'], req['res'] === res, res['req'] === req],
      ]),
    '/next': (_req, _res, next) => next(),
    '/throws': () => {
      throw Object.assign(new Error('thrown'), { status: 418, headers: { 'X-Of-Error': 'yes' } })
    },
    '/fails': (_req, _res, next) => next(Object.assign(new Error('given to next'), { status: 409 })),
    '/own-error': (_req, _res, next) => next({ mine: true }),
    '/unexpected': () => {
      throw new Error('unexpected')
    },
  }
  for (const [path, handle] of Object.entries(about)) app.get(path, handle)
  app.post('/body', (req: Req, res: Res) =>
    res['json']([req['body'] ?? null, req['is']('json'), req['get']('content-length')]),
  )
  app.put('/raw', (req: Req, res: Res) => {
    let size = 0
    req.on('data', (part: Buffer) => (size += part.length))
    req.on('end', () => res['json']([size]))
  })
  app.use('/static', express.static(root))

  const router = express.Router({ mergeParams: true })
  router.param('item', (req: Req, _res: Res, next: Next, item: string) => {
    req['item'] = `item ${item}`
    next()
  })
  router.get('/:item', (req: Req, res: Res) =>
    res['json']([req['params'], req['item'], req.baseUrl, req.url]),
  )
  router.get('/skip/it', (_req: Req, _res: Res, next: Next) => next('router'))
  app.use('/cart/:cart/items', router)
  app.get('/cart/:cart/items/skip/it', (_req: Req, res: Res) => res['send']('after the router'))
  app.get(
    '/route',
    (_req: Req, _res: Res, next: Next) => next('route'),
    (_req: Req, res: Res) => res['send']('left out'),
  )
  app.get('/route', (_req: Req, res: Res) => res['send']('the second route'))
  app.use((error: { mine?: boolean }, _req: Req, res: Res, next: Next) =>
    error.mine === true ? res['status'](422).send('mine') : next(error),
  )
  return app as Handle
}

async function everything(client: Client, prefix: string): Promise<unknown[]> {
  const out: unknown[] = []
  const headers = {
    'x-one': '1',
    'x-forwarded-for': '9.9.9.9, 8.8.8.8',
    'x-forwarded-proto': 'https',
    'accept-language': 'de',
    host: 'a.b.shop.example:81',
  }
  for (const path of paths) {
    for (const method of ['GET', 'HEAD']) {
      const reply = await client.ask(prefix + path, { method, headers })
      if (!path.startsWith('/status'))
        assert.ok(reply.status < 400 || path === '/own-error', `${path}: ${reply.status}`)
      out.push([method, path, reply])
    }
  }
  for (const path of failing) {
    const reply = await client.get(prefix + path, headers)
    assert.ok(reply.status >= 400, path)
    out.push([path, brief(reply, 'x-of-error')])
  }
  const tag = (await client.get(`${prefix}/send-text`)).headers['etag'] ?? ''
  out.push(
    await client.get(`${prefix}/send-text`, { 'if-none-match': tag }),
    await client.get(`${prefix}/static/a.txt`, { range: 'bytes=0-3' }),
    await client.get(`${prefix}/format`, { accept: 'application/json' }),
    await client.post(`${prefix}/body`, 'application/json', '{"a":1}'),
    await client.post(`${prefix}/body`, 'application/x-www-form-urlencoded', 'a=1&b=2'),
    brief(await client.post(`${prefix}/body`, 'application/json', '{"a":')),
    await client.ask(`${prefix}/raw`, { method: 'PUT', body: Buffer.alloc(200_000) }),
  )
  return out
}

function mounted(version: 4 | 5, prefix: string): Scenario {
  return scenario({
    express: version,
    reports: true,
    build(site) {
      const root = folder()
      site.mount(prefix, shop(version === 4 ? express4 : express5, root))
      site.reply('GET', '/route-of-ours', () => ({ headers: { 'content-type': 'text/plain' }, body: 'ours' }))
      return root
    },
    after: (root) => rmSync(root, { recursive: true }),
    async play(client) {
      return [await everything(client, prefix === '/' ? '' : prefix), await client.get('/route-of-ours')]
    },
  })
}
