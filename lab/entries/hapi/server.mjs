import { setTimeout } from 'node:timers/promises'
import Hapi from '@hapi/hapi'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'

const server = Hapi.server({ port: Number(process.env.PORT), host: '127.0.0.1' })
const get = (path, handler, options) => server.route({ method: 'GET', path, handler, options })
const post = (path, handler, options) => server.route({ method: 'POST', path, handler, options })

const programs = {
  hello() {
    get('/json', () => {
      ran()
      return { message: 'Hello World' }
    })
  },

  stack() {
    const log = openLog()
    server.events.on('response', ({ method, path, response, info }) => {
      log.write(
        `${method.toUpperCase()} ${path} ${response.statusCode} - ${info.responded - info.received} ms\n`,
      )
    })
    server.ext('onRequest', (request, h) => {
      request.app.id = Math.random().toString(36)
      return h.continue
    })
    // By default hapi sends CORS headers only to requests that have an origin.
    const cors = { origin: 'ignore' }
    get(
      '/api/users',
      (request) => {
        ran()
        return payloads.stackReply(request.app.id)
      },
      { cors },
    )
  },

  async users() {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    server.auth.scheme('bearer', () => ({
      authenticate(request, h) {
        if (request.headers.authorization === bearer) return h.authenticated({ credentials: {} })
        return h.response({ error: 'Unauthorized' }).code(401).takeover()
      },
    }))
    server.auth.strategy('token', 'bearer')

    get(
      '/api/users/{id}',
      (request, h) => {
        ran()
        const user = findUser.get(Number(request.params.id))
        return user ? { user } : h.response({ error: 'User not found' }).code(404)
      },
      { auth: 'token', validate: { params: (value) => params.parse(value) } },
    )
    post(
      '/api/users',
      (request, h) => {
        ran()
        const { name, email, age } = request.payload
        if (findEmail.get(email)) return h.response({ error: 'Email already exists' }).code(409)
        const { lastInsertRowid } = insertUser.run(name, email, age)
        return h.response({ user: findUser.get(lastInsertRowid) }).code(201)
      },
      { validate: { payload: (value) => newUser.parse(value) } },
    )
  },

  greet() {
    get('/', () => {
      ran()
      return { hello: 'world' }
    })
    get('/{hello}', (request) => {
      ran()
      return { hello: request.params.hello }
    })
    post('/', (request, h) => {
      ran()
      return h.response({ created: true }).code(201)
    })
  },

  records() {
    get('/', () => {
      ran()
      return payloads.records()
    })
  },

  zap() {
    for (const [path, text] of Object.entries(payloads.zapTexts)) {
      get(path, (request, h) => {
        ran()
        return h.response(text()).type('text/plain')
      })
    }
    for (const [path, object] of Object.entries(payloads.zapObjects)) {
      get(path, () => {
        ran()
        return object()
      })
    }
    get('/api/users/{id}', (request) => {
      ran()
      return payloads.zapUser(request.params.id)
    })
    for (const kind of payloads.zapKinds) {
      get(`/api/${kind}/{id}`, (request) => {
        ran()
        return payloads.zapRecord(kind, request.params.id)
      })
    }
    get('/api/users/{userId}/posts/{postId}', (request) => {
      ran()
      return payloads.zapPost(request.params.userId, request.params.postId)
    })
  },

  nessen() {
    get('/health', (request, h) => {
      ran()
      return h.response('OK').type('text/plain')
    })
    get('/badge/{label}/{value}.svg', (request, h) => {
      ran()
      return h.response(payloads.badge(request.params.label, request.params.value)).type('image/svg+xml')
    })
  },

  velox() {
    get('/api/health', () => {
      ran()
      return payloads.health()
    })
    get('/api/users', () => {
      ran()
      return payloads.userList()
    })
    get('/debug/memory', () => {
      ran()
      return payloads.memory()
    })
  },

  routes() {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      get(`/api/v1/resource${i}/{id}`, (request) => {
        ran()
        return { resource: i, id: request.params.id }
      })
    }
  },

  echo() {
    post('/echo', (request) => {
      ran()
      return payloads.echoReply(request.payload)
    })
  },

  slow() {
    get('/work/{id}', async (request) => {
      ran()
      const { id } = request.params
      if (payloads.isSlow(id)) await setTimeout(payloads.slowMilliseconds)
      return { id }
    })
  },
}

await programs[process.env.PROGRAM]()
await server.start()
console.log(`listening on ${server.info.port}`)
