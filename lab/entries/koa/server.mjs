import { setTimeout } from 'node:timers/promises'
import { bodyParser } from '@koa/bodyparser'
import cors from '@koa/cors'
import Router from '@koa/router'
import Koa from 'koa'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'

const programs = {
  hello(app, router) {
    router.get('/json', (ctx) => {
      ran()
      ctx.body = { message: 'Hello World' }
    })
  },

  // The log is the middleware that Koa's guide begins with.
  stack(app, router) {
    const log = openLog()
    app.use(async (ctx, next) => {
      const start = Date.now()
      await next()
      log.write(`${ctx.method} ${ctx.url} ${ctx.status} - ${Date.now() - start} ms\n`)
    })
    app.use(cors())
    app.use((ctx, next) => {
      ctx.state.requestId = Math.random().toString(36)
      return next()
    })
    router.get('/api/users', (ctx) => {
      ran()
      ctx.body = payloads.stackReply(ctx.state.requestId)
    })
  },

  async users(app, router) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    const refuse = (ctx, status, error) => {
      ctx.status = status
      ctx.body = { error }
    }
    const authenticate = (ctx, next) => {
      if (ctx.get('authorization') === bearer) return next()
      refuse(ctx, 401, 'Unauthorized')
    }
    const validate = (schema, read) => (ctx, next) => {
      const { success, data } = schema.safeParse(read(ctx))
      if (!success) return refuse(ctx, 400, 'Invalid request')
      ctx.state.valid = data
      return next()
    }

    router.get(
      '/api/users/:id',
      authenticate,
      validate(params, (ctx) => ctx.params),
      (ctx) => {
        ran()
        const user = findUser.get(Number(ctx.state.valid.id))
        if (user) ctx.body = { user }
        else refuse(ctx, 404, 'User not found')
      },
    )
    router.post(
      '/api/users',
      bodyParser({ enableTypes: ['json'] }),
      validate(newUser, (ctx) => ctx.request.body),
      (ctx) => {
        ran()
        const { name, email, age } = ctx.state.valid
        if (findEmail.get(email)) return refuse(ctx, 409, 'Email already exists')
        const { lastInsertRowid } = insertUser.run(name, email, age)
        ctx.status = 201
        ctx.body = { user: findUser.get(lastInsertRowid) }
      },
    )
  },

  greet(app, router) {
    router.get('/', (ctx) => {
      ran()
      ctx.body = { hello: 'world' }
    })
    router.get('/:hello', (ctx) => {
      ran()
      ctx.body = { hello: ctx.params.hello }
    })
    router.post('/', (ctx) => {
      ran()
      ctx.status = 201
      ctx.body = { created: true }
    })
  },

  records(app, router) {
    router.get('/', (ctx) => {
      ran()
      ctx.body = payloads.records()
    })
  },

  zap(app, router) {
    for (const [path, reply] of Object.entries({ ...payloads.zapTexts, ...payloads.zapObjects })) {
      router.get(path, (ctx) => {
        ran()
        ctx.body = reply()
      })
    }
    router.get('/api/users/:id', (ctx) => {
      ran()
      ctx.body = payloads.zapUser(ctx.params.id)
    })
    for (const kind of payloads.zapKinds) {
      router.get(`/api/${kind}/:id`, (ctx) => {
        ran()
        ctx.body = payloads.zapRecord(kind, ctx.params.id)
      })
    }
    router.get('/api/users/:userId/posts/:postId', (ctx) => {
      ran()
      ctx.body = payloads.zapPost(ctx.params.userId, ctx.params.postId)
    })
  },

  nessen(app, router) {
    router.get('/health', (ctx) => {
      ran()
      ctx.body = 'OK'
    })
    router.get('/badge/:label/:value.svg', (ctx) => {
      ran()
      ctx.type = 'image/svg+xml'
      ctx.body = payloads.badge(ctx.params.label, ctx.params.value)
    })
  },

  velox(app, router) {
    router.get('/api/health', (ctx) => {
      ran()
      ctx.body = payloads.health()
    })
    router.get('/api/users', (ctx) => {
      ran()
      ctx.body = payloads.userList()
    })
    router.get('/debug/memory', (ctx) => {
      ran()
      ctx.body = payloads.memory()
    })
  },

  routes(app, router) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      router.get(`/api/v1/resource${i}/:id`, (ctx) => {
        ran()
        ctx.body = { resource: i, id: ctx.params.id }
      })
    }
  },

  echo(app, router) {
    app.use(bodyParser({ enableTypes: ['json'] }))
    router.post('/echo', (ctx) => {
      ran()
      ctx.body = payloads.echoReply(ctx.request.body)
    })
  },

  slow(app, router) {
    router.get('/work/:id', async (ctx) => {
      ran()
      const { id } = ctx.params
      if (payloads.isSlow(id)) await setTimeout(payloads.slowMilliseconds)
      ctx.body = { id }
    })
  },
}

const app = new Koa()
const router = new Router()
await programs[process.env.PROGRAM](app, router)
app.use(router.routes())
app.use(router.allowedMethods())
const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})
