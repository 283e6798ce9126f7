/** passport with a local strategy. */
import assert from 'node:assert/strict'
import { brief, type Client } from '../../src/client.ts'
import { bodyParser, flash, type Handle, LocalStrategy, Passport, type Req } from '../../src/layers.ts'
import { scenario, scenarios } from '../../src/scenario.ts'
import { Jar, sessions, type SlowStore } from '../../src/sessions.ts'
import { json, type Site } from '../../src/site.ts'

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
