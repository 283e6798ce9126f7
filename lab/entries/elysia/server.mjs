// Elysia, on Bun. Each route is a function: a value in its place would be answered without JavaScript.
import { Elysia } from 'elysia'
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'

const programs = {
  hello: () =>
    new Elysia().get('/json', () => {
      ran()
      return { message: 'Hello World' }
    }),

  async stack() {
    const { cors } = await import('@elysiajs/cors')
    const log = Bun.file(process.env.LOG).writer()
    return new Elysia()
      .onAfterResponse(({ request: { method }, path, set: { status } }) => {
        log.write(`${JSON.stringify({ time: Date.now(), method, path, status })}\n`)
      })
      .use(cors({ origin: '*' }))
      .derive(() => ({ requestId: Math.random().toString(36) }))
      .get('/api/users', ({ requestId }) => {
        ran()
        return make.stackReply(requestId)
      })
  },

  async users() {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')
    return new Elysia()
      .onError(({ code, status }) => {
        if (code === 'VALIDATION') return status(400, { error: 'The request is not valid' })
      })
      .get(
        '/api/users/:id',
        ({ params, status }) => {
          ran()
          const user = findUser.get(Number(params.id))
          return user ? { user } : status(404, { error: 'User not found' })
        },
        {
          params,
          // Before the parameter is looked at, which beforeHandle would not be.
          transform({ headers, status }) {
            if (headers.authorization !== bearer) throw status(401, { error: 'Unauthorized' })
          },
        },
      )
      .post(
        '/api/users',
        ({ body: { name, email, age }, status }) => {
          ran()
          if (findEmail.get(email)) return status(409, { error: 'Email already exists' })
          const { lastInsertRowid } = insertUser.run(name, email, age)
          return status(201, { user: findUser.get(lastInsertRowid) })
        },
        { body: newUser },
      )
  },

  greet: () =>
    new Elysia()
      .get('/', () => {
        ran()
        return { hello: 'world' }
      })
      .get('/:hello', ({ params: { hello } }) => {
        ran()
        return { hello }
      })
      .post('/', ({ status }) => {
        ran()
        return status(201, { created: true })
      }),

  records: () =>
    new Elysia().get('/', () => {
      ran()
      return make.records()
    }),

  zap() {
    const app = new Elysia()
      .get('/api/users/:id', ({ params: { id } }) => {
        ran()
        return make.zapUser(id)
      })
      // Elysia wants one name for the parameter in one place.
      .get('/api/users/:id/posts/:postId', ({ params: { id, postId } }) => {
        ran()
        return make.zapPost(id, postId)
      })
    for (const [path, value] of Object.entries({ ...make.zapTexts, ...make.zapObjects })) {
      app.get(path, () => {
        ran()
        return value()
      })
    }
    for (const kind of make.zapKinds) {
      app.get(`/api/${kind}/:id`, ({ params: { id } }) => {
        ran()
        return make.zapRecord(kind, id)
      })
    }
    return app
  },

  nessen: () =>
    new Elysia()
      .get('/health', () => {
        ran()
        return 'OK'
      })
      .get('/badge/:label/:file', ({ params: { label, file }, set, status }) => {
        ran()
        if (!file.endsWith('.svg')) return status(404)
        set.headers['content-type'] = 'image/svg+xml'
        return make.badge(label, file.slice(0, -'.svg'.length))
      }),

  velox: () =>
    new Elysia()
      .get('/api/health', () => {
        ran()
        return make.health()
      })
      .get('/api/users', () => {
        ran()
        return make.userList()
      })
      .get('/debug/memory', () => {
        ran()
        return make.memory()
      }),

  routes() {
    const app = new Elysia()
    for (let i = 0; i < make.routeCount; i++) {
      app.get(`/api/v1/resource${i}/:id`, ({ params: { id } }) => {
        ran()
        return { resource: i, id }
      })
    }
    return app
  },

  echo: () =>
    new Elysia().post('/echo', ({ body }) => {
      ran()
      return make.echoReply(body)
    }),

  slow: () =>
    new Elysia().get('/work/:id', async ({ params: { id } }) => {
      ran()
      if (make.isSlow(id)) await Bun.sleep(make.slowMilliseconds)
      return { id }
    }),
}

const app = await programs[process.env.PROGRAM]()
app.listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' })
console.log(`listening on ${app.server.port}`)
