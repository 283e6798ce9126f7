// Volant, on the adapter that ADAPTER names. This is one file because it has one short program for each scenario of the
// lab, and PROGRAM selects the program by its name.
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { before, cors, createApp, HTTPError, logger, requestId, securityHeaders, validate } from 'volant'
import { connectSix } from '../connect-six.mjs'
import * as reply from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { isHttp2, secrets } from '../transport.mjs'

const programs = {
  secure: speak,
  streams: speak,

  hello(app) {
    app.get('/json', () => {
      ran()
      return { message: 'Hello World' }
    })
  },

  stack(app) {
    app.use(logger({ destination: process.env.LOG }), cors())

    const identified = before((ctx) => {
      ctx.state.requestId = Math.random().toString(36)
    })

    app.get('/api/users', identified, (ctx) => {
      ran()
      return reply.stackReply(ctx.state.requestId)
    })
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    const authenticated = before((ctx) => {
      if (ctx.headers.authorization !== bearer) throw new HTTPError(401)
    })

    app.get('/api/users/:id', authenticated, validate({ params }), (ctx) => {
      ran()
      const user = findUser.get(Number(ctx.params.id))
      if (!user) throw new HTTPError(404, 'User not found')
      return { user }
    })

    app.post('/api/users', { body: newUser }, (ctx) => {
      ran()
      const { name, email, age } = ctx.body
      if (findEmail.get(email)) throw new HTTPError(409, 'Email already exists')
      const { lastInsertRowid } = insertUser.run(name, email, age)
      ctx.json({ user: findUser.get(lastInsertRowid) }, 201)
    })
  },

  sockets(app) {
    app.ws('/ws', {
      message(ws, message) {
        ran()
        ws.send(message)
      },
    })
    app.ws('/room', {
      open(ws) {
        ws.subscribe('room')
      },
      message(ws, message) {
        ran()
        ws.publish('room', message)
      },
    })
  },

  greet(app) {
    app.get('/', () => {
      ran()
      return { hello: 'world' }
    })
    app.get('/:hello', (ctx) => {
      ran()
      return { hello: ctx.params.hello }
    })
    app.post('/', (ctx) => {
      ran()
      ctx.json({ created: true }, 201)
    })
  },

  records(app) {
    app.get('/', () => {
      ran()
      return reply.records()
    })
  },

  zap(app) {
    for (const [path, make] of Object.entries({ ...reply.zapTexts, ...reply.zapObjects })) {
      app.get(path, () => {
        ran()
        return make()
      })
    }
    app.get('/api/users/:id', (ctx) => {
      ran()
      return reply.zapUser(ctx.params.id)
    })
    app.get('/api/users/:userId/posts/:postId', (ctx) => {
      ran()
      return reply.zapPost(ctx.params.userId, ctx.params.postId)
    })
    for (const kind of reply.zapKinds) {
      app.get(`/api/${kind}/:id`, (ctx) => {
        ran()
        return reply.zapRecord(kind, ctx.params.id)
      })
    }
  },

  nessen(app) {
    app.get('/health', () => {
      ran()
      return 'OK'
    })
    app.get('/badge/:label/:value.svg', (ctx) => {
      ran()
      ctx.header('content-type', 'image/svg+xml')
      return reply.badge(ctx.params.label, ctx.params.value)
    })
  },

  velox(app) {
    app.get('/api/health', () => {
      ran()
      return reply.health()
    })
    app.get('/api/users', () => {
      ran()
      return reply.userList()
    })
    app.get('/debug/memory', () => {
      ran()
      return reply.memory()
    })
  },

  routes(app) {
    for (let i = 0; i < reply.routeCount; i++) {
      app.get(`/api/v1/resource${i}/:id`, (ctx) => {
        ran()
        return { resource: i, id: ctx.params.id }
      })
    }
  },

  echo(app) {
    app.post('/echo', (ctx) => {
      ran()
      return reply.echoReply(ctx.body)
    })
  },

  slow(app) {
    app.get('/work/:id', async (ctx) => {
      ran()
      const { id } = ctx.params
      if (reply.isSlow(id)) await sleep(reply.slowMilliseconds)
      return { id }
    })
  },

  param(app) {
    app.get('/hi/:name', (ctx) => {
      ran()
      return { hi: ctx.params.name }
    })
    app.get('/static', () => {
      ran()
      return { hi: 'Ada' }
    })
  },

  middleware(app) {
    const greeting = (ctx, next) => {
      ctx.state.message = 'Hello World'
      return next()
    }
    app.get('/none', () => {
      ran()
      return { message: 'Hello World' }
    })
    app.get('/three', requestId(), cors(), greeting, (ctx) => {
      ran()
      return { message: ctx.state.message }
    })
  },

  async limits(app) {
    const { rateLimit } = await import('volant/rate-limit')

    app.get('/none', greet)
    app.with(rateLimit({ max: reply.manyRequests, timeWindow: '1 minute' })).get('/limited', greet)
    app.with(rateLimit({ max: 1, timeWindow: '1 hour' })).get('/once', greet)
  },

  async compression(app) {
    const { compress } = await import('volant/compress')

    app.get('/none', greet)
    const compressed = app.with(compress())
    compressed.get('/small', greet)
    compressed.get('/pages/:id', page)
  },

  async guarded(app) {
    const { compress } = await import('volant/compress')
    const { rateLimit } = await import('volant/rate-limit')

    app.get('/bare', greet)
    app.register((scope) => {
      scope.use(
        logger({ destination: process.env.LOG }),
        rateLimit({ max: reply.manyRequests, timeWindow: '1 minute' }),
        compress(),
        securityHeaders({ strictTransportSecurity: { force: true } }),
      )
      scope.get('/', greet)
      scope.get('/pages/:id', page)
    })
  },

  secured(app) {
    app.get('/none', greet)
    app.with(securityHeaders({ strictTransportSecurity: { force: true } })).get('/headers', greet)
  },

  identified(app) {
    app.get('/none', greet)
    app.register((scope) => {
      scope.use(requestId(), cors())
      scope.get('/both', greet)
    })
  },

  journal(app) {
    app.get('/none', greet)
    app.with(logger({ destination: process.env.LOG })).get('/logged', greet)
  },

  async sessions(app) {
    const { session } = await import('volant/session')

    app.get('/none', someone)
    const visited = app.with(session({ keys: [process.env.SESSION_KEY] }))
    visited.post('/sign-in/:user', (ctx) => {
      ctx.state.session.signIn({ user: ctx.params.user })
      return { signedIn: true }
    })
    visited.get('/read', (ctx) => {
      ran()
      const user = ctx.state.session.get('user')
      if (user === undefined) throw new HTTPError(401)
      return { user }
    })
  },

  async cookies(app) {
    const { signedCookie } = await import('volant/session')
    const cookie = signedCookie('user', { keys: [process.env.COOKIE_KEY] })

    app.get('/none', someone)
    app.post('/sign-in/:user', (ctx) => {
      cookie.set(ctx, ctx.params.user)
      return { signedIn: true }
    })
    app.get('/read', (ctx) => {
      ran()
      const user = cookie.get(ctx)
      if (user === undefined) throw new HTTPError(401)
      return { user }
    })
  },

  async tokens(app) {
    const { jwt } = await import('volant/jwt')
    const { claimsByHand } = await import('../jwt-by-hand.mjs')

    app.get('/none', someone)
    app.get('/by-hand', (ctx) => {
      ran()
      const claims = claimsByHand(ctx.headers.authorization)
      if (claims === null) throw new HTTPError(401)
      return { user: claims.sub }
    })
    const verified = jwt({ secret: process.env.JWT_SECRET, algorithms: ['HS256'] })
    app.with(verified).get('/verified', (ctx) => {
      ran()
      return { user: ctx.state.user.sub }
    })
  },

  async traces(app) {
    const { startTracing } = await import('../tracing.mjs')
    const bySdk = await startTracing((name) => import(name))
    const { otel } = await import('volant/otel')

    app.get('/none', greet)
    app.get('/sdk', () => bySdk('GET /sdk', '/sdk', greet))
    app.register((scope) => {
      scope.use(otel())
      scope.get('/traced', greet)
    })
  },

  async guards(app) {
    const { apiKey, basic, bearer } = await import('volant/auth')
    const { allowedHosts, cacheControl, ipRestriction, serverTiming, timeout, tooBusy } =
      await import('volant/middleware')

    const { csrf } = await import('volant/session')

    app.get('/none', greet)
    app.post('/none', greet)
    app.with(csrf()).post('/csrf', greet)
    app.with(bearer({ tokens: { ada: 'lab-token-of-ada' } })).get('/bearer', greet)
    app.with(basic({ realm: 'lab', users: { ada: 'lab-password' } })).get('/basic', greet)
    app
      .with(apiKey({ in: 'header', name: 'x-api-key', keys: { ada: 'lab-key-of-ada' } }))
      .get('/api-key', greet)
    app.with(allowedHosts(['127.0.0.1'])).get('/allowed-hosts', greet)
    app.with(allowedHosts(['lab.example'])).get('/other-hosts', greet)
    app.with(ipRestriction({ allow: ['10.0.0.0/8', '127.0.0.0/8'] })).get('/ip-restriction', greet)
    app.with(ipRestriction({ deny: ['127.0.0.0/8'] })).get('/other-ips', greet)
    app.with(tooBusy({ maxEventLoopDelay: 900, maxInFlight: 10_000 })).get('/too-busy', greet)
    app.with(tooBusy({ maxInFlight: 1 })).get('/busy', greet)
    app.with(timeout(30_000)).get('/timeout', greet)
    app.with(timeout(10)).get('/late', () => sleep(1_000))
    app.with(cacheControl({ public: true, maxAge: 3_600 })).get('/cache-control', greet)
    app.with(serverTiming({ enabled: true })).get('/server-timing', greet)
  },

  async connect(app) {
    const { fromConnect } = await import('volant/connect')

    app.use(fromConnect(...(await connectSix((name) => import(name)))))
    app.get('/', () => {
      ran()
      return { hello: 'world' }
    })
  },

  async files(app) {
    const { site } = await import('../site.mjs')

    app.static('/assets', site)
    app.get('/json', greet)
  },

  async uploads(app) {
    const { Sink, mostBytes } = await import('../upload-sink.mjs')

    app.post(
      '/uploads/:id',
      { bodyMode: 'stream', maxBodySize: 2 * mostBytes, maxFileSize: mostBytes },
      async (ctx) => {
        ran()
        const sink = new Sink()
        let title = ''
        let name = ''
        for await (const part of ctx.parts()) {
          if (part.name === 'title') title = await part.text()
          else {
            name = part.filename
            await pipeline(part, sink)
          }
        }
        return reply.uploadReply(ctx.params.id, title, name, sink.bytes)
      },
    )
  },

  async items(app) {
    const { itemParams, itemQuery, itemReply } = await import('../contracts.mjs')

    app.get('/plain/:category/:id', (ctx) => {
      ran()
      const { category, id } = ctx.params
      const { page, limit, sort } = ctx.query
      return reply.itemReply(category, Number(id), Number(page), Number(limit), sort)
    })
    const checked = { params: itemParams, query: itemQuery }
    const validated = (ctx) => {
      ran()
      const { category, id } = ctx.params
      const { page, limit, sort } = ctx.query
      return reply.itemReply(category, id, page, limit, sort)
    }
    app.get('/items/:category/:id', checked, validated)
    // Nothing of the framework's: what the library by itself costs in a handler.
    const checkParams = itemParams['~standard'].validate
    const checkQuery = itemQuery['~standard'].validate
    app.get('/hands/:category/:id', (ctx) => {
      ran()
      const { category, id } = checkParams(ctx.params).value
      const { page, limit, sort } = checkQuery(ctx.query).value
      return reply.itemReply(category, id, page, limit, sort)
    })
    app.get('/whole/:category/:id', { ...checked, response: itemReply }, validated)
  },

  async contracts(app) {
    const { kind, resource, resources } = await import('../contract-routes.mjs')

    app.get('/ready', () => {
      ran()
      return { ready: true }
    })
    const change = (ctx) => {
      ran()
      return resource(ctx.params.id, ctx.body.name)
    }
    if (kind === 'plain') for (const { path } of resources) app.post(path, change)
    if (kind === 'contracts') for (const { path, contract } of resources) app.post(path, contract, change)
  },

  async orders(app) {
    const { newOrder, orderReply } = await import('../contracts.mjs')

    app.post('/orders', { body: newOrder, response: { 201: orderReply } }, (ctx) => {
      ran()
      ctx.json(reply.acceptOrder(ctx.body), 201)
    })
  },

  async trpc(app) {
    const { trpc } = await import('volant/trpc')

    app.register(trpc(await procedures()))
  },

  async playground(app) {
    const { rest } = await import('volant/procedures')
    const { trpc } = await import('volant/trpc')

    const all = await procedures()
    app.register(rest(all, { prefix: '/api' }))
    app.register(trpc(all))
  },
}

