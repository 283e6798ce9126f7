/** The middlewares together, as an application has them, and many clients at once. */
import assert from 'node:assert/strict'
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { setImmediate as turn } from 'node:timers/promises'
import { eventually } from '@volant/test-kit'
import { type Client, type Seen } from '../src/client.ts'
import {
  bodyParser,
  compression,
  cookieParser,
  cors,
  flash,
  type Handle,
  helmet,
  LocalStrategy,
  morgan,
  multer,
  type Next,
  Passport,
  type Req,
  type Res,
  type Rescue,
  serveStatic,
} from '../src/layers.ts'
import { scenario, scenarios } from '../src/scenario.ts'
import { Jar, sessions, type SlowStore } from '../src/sessions.ts'
import { json, type Site } from '../src/site.ts'

interface Shop {
  root: string
  lines: string[]
  store: SlowStore
}

interface User {
  id: number
  name: string
}

/** A shop with accounts, as Express applications are built. */
function shop(site: Site): Shop {
  const root = mkdtempSync(join(tmpdir(), 'connect-shop-'))
  writeFileSync(join(root, 'app.js'), 'let it = "be";\n'.repeat(200))
  utimesSync(join(root, 'app.js'), 1_700_000_000, 1_700_000_000)
  const lines: string[] = []
  const { layer, store } = sessions({ rolling: true })
  const auth = new Passport()
  auth.use(
    new LocalStrategy({}, (name: string, password: string, done: (error: null, user: User | false) => void) =>
      setImmediate(() => done(null, password === `${name}!` ? { id: Number(name.slice(4)), name } : false)),
    ),
  )
  auth.serializeUser((user: User, done: (error: null, id: number) => void) => done(null, user.id))
  auth.deserializeUser((id: number, done: (error: null, user: User) => void) =>
    setImmediate(() => done(null, { id, name: `user${id}` })),
  )
  site.use(
    morgan(':method :url :status :res[content-length] :res[content-encoding]', {
      stream: { write: (line: string) => void lines.push(line.trimEnd().replace(/ 302 .*/, ' 302')) },
    }),
    helmet(),
    cors({ origin: 'https://shop.example', credentials: true }),
    compression({ threshold: 200 }),
    cookieParser('keyboard cat'),
    bodyParser.json(),
    bodyParser.urlencoded({ extended: true }),
    layer,
    flash(),
    auth.initialize(),
    auth.session(),
  )
  site.mount('/assets', serveStatic(root, { maxAge: '1h' }))
  site.handle(
    'POST',
    '/login',
    auth.authenticate('local', { failureFlash: 'wrong', failureRedirect: '/flashes' }),
    (req, res) => res.end(`hello ${req['user'].name}`),
  )
  site.handle('POST', '/logout', (req, res, next) => {
    req['logout']((error: unknown) => (error ? next(error) : res.end('bye')))
  })
  site.reply('GET', '/flashes', (req) => json(req['flash']()))
  site.handle('POST', '/cart', (req, res) => {
    const items = (req['session'].items ??= [])
    items.push(req['body'].item)
    res.statusCode = 201
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(items))
  })
  site.reply('GET', '/cart', (req) =>
    json([req['user']?.name ?? null, req['session'].items ?? [], req['cookies']['theme'] ?? null]),
  )
  site.reply('GET', '/products', () =>
    json(Array.from({ length: 100 }, (_, id) => ({ id, name: `product ${id}` }))),
  )
  site.reply('GET', '/feed', async () => ({ headers: { 'content-type': 'text/plain' }, body: feed() }))
  site.handle('POST', '/photo', multer().single('photo'), (req, res) => res.end(String(req['file'].size)))
  site.handle('GET', '/fails', () => {
    throw Object.assign(new Error('as it should'), { status: 418 })
  })
  const rescue: Rescue = (error, _req, res, _next) => {
    res.statusCode = error.status ?? 500
    res.setHeader('Content-Type', 'text/plain')
    res.end(`failed: ${error.message}`)
  }
  site.use(rescue)
  return { root, lines, store }
}

async function* feed(): AsyncGenerator<string> {
  for (let at = 0; at < 50; at++) {
    yield `line ${at}\n`
    await turn()
  }
}

/** Content as the client reads it, since compressed bytes depend on where chunks were cut. */
function read(reply: Seen): Record<string, unknown> & { text: string } {
  const { 'content-length': _, ...headers } = reply.headers
  const isZipped = headers['content-encoding'] === 'gzip' && reply.body.length > 0
  const text = (isZipped ? gunzipSync(reply.body) : reply.body).toString()
  // The page of a redirect is the framework's.
  if (reply.status === 302) return { ...reply, headers: headers['location'], body: '', text: '' }
  return { status: reply.status, cookies: reply.cookies, headers, text }
}

