// The programs of Express 4 and 5: what they need is written the same way in both. No ETag and no `x-powered-by`, as
// nobody else here sends them; Express's page on security advises against the latter.
import { pipeline } from 'node:stream'
import { connectSix } from './connect-six.mjs'
import { openLog } from './log.mjs'
import * as payloads from './payloads.mjs'
import { ran } from './ran.mjs'
import { nextId } from './request-ids.mjs'

/** Each entry brings the modules of its own folder, `bring` those that one program needs. */
export async function serve({ express, morgan, cors, bring, bySdk = null }) {
  const app = express()
  app.disable('etag')
  app.disable('x-powered-by')
  await programs[process.env.PROGRAM](app, { express, morgan, cors, bring, bySdk })
  const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
    console.log(`listening on ${server.address().port}`)
  })
}

const programs = {
  hello(app) {
    app.get('/json', (request, response) => {
      ran()
      response.json({ message: 'Hello World' })
    })
  },

  stack(app, { morgan, cors }) {
    app.use(morgan('tiny', { stream: openLog() }))
    app.use(cors())
    app.use((request, response, next) => {
      request.id = Math.random().toString(36)
      next()
    })
    app.get('/api/users', (request, response) => {
      ran()
      response.json(payloads.stackReply(request.id))
    })
  },

  async users(app, { express }) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('./users-service.mjs')

    const authenticate = (request, response, next) => {
      if (request.headers.authorization === bearer) next()
      else response.status(401).json({ error: 'Unauthorized' })
    }
    const validate = (schema, part) => (request, response, next) => {
      const { success, data, error } = schema.safeParse(request[part])
      if (!success) return response.status(400).json({ error: 'Invalid request', issues: error.issues })
      request[part] = data
      next()
    }

    app.get('/api/users/:id', authenticate, validate(params, 'params'), (request, response) => {
      ran()
      const user = findUser.get(Number(request.params.id))
      if (user) response.json({ user })
      else response.status(404).json({ error: 'User not found' })
    })
    app.post('/api/users', express.json(), validate(newUser, 'body'), (request, response) => {
      ran()
      const { name, email, age } = request.body
      if (findEmail.get(email)) return response.status(409).json({ error: 'Email already exists' })
      const { lastInsertRowid } = insertUser.run(name, email, age)
      response.status(201).json({ user: findUser.get(lastInsertRowid) })
    })
  },

  greet(app) {
    app.get('/', (request, response) => {
      ran()
      response.json({ hello: 'world' })
    })
    app.get('/:hello', (request, response) => {
      ran()
      response.json({ hello: request.params.hello })
    })
    app.post('/', (request, response) => {
      ran()
      response.status(201).json({ created: true })
    })
  },

  records(app) {
    app.get('/', (request, response) => {
      ran()
      response.json(payloads.records())
    })
  },

  zap(app) {
    for (const [path, text] of Object.entries(payloads.zapTexts)) {
      app.get(path, (request, response) => {
        ran()
        response.type('text').send(text())
      })
    }
    for (const [path, object] of Object.entries(payloads.zapObjects)) {
      app.get(path, (request, response) => {
        ran()
        response.json(object())
      })
    }
    app.get('/api/users/:id', (request, response) => {
      ran()
      response.json(payloads.zapUser(request.params.id))
    })
    for (const kind of payloads.zapKinds) {
      app.get(`/api/${kind}/:id`, (request, response) => {
        ran()
        response.json(payloads.zapRecord(kind, request.params.id))
      })
    }
    app.get('/api/users/:userId/posts/:postId', (request, response) => {
      ran()
      response.json(payloads.zapPost(request.params.userId, request.params.postId))
    })
  },

  nessen(app) {
    app.get('/health', (request, response) => {
      ran()
      response.type('text').send('OK')
    })
    app.get('/badge/:label/:value.svg', (request, response) => {
      ran()
      response.type('svg').send(payloads.badge(request.params.label, request.params.value))
    })
  },

  velox(app) {
    app.get('/api/health', (request, response) => {
      ran()
      response.json(payloads.health())
    })
    app.get('/api/users', (request, response) => {
      ran()
      response.json(payloads.userList())
    })
    app.get('/debug/memory', (request, response) => {
      ran()
      response.json(payloads.memory())
    })
  },

  routes(app) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      app.get(`/api/v1/resource${i}/:id`, (request, response) => {
        ran()
        response.json({ resource: i, id: request.params.id })
      })
    }
  },

  echo(app, { express }) {
    app.use(express.json())
    app.post('/echo', (request, response) => {
      ran()
      response.json(payloads.echoReply(request.body))
    })
  },

  slow(app) {
    app.get('/work/:id', (request, response) => {
      ran()
      const { id } = request.params
      if (payloads.isSlow(id)) setTimeout(() => response.json({ id }), payloads.slowMilliseconds)
      else response.json({ id })
    })
  },

  async limits(app, { bring }) {
    const limit = await limiter(bring)
    app.get('/none', greet)
    app.get('/limited', limit(payloads.manyRequests), greet)
    app.get('/once', limit(1), greet)
  },

  async compression(app, { bring }) {
    const { default: compression } = await bring('compression')
    app.get('/none', greet)
    app.use(compression())
    app.get('/small', greet)
    app.get('/pages/:id', page)
  },

  async guarded(app, { morgan, bring }) {
    const { default: compression } = await bring('compression')
    const { default: helmet } = await bring('helmet')
    const limit = await limiter(bring)
    app.get('/bare', greet)
    app.use(morgan('combined', { stream: openLog() }))
    app.use(limit(payloads.manyRequests), compression(), helmet())
    app.get('/', greet)
    app.get('/pages/:id', page)
  },

  async secured(app, { bring }) {
    const { default: helmet } = await bring('helmet')
    app.get('/none', greet)
    app.get('/headers', helmet(), greet)
  },

  identified(app, { cors }) {
    app.get('/none', greet)
    const identify = (request, response, next) => {
      request.id = nextId()
      response.setHeader('x-request-id', request.id)
      next()
    }
    app.get('/both', identify, cors(), greet)
  },

  journal(app, { morgan }) {
    app.get('/none', greet)
    app.get('/logged', morgan('combined', { stream: openLog() }), greet)
  },

  async sessions(app, { bring }) {
    const { getIronSession } = await bring('iron-session')
    const options = { password: process.env.SESSION_KEY, cookieName: 'session' }
    app.get('/none', someone)
    app.post('/sign-in/:user', async (request, response) => {
      const session = await getIronSession(request, response, options)
      session.user = request.params.user
      await session.save()
      response.json({ signedIn: true })
    })
    app.get('/read', async (request, response) => {
      ran()
      const { user } = await getIronSession(request, response, options)
      if (user === undefined) return response.status(401).json({ error: 'Unauthorized' })
      response.json({ user })
    })
  },

  async cookies(app, { bring }) {
    const { default: cookieParser } = await bring('cookie-parser')
    const parsed = cookieParser(process.env.COOKIE_KEY)
    app.get('/none', someone)
    app.post('/sign-in/:user', parsed, (request, response) => {
      response.cookie('user', request.params.user, { signed: true, httpOnly: true, secure: true })
      response.json({ signedIn: true })
    })
    app.get('/read', parsed, (request, response) => {
      ran()
      const { user } = request.signedCookies
      if (!user) return response.status(401).json({ error: 'Unauthorized' })
      response.json({ user })
    })
  },

  async tokens(app, { bring }) {
    const { expressjwt } = await bring('express-jwt')
    const { claimsByHand } = await import('./jwt-by-hand.mjs')
    app.get('/none', someone)
    app.get('/by-hand', (request, response) => {
      ran()
      const claims = claimsByHand(request.headers.authorization)
      if (claims === null) return response.status(401).json({ error: 'Unauthorized' })
      response.json({ user: claims.sub })
    })
    const verified = expressjwt({ secret: process.env.JWT_SECRET, algorithms: ['HS256'] })
    app.get('/verified', verified, (request, response) => {
      ran()
      response.json({ user: request.auth.sub })
    })
  },

  traces(app, { bySdk }) {
    app.get('/none', greet)
    app.get('/sdk', (request, response) => bySdk('GET /sdk', '/sdk', () => greet(request, response)))
    app.get('/traced', greet)
  },

  async connect(app, { bring }) {
    app.use(...(await connectSix(bring)))
    app.get('/', (request, response) => {
      ran()
      response.json({ hello: 'world' })
    })
  },

  async files(app, { express }) {
    const { site } = await import('./site.mjs')
    app.get('/json', greet)
    app.use('/assets', express.static(site))
  },

  // multer with a storage of its own, as its page StorageEngine.md has it.
  async uploads(app, { bring }) {
    const { default: multer } = await bring('multer')
    const { Sink, mostBytes } = await import('./upload-sink.mjs')
    const storage = {
      _handleFile(request, file, done) {
        const sink = new Sink()
        pipeline(file.stream, sink, (error) => done(error, { bytes: sink.bytes }))
      },
      _removeFile: (request, file, done) => done(null),
    }
    const upload = multer({ storage, limits: { files: 1, fileSize: mostBytes } })
    app.post('/uploads/:id', upload.single('file'), (request, response) => {
      ran()
      const { file } = request
      if (!file) return response.status(415).json({ error: 'A form with a file is needed' })
      const { originalname, bytes } = file
      response.json(payloads.uploadReply(request.params.id, request.body.title, originalname, bytes))
    })
  },
}

function greet(request, response) {
  ran()
  response.json({ message: 'Hello World' })
}

function someone(request, response) {
  ran()
  response.json({ user: 'u10000' })
}

function page(request, response) {
  ran()
  response.json(payloads.page(request.params.id))
}

/** A limit of so many requests. */
async function limiter(bring) {
  const { rateLimit } = await bring('express-rate-limit')
  return (limit) => rateLimit({ windowMs: 60_000, limit, standardHeaders: 'draft-8', legacyHeaders: false })
}
