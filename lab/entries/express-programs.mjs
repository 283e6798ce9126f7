// The programs of Express 4 and 5: what they need is written the same way in both. No ETag and no `x-powered-by`, as
// nobody else here sends them; Express's page on security advises against the latter.
import { openLog } from './log.mjs'
import * as payloads from './payloads.mjs'
import { ran } from './ran.mjs'

/** Each entry brings the modules of its own folder. */
export async function serve({ express, morgan, cors }) {
  const app = express()
  app.disable('etag')
  app.disable('x-powered-by')
  await programs[process.env.PROGRAM](app, { express, morgan, cors })
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
}
