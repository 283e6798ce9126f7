/** cookie-parser, express-session on a store that answers later, connect-flash, and passport with a local strategy. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { eventually } from '@volant/test-kit'
import { brief, type Client, requestBytes, type Seen, seen } from '../src/client.ts'
import {
  bodyParser,
  cookieParser,
  flash,
  type Handle,
  LocalStrategy,
  Passport,
  type Req,
  session,
} from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import { Jar, sessions, type SlowStore } from '../src/sessions.ts'
import type { Answer, Site } from '../src/site.ts'

const json = (value: unknown): Answer => ({
  headers: { 'content-type': 'application/json; charset=utf-8' },
  body: JSON.stringify(value),
})

const cookies: Handle = (req, res) =>
  res.end(JSON.stringify([req['cookies'], req['signedCookies'], req['secret']]))

scenarios('cookie-parser', {
  'plain, signed, and JSON cookies': {
    build(site) {
      site.use(cookieParser(['new secret', 'secret']))
      site.handle('GET', '/connect', cookies)
      site.reply('GET', '/own', (req) => json([req['cookies'], req['signedCookies']]))
    },
    async play(client) {
      const mac = createHmac('sha256', 'secret').update('tobi').digest('base64').replace(/=+$/, '')
      const signed = `s%3Atobi.${encodeURIComponent(mac)}`
      const cookie = `a=1; b=%7B; c="q"; j=j%3A%7B%22x%22%3A1%7D; s=${signed}; t=s%3Aforged.AAAA; a=2; __proto__=x`
      const out: Seen[] = []
      for (const path of ['/connect', '/own'])
        out.push(await client.get(path, { cookie }), await client.get(path))
      assert.match(out[0]?.text ?? '', /tobi/)
      assert.match(out[0]?.text ?? '', /"j":\{"x":1\}/)
      return out
    },
  },
  'twice, the second idle': {
    build(site) {
      site.use(cookieParser('one'), cookieParser('two'))
      site.handle('GET', '/connect', cookies)
    },
    play: (client) => client.get('/connect', { cookie: 'a=b' }),
  },
})

/** Routes that use the session, by handlers of both kinds. */
function routes(site: Site): void {
  site.handle('GET', '/count', (req, res) => {
    req['session'].views = (req['session'].views ?? 0) + 1
    res.end(`views ${req['session'].views}`)
  })
  site.handle('GET', '/measured', (req, res) => {
    req['session'].views = 1
    res.setHeader('Content-Length', 8)
    res.end('measured')
  })
  site.reply('GET', '/own', (req) => {
    req['session'].views = (req['session'].views ?? 0) + 1
    return json({ views: req['session'].views })
  })
  site.reply('GET', '/stream', (req) => {
    req['session'].streamed = true
    return { headers: { 'content-type': 'text/plain' }, body: parts() }
  })
  site.handle('GET', '/chunks', (req, res) => {
    req['session'].chunks = true
    res.write('one ')
    setImmediate(() => res.end('two'))
  })
  site.reply('GET', '/peek', (req) => json({ views: req['session'].views ?? null, id: req['sessionID'] }))
  site.reply('GET', '/idle', () => ({ headers: { 'content-type': 'text/plain' }, body: 'idle' }))
  site.reply('GET', '/gone', () => ({ status: 204, body: null }))
  site.handle('GET', '/regenerate', (req, res, next) => {
    req['session'].regenerate((error: unknown) => {
      if (error) return next(error)
      req['session'].fresh = true
      res.end(req['sessionID'])
    })
  })
  site.handle('GET', '/destroy', (req, res, next) => {
    req['session'].destroy((error: unknown) => (error ? next(error) : res.end('destroyed')))
  })
  site.handle('GET', '/save', (req, res, next) => {
    req['session'].views = 100
    req['session'].save((error: unknown) => (error ? next(error) : res.end('saved')))
  })
  site.handle('GET', '/reload', (req, res, next) => {
    req['session'].views = -1
    req['session'].reload((error: unknown) => (error ? next(error) : res.end(String(req['session'].views))))
  })
  site.handle('GET', '/redirect', (req, res) => {
    req['session'].to = '/x'
    res.writeHead(302, { Location: '/x' })
    res.end()
  })
  site.handle('GET', '/fails', (req, _res) => {
    req['session'].failed = true
    throw Object.assign(new Error('as it should'), { status: 418 })
  })
}

