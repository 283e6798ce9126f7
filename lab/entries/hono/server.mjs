import { setTimeout } from 'node:timers/promises'
import { serve } from '@hono/node-server'
import { zValidator } from '@hono/zod-validator'
import { Hono } from 'hono'
import { getSignedCookie, setSignedCookie } from 'hono/cookie'
import { cors } from 'hono/cors'
import { jwt } from 'hono/jwt'
import { logger } from 'hono/logger'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { nextId } from '../request-ids.mjs'

const programs = {
  hello(app) {
    app.get('/json', (c) => {
      ran()
      return c.json({ message: 'Hello World' })
    })
  },

  // A middleware of its own as log: that of Hono writes two lines for each request.
  stack(app) {
    const log = openLog()
    app.use(async (c, next) => {
      const start = Date.now()
      await next()
      log.write(`${c.req.method} ${c.req.path} ${c.res.status} - ${Date.now() - start} ms\n`)
    })
    app.use(cors())
    app.use(async (c, next) => {
      c.set('requestId', Math.random().toString(36))
      await next()
    })
    app.get('/api/users', (c) => {
      ran()
      return c.json(payloads.stackReply(c.get('requestId')))
    })
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    const authenticate = async (c, next) => {
      if (c.req.header('authorization') !== bearer) return c.json({ error: 'Unauthorized' }, 401)
      await next()
    }
    app.get('/api/users/:id', authenticate, zValidator('param', params), (c) => {
      ran()
      const user = findUser.get(Number(c.req.valid('param').id))
      return user ? c.json({ user }) : c.json({ error: 'User not found' }, 404)
    })
    app.post('/api/users', zValidator('json', newUser), (c) => {
      ran()
      const { name, email, age } = c.req.valid('json')
      if (findEmail.get(email)) return c.json({ error: 'Email already exists' }, 409)
      const { lastInsertRowid } = insertUser.run(name, email, age)
      return c.json({ user: findUser.get(lastInsertRowid) }, 201)
    })
  },

  greet(app) {
    app.get('/', (c) => {
      ran()
      return c.json({ hello: 'world' })
    })
    app.get('/:hello', (c) => {
      ran()
      return c.json({ hello: c.req.param('hello') })
    })
    app.post('/', (c) => {
      ran()
      return c.json({ created: true }, 201)
    })
  },

  records(app) {
    app.get('/', (c) => {
      ran()
      return c.json(payloads.records())
    })
  },

  zap(app) {
    for (const [path, text] of Object.entries(payloads.zapTexts)) {
      app.get(path, (c) => {
        ran()
        return c.text(text())
      })
    }
    for (const [path, object] of Object.entries(payloads.zapObjects)) {
      app.get(path, (c) => {
        ran()
        return c.json(object())
      })
    }
    app.get('/api/users/:id', (c) => {
      ran()
      return c.json(payloads.zapUser(c.req.param('id')))
    })
    for (const kind of payloads.zapKinds) {
      app.get(`/api/${kind}/:id`, (c) => {
        ran()
        return c.json(payloads.zapRecord(kind, c.req.param('id')))
      })
    }
    app.get('/api/users/:userId/posts/:postId', (c) => {
      ran()
      return c.json(payloads.zapPost(c.req.param('userId'), c.req.param('postId')))
    })
  },

  nessen(app) {
    app.get('/health', (c) => {
      ran()
      return c.text('OK')
    })
    app.get('/badge/:label/:file{[^/]+\\.svg}', (c) => {
      ran()
      const { label, file } = c.req.param()
      return c.body(payloads.badge(label, file.slice(0, -'.svg'.length)), 200, {
        'content-type': 'image/svg+xml',
      })
    })
  },

  velox(app) {
    app.get('/api/health', (c) => {
      ran()
      return c.json(payloads.health())
    })
    app.get('/api/users', (c) => {
      ran()
      return c.json(payloads.userList())
    })
    app.get('/debug/memory', (c) => {
      ran()
      return c.json(payloads.memory())
    })
  },

  routes(app) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      app.get(`/api/v1/resource${i}/:id`, (c) => {
        ran()
        return c.json({ resource: i, id: c.req.param('id') })
      })
    }
  },

  echo(app) {
    app.post('/echo', async (c) => {
      ran()
      return c.json(payloads.echoReply(await c.req.json()))
    })
  },

  slow(app) {
    app.get('/work/:id', async (c) => {
      ran()
      const id = c.req.param('id')
      if (payloads.isSlow(id)) await setTimeout(payloads.slowMilliseconds)
      return c.json({ id })
    })
  },

  // Hono sends no Content-Security-Policy unless it is told one: this is Volant's.
  secured(app) {
    app.get('/none', greet)
    const self = ["'self'"]
    const none = ["'none'"]
    const contentSecurityPolicy = {
      defaultSrc: self,
      baseUri: self,
      formAction: self,
      frameAncestors: none,
      objectSrc: none,
    }
    app.get('/headers', secureHeaders({ contentSecurityPolicy }), greet)
  },

  identified(app) {
    app.get('/none', greet)
    app.get('/both', requestId({ generator: nextId }), cors(), greet)
  },

  // Hono's logger writes a line when a request comes and one when it was answered: only the second is kept.
  journal(app) {
    const log = openLog()
    const write = (line) => {
      if (line.startsWith('-->')) log.write(`${line}\n`)
    }
    app.get('/none', greet)
    app.get('/logged', logger(write), greet)
  },

  cookies(app) {
    const key = process.env.COOKIE_KEY
    app.get('/none', (c) => {
      ran()
      return c.json({ user: 'u10000' })
    })
    app.post('/sign-in/:user', async (c) => {
      await setSignedCookie(c, 'user', c.req.param('user'), key, { httpOnly: true, secure: true })
      return c.json({ signedIn: true })
    })
    app.get('/read', async (c) => {
      ran()
      const user = await getSignedCookie(c, key, 'user')
      return user ? c.json({ user }) : c.json({ error: 'Unauthorized' }, 401)
    })
  },

  async tokens(app) {
    const { claimsByHand } = await import('../jwt-by-hand.mjs')
    app.get('/none', (c) => {
      ran()
      return c.json({ user: 'u10000' })
    })
    app.get('/by-hand', (c) => {
      ran()
      const claims = claimsByHand(c.req.header('authorization'))
      return claims === null ? c.json({ error: 'Unauthorized' }, 401) : c.json({ user: claims.sub })
    })
    app.get('/verified', jwt({ secret: process.env.JWT_SECRET, alg: 'HS256' }), (c) => {
      ran()
      return c.json({ user: c.get('jwtPayload').sub })
    })
  },
}

function greet(c) {
  ran()
  return c.json({ message: 'Hello World' })
}

const app = new Hono()
await programs[process.env.PROGRAM](app)
serve({ fetch: app.fetch, port: Number(process.env.PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`listening on ${port}`)
})
