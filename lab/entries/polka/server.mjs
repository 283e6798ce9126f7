import send from '@polka/send-type'
import bodyParser from 'body-parser'
import cors from 'cors'
import morgan from 'morgan'
import polka from 'polka'
import { connectSix } from '../connect-six.mjs'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'

const programs = {
  hello(app) {
    app.get('/json', (request, response) => {
      ran()
      send(response, 200, { message: 'Hello World' })
    })
  },

  stack(app) {
    app.use(morgan('tiny', { stream: openLog() }))
    app.use(cors())
    app.use((request, response, next) => {
      request.id = Math.random().toString(36)
      next()
    })
    app.get('/api/users', (request, response) => {
      ran()
      send(response, 200, payloads.stackReply(request.id))
    })
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    const authenticate = (request, response, next) => {
      if (request.headers.authorization === bearer) next()
      else send(response, 401, { error: 'Unauthorized' })
    }
    const validate = (schema, part) => (request, response, next) => {
      const { success, data, error } = schema.safeParse(request[part])
      if (!success) return send(response, 400, { error: 'Invalid request', issues: error.issues })
      request[part] = data
      next()
    }

    app.get('/api/users/:id', authenticate, validate(params, 'params'), (request, response) => {
      ran()
      const user = findUser.get(Number(request.params.id))
      if (user) send(response, 200, { user })
      else send(response, 404, { error: 'User not found' })
    })
    app.post('/api/users', bodyParser.json(), validate(newUser, 'body'), (request, response) => {
      ran()
      const { name, email, age } = request.body
      if (findEmail.get(email)) return send(response, 409, { error: 'Email already exists' })
      const { lastInsertRowid } = insertUser.run(name, email, age)
      send(response, 201, { user: findUser.get(lastInsertRowid) })
    })
  },

  greet(app) {
    app.get('/', (request, response) => {
      ran()
      send(response, 200, { hello: 'world' })
    })
    app.get('/:hello', (request, response) => {
      ran()
      send(response, 200, { hello: request.params.hello })
    })
    app.post('/', (request, response) => {
      ran()
      send(response, 201, { created: true })
    })
  },

  records(app) {
    app.get('/', (request, response) => {
      ran()
      send(response, 200, payloads.records())
    })
  },

  zap(app) {
    for (const [path, reply] of Object.entries({ ...payloads.zapTexts, ...payloads.zapObjects })) {
      app.get(path, (request, response) => {
        ran()
        send(response, 200, reply())
      })
    }
    app.get('/api/users/:id', (request, response) => {
      ran()
      send(response, 200, payloads.zapUser(request.params.id))
    })
    for (const kind of payloads.zapKinds) {
      app.get(`/api/${kind}/:id`, (request, response) => {
        ran()
        send(response, 200, payloads.zapRecord(kind, request.params.id))
      })
    }
    app.get('/api/users/:userId/posts/:postId', (request, response) => {
      ran()
      send(response, 200, payloads.zapPost(request.params.userId, request.params.postId))
    })
  },

  nessen(app) {
    app.get('/health', (request, response) => {
      ran()
      send(response, 200, 'OK')
    })
    app.get('/badge/:label/:value.svg', (request, response) => {
      ran()
      const { label, value } = request.params
      send(response, 200, payloads.badge(label, value), { 'content-type': 'image/svg+xml' })
    })
  },

  velox(app) {
    app.get('/api/health', (request, response) => {
      ran()
      send(response, 200, payloads.health())
    })
    app.get('/api/users', (request, response) => {
      ran()
      send(response, 200, payloads.userList())
    })
    app.get('/debug/memory', (request, response) => {
      ran()
      send(response, 200, payloads.memory())
    })
  },

  routes(app) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      app.get(`/api/v1/resource${i}/:id`, (request, response) => {
        ran()
        send(response, 200, { resource: i, id: request.params.id })
      })
    }
  },

  echo(app) {
    app.use(bodyParser.json())
    app.post('/echo', (request, response) => {
      ran()
      send(response, 200, payloads.echoReply(request.body))
    })
  },

  slow(app) {
    app.get('/work/:id', (request, response) => {
      ran()
      const { id } = request.params
      if (payloads.isSlow(id)) setTimeout(() => send(response, 200, { id }), payloads.slowMilliseconds)
      else send(response, 200, { id })
    })
  },

  async secured(app) {
    const { default: helmet } = await import('helmet')
    app.get('/none', greet)
    app.get('/headers', helmet(), greet)
  },

  journal(app) {
    app.get('/none', greet)
    app.get('/logged', morgan('combined', { stream: openLog() }), greet)
  },

  async connect(app) {
    app.use(...(await connectSix((name) => import(name))))
    app.get('/', (request, response) => {
      ran()
      send(response, 200, { hello: 'world' })
    })
  },

  // sirv is what polka's own examples serve folders with.
  async files(app) {
    const { default: sirv } = await import('sirv')
    const { site } = await import('../site.mjs')
    app.get('/json', greet)
    app.use('/assets', sirv(site, { etag: true }))
  },
}

function greet(request, response) {
  ran()
  send(response, 200, { message: 'Hello World' })
}

const app = polka()
await programs[process.env.PROGRAM](app)
app.listen(Number(process.env.PORT), '127.0.0.1', (error) => {
  if (error) throw error
  console.log(`listening on ${app.server.address().port}`)
})