async function* parts(): AsyncGenerator<string> {
  yield 'one '
  yield 'two'
}

async function visit(client: Client, paths: string[], jar = new Jar(), method = 'GET'): Promise<unknown[]> {
  const out: unknown[] = []
  for (const path of paths) {
    const reply = await client.ask(path, { method, headers: jar.headers })
    jar.take(reply.cookies)
    const failed = reply.status >= 400
    out.push(failed ? [path, brief(reply), reply.cookies] : [path, reply])
  }
  return out
}

function visits(options: object, ...paths: string[]): Scenario {
  return scenario({
    build(site) {
      const made = sessions(options)
      site.use(made.layer)
      routes(site)
      return made.store
    },
    async play(client, store) {
      return [await visit(client, paths), store.calls, store.contents()]
    },
  })
}

scenarios('express-session', {
  'is saved before the reply ends': visits({}, '/count', '/count', '/own', '/own', '/peek'),
  'of streams': visits({}, '/stream', '/chunks', '/peek'),
  'without cookie as long as nothing is in it': visits({}, '/idle', '/peek', '/gone', '/none'),
  saveUninitialized: visits({ saveUninitialized: true }, '/idle', '/idle', '/gone', '/none'),
  resave: visits({ resave: true }, '/count', '/idle'),
  rolling: visits({ rolling: true, cookie: { maxAge: 60_000 } }, '/count', '/idle', '/gone'),
  regenerate: visits({}, '/count', '/regenerate', '/peek'),
  destroy: visits({}, '/count', '/destroy', '/peek'),
  'unset: destroy': visits({ unset: 'destroy' }, '/count', '/peek'),
  'saved and loaded by the handler': visits({}, '/save', '/reload', '/peek'),
  'of redirects and errors': visits({}, '/redirect', '/fails', '/peek'),
  'with a cookie of its own': visits(
    {
      name: 'sid',
      cookie: { path: '/', sameSite: 'strict', httpOnly: false, maxAge: 1000, domain: 'a.example' },
    },
    '/count',
  ),
  'secure on an open connection': visits({ cookie: { secure: true } }, '/count', '/own'),
  'for HEAD': scenario({
    build(site) {
      const made = sessions()
      site.use(made.layer)
      routes(site)
      return made.store
    },
    play: async (client, store) => [
      await visit(client, ['/count', '/own', '/peek'], new Jar(), 'HEAD'),
      store.contents(),
    ],
  }),
  'with a secure cookie behind a proxy': scenario({
    build(site) {
      const made = sessions({ proxy: true, cookie: { secure: true } })
      site.use(made.layer)
      routes(site)
    },
    async play(client) {
      const reply = await client.get('/count', { 'x-forwarded-proto': 'https' })
      assert.equal(reply.cookies.length, 1)
      return reply
    },
  }),
  'an id that was forged or is unknown': scenario({
    build(site) {
      const made = sessions()
      site.use(made.layer)
      routes(site)
      return made.store
    },
    play: async (client, store) => [
      await client.get('/count', { cookie: 'connect.sid=s%3Asession-9.forged' }),
      await client.get('/peek', { cookie: 'connect.sid=nothing' }),
      store.contents(),
    ],
  }),
  'a store that cannot get': scenario({
    reports: true,
    build(site) {
      const made = sessions()
      site.use(made.layer)
      routes(site)
      return made.store
    },
    async play(client, store) {
      const jar = new Jar()
      await visit(client, ['/count'], jar)
      store.failing.add('get')
      const out = await visit(client, ['/count'], jar)
      assert.deepEqual(JSON.stringify(out), '[["/count",[500],[]]]')
      return out
    },
  }),
  'a store that cannot set still replies': scenario({
    reports: true,
    build(site) {
      const made = sessions()
      site.use(made.layer)
      routes(site)
      made.store.failing.add('set')
      return made.store
    },
    play: (client) => visit(client, ['/count', '/own', '/stream']),
  }),
  'behind cookie-parser': scenario({
    build(site) {
      const made = sessions()
      site.use(cookieParser('keyboard cat'), made.layer)
      routes(site)
    },
    play: (client) => visit(client, ['/count', '/count', '/own']),
  }),
  'on its own store': scenario({
    build(site) {
      let made = 0
      site.use(session({ secret: 'x', resave: false, saveUninitialized: true, genid: () => `id-${++made}` }))
      routes(site)
    },
    play: (client) => visit(client, ['/count', '/own', '/count', '/destroy', '/peek']),
  }),
  'all but the last byte goes ahead of the store': scenario({
    memory: false,
    build(site) {
      const made = sessions()
      const waiting: (() => void)[] = []
      const { set } = made.store as unknown as { set: SlowStore['set'] }
      made.store.set = (id, value, done) => void waiting.push(() => set.call(made.store, id, value, done))
      site.use(made.layer)
      routes(site)
      return waiting
    },
    async play(client, waiting) {
      const out: unknown[] = []
      for (const [at, path] of ['/count', '/measured'].entries()) {
        const wire = await client.connect()
        wire.send(requestBytes('GET', path))
        await eventually(() => waiting.length > at, 'the session is given to the store')
        assert.ok(
          !wire.received.includes('0\r\n\r\n') && !wire.received.includes('measured'),
          'no whole reply yet',
        )
        waiting[at]?.()
        out.push(seen(await wire.reply()))
      }
      return out
    },
  }),
})

