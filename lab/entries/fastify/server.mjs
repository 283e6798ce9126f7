// Fastify 5. Handlers send their replies. Where programs have schemas for them, Fastify compiles these to serialisers.
// What Fastify calls middleware are hooks. This is one file because it has one short program for each scenario of the
// lab, and PROGRAM selects the program by its name.
import { pipeline } from 'node:stream/promises'
import Fastify, { LogController } from 'fastify'
import { connectSix } from '../connect-six.mjs'
import { chunk, openLog, patience } from '../log.mjs'
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { nextId } from '../request-ids.mjs'
import { startTracing } from '../tracing.mjs'
import { isHttp2, isSecure, secrets } from '../transport.mjs'

const programs = {
  secure: speak,
  streams: speak,

  hello() {
    const app = Fastify()
    app.get('/json', (request, reply) => {
      ran()
      reply.send({ message: 'Hello World' })
    })
    return app
  },

  // One line for each request rather than Fastify's two, by pino.
  async stack() {
    const { default: cors } = await import('@fastify/cors')
    const app = Fastify({
      logger: { stream: openLog() },
      logController: new LogController({ disableRequestLogging: true }),
    })
    app.addHook('onResponse', (request, reply, done) => {
      const { method, url: path } = request
      request.log.info({ method, path, status: reply.statusCode }, 'request completed')
      done()
    })
    await app.register(cors, { origin: '*' })
    app.decorateRequest('requestId', '')
    app.addHook('onRequest', (request, reply, done) => {
      request.requestId = Math.random().toString(36)
      done()
    })
    app.get('/api/users', (request, reply) => {
      ran()
      reply.send(make.stackReply(request.requestId))
    })
    return app
  },

  // Zod as Fastify's validator (what fastify-type-provider-zod does, without
  // its part for OpenAPI) rather than called in a hook, a reply that is sent, and a schema for the reply, which Fastify
  // compiles to a serialiser. No schema for the reply by Zod: that parses it too.
  async users() {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')
    const row = {
      type: 'object',
      properties: {
        id: { type: 'integer' },
        name: { type: 'string' },
        email: { type: 'string' },
        age: { type: 'integer' },
      },
    }
    const user = { type: 'object', properties: { user: row } }

    const app = Fastify()
    app.setValidatorCompiler(({ schema }) => (value) => {
      const { success, data, error } = schema.safeParse(value)
      return success ? { value: data } : { error }
    })

    function authenticate(request, reply, done) {
      if (request.headers.authorization === bearer) done()
      else reply.code(401).send({ error: 'Unauthorized' })
    }

    app.get(
      '/api/users/:id',
      { onRequest: authenticate, schema: { params, response: { 200: user } } },
      (request, reply) => {
        ran()
        const found = findUser.get(Number(request.params.id))
        if (found) reply.send({ user: found })
        else reply.code(404).send({ error: 'User not found' })
      },
    )
    app.post('/api/users', { schema: { body: newUser, response: { 201: user } } }, (request, reply) => {
      ran()
      const { name, email, age } = request.body
      if (findEmail.get(email)) return reply.code(409).send({ error: 'Email already exists' })
      const { lastInsertRowid } = insertUser.run(name, email, age)
      reply.code(201).send({ user: findUser.get(lastInsertRowid) })
    })
    return app
  },

  greet() {
    const app = Fastify()
    app.get('/', (request, reply) => {
      ran()
      reply.send({ hello: 'world' })
    })
    app.get('/:hello', (request, reply) => {
      ran()
      reply.send({ hello: request.params.hello })
    })
    app.post('/', (request, reply) => {
      ran()
      reply.code(201).send({ created: true })
    })
    return app
  },

  records() {
    const app = Fastify()
    app.get('/', (request, reply) => {
      ran()
      reply.send(make.records())
    })
    return app
  },

  zap() {
    const app = Fastify()
    for (const [path, value] of Object.entries({ ...make.zapTexts, ...make.zapObjects })) {
      app.get(path, (request, reply) => {
        ran()
        reply.send(value())
      })
    }
    app.get('/api/users/:id', (request, reply) => {
      ran()
      reply.send(make.zapUser(request.params.id))
    })
    app.get('/api/users/:userId/posts/:postId', (request, reply) => {
      ran()
      reply.send(make.zapPost(request.params.userId, request.params.postId))
    })
    for (const kind of make.zapKinds) {
      app.get(`/api/${kind}/:id`, (request, reply) => {
        ran()
        reply.send(make.zapRecord(kind, request.params.id))
      })
    }
    return app
  },

  nessen() {
    const app = Fastify()
    app.get('/health', (request, reply) => {
      ran()
      reply.send('OK')
    })
    app.get('/badge/:label/:value.svg', (request, reply) => {
      ran()
      reply.type('image/svg+xml').send(make.badge(request.params.label, request.params.value))
    })
    return app
  },

  velox() {
    const app = Fastify()
    app.get('/api/health', (request, reply) => {
      ran()
      reply.send(make.health())
    })
    app.get('/api/users', (request, reply) => {
      ran()
      reply.send(make.userList())
    })
    app.get('/debug/memory', (request, reply) => {
      ran()
      reply.send(make.memory())
    })
    return app
  },

  routes() {
    const app = Fastify()
    for (let i = 0; i < make.routeCount; i++) {
      app.get(`/api/v1/resource${i}/:id`, (request, reply) => {
        ran()
        reply.send({ resource: i, id: request.params.id })
      })
    }
    return app
  },

  echo() {
    const app = Fastify()
    app.post('/echo', (request, reply) => {
      ran()
      reply.send(make.echoReply(request.body))
    })
    return app
  },

  slow() {
    const app = Fastify()
    app.get('/work/:id', (request, reply) => {
      ran()
      const { id } = request.params
      if (make.isSlow(id)) setTimeout(() => reply.send({ id }), make.slowMilliseconds)
      else reply.send({ id })
    })
    return app
  },

  param() {
    const app = Fastify()
    app.get('/hi/:name', (request, reply) => {
      ran()
      reply.send({ hi: request.params.name })
    })
    app.get('/static', (request, reply) => {
      ran()
      reply.send({ hi: 'Ada' })
    })
    return app
  },

  // The request id is an option of Fastify's own.
  middleware() {
    const prefix = `${Math.random().toString(36).slice(2, 10)}-`
    let last = 0
    const app = Fastify({ genReqId: () => prefix + (++last).toString(36) })
    app.decorateRequest('message', '')
    app.get('/none', (request, reply) => {
      ran()
      reply.send({ message: 'Hello World' })
    })
    app.register(async (scope) => {
      scope.addHook('onRequest', (request, reply, done) => {
        reply.header('x-request-id', request.id)
        done()
      })
      scope.addHook('onRequest', (request, reply, done) => {
        reply.header('access-control-allow-origin', '*')
        done()
      })
      scope.addHook('onRequest', (request, reply, done) => {
        request.message = 'Hello World'
        done()
      })
      scope.get('/three', (request, reply) => {
        ran()
        reply.send({ message: request.message })
      })
    })
    return app
  },

  async limits() {
    const { default: rateLimit } = await import('@fastify/rate-limit')
    const app = Fastify()
    app.get('/none', greet)
    app.register(async (scope) => {
      await scope.register(rateLimit, { max: make.manyRequests, timeWindow: '1 minute' })
      scope.get('/limited', greet)
      scope.get('/once', { config: { rateLimit: { max: 1, timeWindow: '1 hour' } } }, greet)
    })
    return app
  },

  async compression() {
    const { default: compress } = await import('@fastify/compress')
    const app = Fastify()
    app.get('/none', greet)
    app.register(async (scope) => {
      await scope.register(compress)
      scope.get('/small', greet)
      scope.get('/pages/:id', (request, reply) => {
        ran()
        reply.send(make.page(request.params.id))
      })
    })
    return app
  },

  // One line for each request, as in `stack`.
  async guarded() {
    const { default: compress } = await import('@fastify/compress')
    const { default: helmet } = await import('@fastify/helmet')
    const { default: rateLimit } = await import('@fastify/rate-limit')
    const app = Fastify({
      logger: { stream: openLog() },
      logController: new LogController({ disableRequestLogging: true }),
    })
    app.get('/bare', greet)
    app.register(async (scope) => {
      scope.addHook('onResponse', (request, reply, done) => {
        const { method, url: path } = request
        request.log.info({ method, path, status: reply.statusCode }, 'request completed')
        done()
      })
      await scope.register(rateLimit, { max: make.manyRequests, timeWindow: '1 minute' })
      await scope.register(compress)
      await scope.register(helmet)
      scope.get('/', greet)
      scope.get('/pages/:id', (request, reply) => {
        ran()
        reply.send(make.page(request.params.id))
      })
    })
    return app
  },

  async secured() {
    const { default: helmet } = await import('@fastify/helmet')
    const app = Fastify()
    app.get('/none', greet)
    app.register(async (scope) => {
      await scope.register(helmet)
      scope.get('/headers', greet)
    })
    return app
  },

  // The request id is an option of Fastify's own, and a hook puts it into replies.
  async identified() {
    const { default: cors } = await import('@fastify/cors')
    const app = Fastify({ genReqId: nextId })
    app.get('/none', greet)
    app.register(async (scope) => {
      await scope.register(cors, { origin: '*' })
      scope.addHook('onRequest', (request, reply, done) => {
        reply.header('x-request-id', request.id)
        done()
      })
      scope.get('/both', greet)
    })
    return app
  },

  // One line for each request, as in `stack`, by pino's own destination, which gathers lines as long as the others here.
  async journal() {
    const { default: pino } = await import('pino')
    const destination = pino.destination({
      dest: process.env.LOG,
      sync: false,
      minLength: chunk,
      maxWrite: 2 * chunk,
      periodicFlush: patience,
    })
    const app = Fastify({
      loggerInstance: pino(destination),
      logController: new LogController({ disableRequestLogging: true }),
    })
    app.get('/none', greet)
    app.register(async (scope) => {
      scope.addHook('onResponse', (request, reply, done) => {
        const { method, url: path } = request
        request.log.info({ method, path, status: reply.statusCode }, 'request completed')
        done()
      })
      scope.get('/logged', greet)
    })
    return app
  },

  // Sealed by libsodium's secret box.
  async sessions() {
    const { default: secureSession } = await import('@fastify/secure-session')
    const app = Fastify()
    app.get('/none', someone)
    app.register(async (scope) => {
      await scope.register(secureSession, {
        key: Buffer.from(process.env.SESSION_KEY),
        cookie: { path: '/', httpOnly: true, secure: true, sameSite: 'lax' },
      })
      scope.post('/sign-in/:user', (request, reply) => {
        request.session.set('user', request.params.user)
        reply.send({ signedIn: true })
      })
      scope.get('/read', (request, reply) => {
        ran()
        const user = request.session.get('user')
        if (user === undefined) return reply.code(401).send({ error: 'Unauthorized' })
        reply.send({ user })
      })
    })
    return app
  },

  async cookies() {
    const { default: cookie } = await import('@fastify/cookie')
    const app = Fastify()
    app.get('/none', someone)
    app.register(async (scope) => {
      await scope.register(cookie, { secret: process.env.COOKIE_KEY })
      scope.post('/sign-in/:user', (request, reply) => {
        reply.setCookie('user', request.params.user, { signed: true, httpOnly: true, secure: true })
        reply.send({ signedIn: true })
      })
      scope.get('/read', (request, reply) => {
        ran()
        const { valid, value } = request.unsignCookie(request.cookies.user ?? '')
        if (!valid) return reply.code(401).send({ error: 'Unauthorized' })
        reply.send({ user: value })
      })
    })
    return app
  },

  // fast-jwt without its cache, which is off unless it is asked for.
  async tokens() {
    const { default: jwt } = await import('@fastify/jwt')
    const { claimsByHand } = await import('../jwt-by-hand.mjs')
    const app = Fastify()
    app.get('/none', someone)
    app.get('/by-hand', (request, reply) => {
      ran()
      const claims = claimsByHand(request.headers.authorization)
      if (claims === null) return reply.code(401).send({ error: 'Unauthorized' })
      reply.send({ user: claims.sub })
    })
    app.register(async (scope) => {
      await scope.register(jwt, {
        secret: process.env.JWT_SECRET,
        verify: { algorithms: ['HS256'], cache: false },
      })
      scope.get('/verified', { onRequest: (request) => request.jwtVerify() }, (request, reply) => {
        ran()
        reply.send({ user: request.user.sub })
      })
    })
    return app
  },

  // The SDK comes first. A span for each request and no second one for its handler, unless SPANS asks for the usual ones.
  async traces() {
    const bySdk = await startTracing((name) => import(name))
    const { default: FastifyOtelInstrumentation } = await import('@fastify/otel')
    const otel = new FastifyOtelInstrumentation({ instrumentHandler: process.env.SPANS === 'usual' })
    const app = Fastify()
    app.get('/none', greet)
    app.get('/sdk', (request, reply) => bySdk('GET /sdk', '/sdk', () => greet(request, reply)))
    app.register(async (scope) => {
      await scope.register(otel.plugin())
      scope.get('/traced', greet)
    })
    return app
  },

  // Through @fastify/middie, which is the lighter of Fastify's two ways: @fastify/express makes an application of Express.
  async connect() {
    const { default: middie } = await import('@fastify/middie')
    const app = Fastify()
    await app.register(middie)
    for (const middleware of await connectSix((name) => import(name))) app.use(middleware)
    app.get('/', (request, reply) => {
      ran()
      reply.send({ hello: 'world' })
    })
    return app
  },

  async files() {
    const { default: files } = await import('@fastify/static')
    const { site } = await import('../site.mjs')
    const app = Fastify()
    app.get('/json', (request, reply) => {
      ran()
      reply.send({ message: 'Hello World' })
    })
    await app.register(files, { root: site, prefix: '/assets/' })
    return app
  },

  async uploads() {
    const { default: multipart } = await import('@fastify/multipart')
    const { Sink, mostBytes } = await import('../upload-sink.mjs')
    const app = Fastify()
    await app.register(multipart, { limits: { files: 1, fileSize: mostBytes } })
    app.post('/uploads/:id', async (request) => {
      ran()
      const data = await request.file()
      const sink = new Sink()
      await pipeline(data.file, sink)
      return make.uploadReply(request.params.id, data.fields.title.value, data.filename, sink.bytes)
    })
    return app
  },

  // By Fastify's own compilers: Ajv checks and fast-json-stringify writes.
  items() {
    const sort = { type: 'string', enum: ['name', 'price', 'date'] }
    const params = {
      type: 'object',
      required: ['category', 'id'],
      properties: {
        category: { type: 'string', minLength: 1, maxLength: 40 },
        id: { type: 'integer', minimum: 1 },
      },
    }
    const querystring = {
      type: 'object',
      properties: {
        page: { type: 'integer', minimum: 1, default: 1 },
        limit: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
        sort: { ...sort, default: 'name' },
      },
    }
    const integer = { type: 'integer' }
    const item = {
      type: 'object',
      required: ['category', 'id', 'page', 'limit', 'sort'],
      properties: { category: { type: 'string' }, id: integer, page: integer, limit: integer, sort },
    }

    const app = Fastify()
    app.get('/plain/:category/:id', (request, reply) => {
      ran()
      const { category, id } = request.params
      const { page, limit, sort: order } = request.query
      reply.send(make.itemReply(category, Number(id), Number(page), Number(limit), order))
    })
    const validated = (request, reply) => {
      ran()
      const { category, id } = request.params
      const { page, limit, sort: order } = request.query
      reply.send(make.itemReply(category, id, page, limit, order))
    }
    app.get('/items/:category/:id', { schema: { params, querystring } }, validated)
    app.get('/whole/:category/:id', { schema: { params, querystring, response: { 200: item } } }, validated)
    return app
  },

  // As above.
  orders() {
    const text = (minLength, maxLength) => ({ type: 'string', minLength, maxLength })
    const object = (properties, required = Object.keys(properties)) => ({
      type: 'object',
      required,
      properties,
      additionalProperties: false,
    })
    const line = object({
      sku: text(1, 20),
      name: text(1, 100),
      quantity: { type: 'integer', minimum: 1, maximum: 999 },
      cents: { type: 'integer', minimum: 0 },
      tags: { type: 'array', maxItems: 5, items: text(0, 20) },
    })
    const body = object(
      {
        reference: text(1, 40),
        customer: object(
          { name: text(2, 100), email: { type: 'string', format: 'email' }, phone: text(0, 30) },
          ['name', 'email'],
        ),
        address: object({
          street: text(1, 100),
          city: text(1, 100),
          postcode: text(1, 12),
          country: text(2, 2),
        }),
        lines: { type: 'array', minItems: 1, maxItems: 100, items: line },
        gift: { type: 'boolean' },
        note: text(0, 500),
      },
      ['reference', 'customer', 'address', 'lines', 'gift'],
    )
    const [string, integer] = [{ type: 'string' }, { type: 'integer' }]
    const accepted = object({
      reference: string,
      status: { type: 'string', enum: ['accepted', 'refused'] },
      customer: object({ name: string, email: string }),
      lines: { type: 'array', items: object({ sku: string, quantity: integer, cents: integer }) },
      cents: integer,
    })

    const app = Fastify()
    app.post('/orders', { schema: { body, response: { 201: accepted } } }, (request, reply) => {
      ran()
      reply.code(201).send(make.acceptOrder(request.body))
    })
    return app
  },
}

function speak() {
  const app = Fastify({
    ...(isHttp2 && { http2: true }),
    ...(isSecure && { https: { ...secrets(), ...(isHttp2 && { allowHTTP1: true }) } }),
  })
  app.get('/hello.json', greet)
  return app
}

function greet(request, reply) {
  ran()
  reply.send({ message: 'Hello World' })
}

function someone(request, reply) {
  ran()
  reply.send({ user: 'u10000' })
}

const app = await programs[process.env.PROGRAM]()
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
console.log(`listening on ${app.server.address().port}`)