function speak(app) {
  app.get('/hello.json', greet)
}

function greet() {
  ran()
  return { message: 'Hello World' }
}

function someone() {
  ran()
  return { user: 'u10000' }
}

function page(ctx) {
  ran()
  return reply.page(ctx.params.id)
}

async function procedures() {
  const { healthReply, userInput, userListReply, userReply } = await import('../contracts.mjs')
  const { procedure, router } = await import('volant/procedures')

  const health = router({
    getHealth: procedure()
      .output(healthReply)
      .query(() => {
        ran()
        return reply.health()
      }),
  })
  const users = router({
    listUsers: procedure()
      .output(userListReply)
      .query(() => {
        ran()
        return reply.userList()
      }),
    getUser: procedure()
      .input(userInput)
      .output(userReply)
      .query(({ input }) => {
        ran()
        return reply.userOf(input.id)
      }),
  })
  return router({ health, users })
}

// One more than the 10,000 that are held.
const limits = process.env.PROGRAM === 'sockets' ? { maxConnections: 20_000 } : {}
const app = createApp({ adapter: { type: process.env.ADAPTER }, limits })
await programs[process.env.PROGRAM](app)
const { port } = await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1', ...spoken() })
console.log(`listening on ${port}`)

// Gives the options of `listen` for the protocol of the scenario.
function spoken() {
  const tls = secrets()
  return { ...(tls && { tls }), ...((tls || isHttp2) && { http2: isHttp2 }) }
}