scenarios('connect-flash', {
  'messages that are read once': {
    build(site) {
      site.use(sessions().layer, flash())
      site.handle('GET', '/put', (req, res) => {
        req['flash']('info', 'one')
        req['flash']('info', 'two %s', 'words')
        req['flash']('error', ['a', 'b'])
        res.end(String(req['flash']('none').length))
      })
      site.reply('GET', '/take', (req) => json([req['flash']('info'), req['flash']()]))
    },
    async play(client) {
      const out = await visit(client, ['/put', '/take', '/take'])
      assert.match(JSON.stringify((out[1] as [string, Seen])[1].text), /two words/)
      return out
    },
  },
  'without a session': {
    reports: true,
    build(site) {
      site.use(flash())
      site.handle('GET', '/put', (req, res) => {
        req['flash']('info', 'one')
        res.end()
      })
    },
    play: (client) => visit(client, ['/put']),
  },
})

interface User {
  id: number
  name: string
}

function passport(): {
  initialize(): Handle
  session(): Handle
  authenticate(name: string, options?: object, done?: unknown): Handle
} {
  const users: User[] = [
    { id: 1, name: 'ada' },
    { id: 2, name: 'bob' },
  ]
  const made = new Passport()
  made.use(
    new LocalStrategy(
      { usernameField: 'user' },
      (name: string, password: string, done: (error: unknown, user?: unknown, info?: unknown) => void) => {
        setImmediate(() => {
          if (name === 'error') return done(new Error('the database is down'))
          const user = users.find((one) => one.name === name)
          if (user === undefined || password !== 'right')
            return done(null, false, { message: 'no such user' })
          return done(null, user)
        })
      },
    ),
  )
  made.serializeUser((user: User, done: (error: null, id: number) => void) => done(null, user.id))
  made.deserializeUser((id: number, done: (error: null, user: User | false) => void) =>
    setImmediate(() => done(null, users.find((one) => one.id === id) ?? false)),
  )
  return made
}