async function shopping(client: Client, id: number): Promise<unknown[]> {
  const jar = new Jar()
  const form = 'application/x-www-form-urlencoded'
  const out: unknown[] = []
  const ask = async (method: string, path: string, type = '', body = ''): Promise<string> => {
    const own = jar.headers.cookie
    const cookie = own === undefined ? 'theme=dark' : `theme=dark; ${own}`
    const headers = {
      cookie,
      origin: 'https://shop.example',
      'accept-encoding': 'gzip',
      ...(type === '' ? {} : { 'content-type': type }),
    }
    const reply = await client.ask(path, { method, headers, body })
    jar.take(reply.cookies)
    const shown = read(reply)
    out.push([method, path, shown])
    return shown.text
  }
  await ask('GET', '/cart')
  await ask('POST', '/cart', 'application/json', JSON.stringify({ item: `first of ${id}` }))
  await ask('POST', '/login', form, `username=user${id}&password=no`)
  await ask('GET', '/flashes')
  await ask('POST', '/login', form, `username=user${id}&password=user${id}!`)
  await ask('POST', '/cart', form, `item=second+of+${id}`)
  const cart = await ask('GET', '/cart')
  assert.match(cart, new RegExp(`^\\["user${id}",\\["second of ${id}"\\],"dark"\\]$`))
  await ask('GET', '/products')
  await ask('HEAD', '/products')
  await ask('GET', '/feed')
  await ask('GET', '/assets/app.js')
  await ask('GET', '/fails')
  await ask('OPTIONS', '/cart')
  await ask('POST', '/logout', form, 'x=1')
  await ask('GET', '/cart')
  return out
}

const after = ({ root }: Shop): void => rmSync(root, { recursive: true })

scenarios('a whole stack', {
  'one client': scenario({
    build: shop,
    after,
    async play(client, { lines, store }) {
      const out = await shopping(client, 1)
      await eventually(() => lines.length === out.length, 'all lines')
      return [out, lines, store.contents()]
    },
  }),

  // Ids of sessions depend on who came first, so each client looks at its own replies.
  'sixteen clients at once': scenario({
    build: shop,
    after,
    async play(client, { lines, store }) {
      const all = await Promise.all(Array.from({ length: 16 }, (_, id) => shopping(client, id)))
      await eventually(() => lines.length === all.flat().length, 'all lines')
      const text = JSON.stringify(all).replaceAll(/session-\d+\.[^;"]+/g, 'SESSION')
      return [JSON.parse(text), lines.toSorted(), store.contents().length]
    },
  }),

  'the async context of a request, in every callback': scenario({
    build(site) {
      const storage = new AsyncLocalStorage<string>()
      const wrong: string[] = []
      const check = (what: string, req: Req): void => {
        const wanted = req.headers['x-id']
        if (storage.getStore() !== wanted) wrong.push(`${what}: ${storage.getStore()} instead of ${wanted}`)
      }
      const { layer } = sessions()
      site.use(
        (req: Req, res: Res, next: Next) => {
          storage.run(String(req.headers['x-id']), () => {
            // node:http calls these in whichever context ends the reply, so layers bind what they pass.
            res.on(
              'finish',
              AsyncResource.bind(() => check('finish', req)),
            )
            res.on(
              'close',
              AsyncResource.bind(() => check('close', req)),
            )
            next()
          })
        },
        layer,
        bodyParser.json(),
        compression({ threshold: 0 }),
        (req: Req, _res: Res, next: Next) => {
          check('a layer', req)
          next()
        },
      )
      const answer: Handle = (req, res) => {
        check('a handler', req)
        req['session'].count = 1
        setImmediate(() => {
          check('a timer', req)
          res.end(String(storage.getStore()))
        })
      }
      site.handle('POST', '/connect', answer)
      site.reply('POST', '/own', async (req) => {
        check('a handler of ours', req)
        await turn()
        return { body: String(storage.getStore()) }
      })
      return wrong
    },
    async play(client, wrong) {
      const ask = async (id: number): Promise<string> => {
        const path = id % 2 === 0 ? '/own' : '/connect'
        return (await client.post(path, 'application/json', '{"a":1}', { 'x-id': `id-${id}` })).text
      }
      const out = await Promise.all(Array.from({ length: 60 }, (_, id) => ask(id)))
      assert.deepEqual(
        out,
        Array.from({ length: 60 }, (_, id) => `id-${id}`),
      )
      return wrong
    },
  }),
})
