/** express-session on a store that answers later. */
import assert from 'node:assert/strict'
import { eventually } from '@volant/test-kit'
import { requestBytes, seen } from '../../src/client.ts'
import { cookieParser, session } from '../../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../../src/scenario.ts'
import { Jar, sessions, type SlowStore } from '../../src/sessions.ts'
import { chunks, json, type Site } from '../../src/site.ts'
import { visit } from './kit.ts'

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
          !wire.received.includes('\r\n0\r\n\r\n') && !wire.received.includes('measured'),
          'no whole reply yet',
        )
        waiting[at]?.()
        out.push(seen(await wire.reply()))
      }
      return out
    },
  }),
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
    return { headers: { 'content-type': 'text/plain' }, body: chunks() }
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