function signing(site: Site): SlowStore {
  const { layer, store } = sessions()
  const auth = passport()
  site.use(bodyParser.urlencoded({ extended: false }), layer, flash(), auth.initialize(), auth.session())
  site.handle('POST', '/login', auth.authenticate('local'), (req, res) =>
    res.end(`hello ${req['user'].name}`),
  )
  site.handle(
    'POST',
    '/redirecting',
    auth.authenticate('local', {
      successRedirect: '/',
      failureRedirect: '/login',
      failureFlash: true,
      successFlash: 'hi',
    }),
  )
  site.handle('POST', '/own-callback', (req, res, next) => {
    const done = (error: unknown, user: User | false, info: unknown): unknown =>
      error ? next(error) : res.end(JSON.stringify([user, info ?? null]))
    auth.authenticate('local', { session: false }, done)(req, res, next)
  })
  site.handle('POST', '/logout', (req, res, next) => {
    req['logout']((error: unknown) => (error ? next(error) : res.end('bye')))
  })
  site.reply('GET', '/me', (req) => json([req['user'] ?? null, req['isAuthenticated']()]))
  site.handle('GET', '/me-connect', (req, res) =>
    res.end(JSON.stringify([req['user'] ?? null, req['isUnauthenticated']()])),
  )
  site.reply('GET', '/flashes', (req: Req) => json(req['flash']()))
  return store
}

async function sign(client: Client, jar: Jar, path: string, body = ''): Promise<unknown> {
  const type = 'application/x-www-form-urlencoded'
  const reply =
    body === '' ? await client.get(path, jar.headers) : await client.post(path, type, body, jar.headers)
  jar.take(reply.cookies)
  if (reply.status === 302) return [brief(reply, 'location'), reply.cookies]
  return reply.status >= 400 ? brief(reply, 'www-authenticate') : [reply.status, reply]
}

scenarios('passport with passport-local', {
  'signs in and out, with a new session id each time': scenario({
    build: signing,
    async play(client, store) {
      const jar = new Jar()
      const out = [
        await sign(client, jar, '/me'),
        await sign(client, jar, '/login', 'user=ada&password=right'),
        await sign(client, jar, '/me'),
        await sign(client, jar, '/me-connect'),
        await sign(client, jar, '/logout', 'x=1'),
        await sign(client, jar, '/me'),
      ]
      assert.match(JSON.stringify(out[2]), /ada.*true/)
      assert.match(JSON.stringify(out[5]), /null.*false/)
      return [out, store.contents()]
    },
  }),
  'refuses wrong passwords, unknown users and forms without them': scenario({
    build: signing,
    async play(client) {
      const jar = new Jar()
      return [
        await sign(client, jar, '/login', 'user=ada&password=wrong'),
        await sign(client, jar, '/login', 'user=eve&password=right'),
        await sign(client, jar, '/login', 'user=ada'),
        await sign(client, jar, '/me'),
      ]
    },
  }),
  'redirects, with flashes': scenario({
    build: signing,
    async play(client) {
      const jar = new Jar()
      const out = [
        await sign(client, jar, '/redirecting', 'user=ada&password=wrong'),
        await sign(client, jar, '/flashes'),
        await sign(client, jar, '/redirecting', 'user=ada&password=right'),
        await sign(client, jar, '/flashes'),
        await sign(client, jar, '/me'),
      ]
      assert.match(JSON.stringify(out[1]), /no such user/)
      return out
    },
  }),
  'by a callback, without a session': scenario({
    build: signing,
    play: async (client) => [
      await sign(client, new Jar(), '/own-callback', 'user=ada&password=right'),
      await sign(client, new Jar(), '/own-callback', 'user=ada&password=wrong'),
    ],
  }),
  'whose strategy fails': scenario({
    reports: true,
    build: signing,
    async play(client) {
      const out = await sign(client, new Jar(), '/login', 'user=error&password=right')
      assert.deepEqual(out, [500, null])
      return out
    },
  }),
})
