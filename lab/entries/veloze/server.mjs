// An asynchronous handler has two parameters: with another number veloze does not wait for it, and ends the server when
// it throws.
import { setTimeout } from 'node:timers/promises'
import { HttpError, Server, bodyParser, cors, send } from 'veloze'
import { connectSix } from '../connect-six.mjs'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'

const text = { 'content-type': 'text/plain; charset=utf-8' }

const programs = {
  hello(app) {
    app.get('/json', (req, res) => {
      ran()
      res.send({ message: 'Hello World' })
    })
  },

  stack(app) {
    const log = openLog()
    app.use((req, res, next) => {
      const start = Date.now()
      res.once('finish', () => {
        log.write(`${req.method} ${req.originalUrl} ${res.statusCode} - ${Date.now() - start} ms\n`)
      })
      next()
    })
    app.use(cors({ origin: '*' }))
    app.use((req, res, next) => {
      req.id = Math.random().toString(36)
      next()
    })
    app.get('/api/users', (req, res) => {
      ran()
      res.send(payloads.stackReply(req.id))
    })
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    const authenticate = (req, res, next) => {
      if (req.headers.authorization === bearer) next()
      else res.send({ error: 'Unauthorized' }, 401)
    }
    const validate = (schema, part) => (req, res, next) => {
      const { success, data } = schema.safeParse(req[part])
      if (!success) return res.send({ error: 'Invalid request' }, 400)
      req[part] = data
      next()
    }

    app.get('/api/users/:id', authenticate, validate(params, 'params'), (req, res) => {
      ran()
      const user = findUser.get(Number(req.params.id))
      if (user) res.send({ user })
      else res.send({ error: 'User not found' }, 404)
    })
    app.post('/api/users', bodyParser(), validate(newUser, 'body'), (req, res) => {
      ran()
      const { name, email, age } = req.body
      if (findEmail.get(email)) return res.send({ error: 'Email already exists' }, 409)
      const { lastInsertRowid } = insertUser.run(name, email, age)
      res.send({ user: findUser.get(lastInsertRowid) }, 201)
    })
  },

  greet(app) {
    app.get('/', (req, res) => {
      ran()
      res.send({ hello: 'world' })
    })
    app.get('/:hello', (req, res) => {
      ran()
      res.send({ hello: req.params.hello })
    })
    app.post('/', (req, res) => {
      ran()
      res.send({ created: true }, 201)
    })
  },

  records(app) {
    app.get('/', (req, res) => {
      ran()
      res.send(payloads.records())
    })
  },

  // A parameter has one name in all paths that share its place: the last one given.
  zap(app) {
    for (const [path, reply] of Object.entries(payloads.zapTexts)) {
      app.get(path, (req, res) => {
        ran()
        res.send(reply(), 200, text)
      })
    }
    for (const [path, reply] of Object.entries(payloads.zapObjects)) {
      app.get(path, (req, res) => {
        ran()
        res.send(reply())
      })
    }
    app.get('/api/users/:userId', (req, res) => {
      ran()
      res.send(payloads.zapUser(req.params.userId))
    })
    for (const kind of payloads.zapKinds) {
      app.get(`/api/${kind}/:id`, (req, res) => {
        ran()
        res.send(payloads.zapRecord(kind, req.params.id))
      })
    }
    app.get('/api/users/:userId/posts/:postId', (req, res) => {
      ran()
      res.send(payloads.zapPost(req.params.userId, req.params.postId))
    })
  },

  // A parameter is the whole of its segment.
  nessen(app) {
    app.get('/health', (req, res) => {
      ran()
      res.send('OK', 200, text)
    })
    app.get('/badge/:label/:file', (req, res) => {
      ran()
      const { label, file } = req.params
      if (!file.endsWith('.svg')) throw new HttpError(404)
      res.send(payloads.badge(label, file.slice(0, -'.svg'.length)), 200, { 'content-type': 'image/svg+xml' })
    })
  },

  velox(app) {
    app.get('/api/health', (req, res) => {
      ran()
      res.send(payloads.health())
    })
    app.get('/api/users', (req, res) => {
      ran()
      res.send(payloads.userList())
    })
    app.get('/debug/memory', (req, res) => {
      ran()
      res.send(payloads.memory())
    })
  },

  routes(app) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      app.get(`/api/v1/resource${i}/:id`, (req, res) => {
        ran()
        res.send({ resource: i, id: req.params.id })
      })
    }
  },

  echo(app) {
    app.post('/echo', bodyParser(), (req, res) => {
      ran()
      res.send(payloads.echoReply(req.body))
    })
  },

  slow(app) {
    app.get('/work/:id', async (req, res) => {
      ran()
      const { id } = req.params
      if (payloads.isSlow(id)) await setTimeout(payloads.slowMilliseconds)
      res.send({ id })
    })
  },

  async connect(app) {
    app.use(...(await connectSix((name) => import(name))))
    app.get('/', (req, res) => {
      ran()
      res.send({ hello: 'world' })
    })
  },
}

const app = new Server({ onlyHTTP1: true, gracefulTimeout: 0 })
app.use(send)
await programs[process.env.PROGRAM](app)
const server = app.listen(Number(process.env.PORT), '127.0.0.1')
server.once('listening', () => console.log(`listening on ${server.address().port}`))
