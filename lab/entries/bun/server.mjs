// Bun.serve without a framework. Each route is a function: a Response in its place would be answered without
// JavaScript. It has no middleware, so the handlers do the work; the log is written by Bun at the end of each turn.
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { isHttp2, secrets } from '../transport.mjs'

const programs = {
  hello: () => ({
    '/json': {
      GET() {
        ran()
        return Response.json({ message: 'Hello World' })
      },
    },
  }),

  secure: speak,
  streams: speak,

  stack() {
    const file = Bun.file(process.env.LOG).writer()
    const log = (method, path, status) => {
      file.write(`${JSON.stringify({ time: Date.now(), method, path, status })}\n`)
    }
    const headers = { 'access-control-allow-origin': '*' }
    return {
      '/api/users': {
        GET() {
          ran()
          const id = Math.random().toString(36)
          log('GET', '/api/users', 200)
          return Response.json(make.stackReply(id), { headers })
        },
      },
      '/*'(request) {
        log(request.method, new URL(request.url).pathname, 404)
        return new Response(null, { status: 404, headers })
      },
    }
  },

  async users() {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')
    return {
      '/api/users/:id': {
        GET(request) {
          ran()
          if (request.headers.get('authorization') !== bearer) {
            return Response.json({ error: 'Unauthorized' }, { status: 401 })
          }
          const { success, data } = params.safeParse(request.params)
          if (!success) return Response.json({ error: 'id must be a whole number' }, { status: 400 })
          const user = findUser.get(Number(data.id))
          if (!user) return Response.json({ error: 'User not found' }, { status: 404 })
          return Response.json({ user })
        },
      },
      '/api/users': {
        async POST(request) {
          ran()
          const { success, data } = newUser.safeParse(await request.json())
          if (!success) return Response.json({ error: 'name, email or age is wrong' }, { status: 400 })
          if (findEmail.get(data.email)) {
            return Response.json({ error: 'Email already exists' }, { status: 409 })
          }
          const { lastInsertRowid } = insertUser.run(data.name, data.email, data.age)
          return Response.json({ user: findUser.get(lastInsertRowid) }, { status: 201 })
        },
      },
    }
  },

  greet: () => ({
    '/': {
      GET() {
        ran()
        return Response.json({ hello: 'world' })
      },
      POST() {
        ran()
        return Response.json({ created: true }, { status: 201 })
      },
    },
    '/:hello': {
      GET(request) {
        ran()
        return Response.json({ hello: request.params.hello })
      },
    },
  }),

  records: () => ({
    '/': {
      GET() {
        ran()
        return Response.json(make.records())
      },
    },
  }),

  zap() {
    const routes = {
      '/api/users/:id': {
        GET(request) {
          ran()
          return Response.json(make.zapUser(request.params.id))
        },
      },
      '/api/users/:userId/posts/:postId': {
        GET(request) {
          ran()
          return Response.json(make.zapPost(request.params.userId, request.params.postId))
        },
      },
    }
    for (const [path, text] of Object.entries(make.zapTexts)) {
      routes[path] = {
        GET() {
          ran()
          return new Response(text())
        },
      }
    }
    for (const [path, object] of Object.entries(make.zapObjects)) {
      routes[path] = {
        GET() {
          ran()
          return Response.json(object())
        },
      }
    }
    for (const kind of make.zapKinds) {
      routes[`/api/${kind}/:id`] = {
        GET(request) {
          ran()
          return Response.json(make.zapRecord(kind, request.params.id))
        },
      }
    }
    return routes
  },

  nessen: () => ({
    '/health': {
      GET() {
        ran()
        return new Response('OK')
      },
    },
    '/badge/:label/:file': {
      GET(request) {
        ran()
        const { label, file } = request.params
        if (!file.endsWith('.svg')) return new Response(null, { status: 404 })
        const svg = make.badge(label, file.slice(0, -'.svg'.length))
        return new Response(svg, { headers: { 'content-type': 'image/svg+xml' } })
      },
    },
  }),

  velox: () => ({
    '/api/health': {
      GET() {
        ran()
        return Response.json(make.health())
      },
    },
    '/api/users': {
      GET() {
        ran()
        return Response.json(make.userList())
      },
    },
    '/debug/memory': {
      GET() {
        ran()
        return Response.json(make.memory())
      },
    },
  }),

  routes() {
    const routes = {}
    for (let i = 0; i < make.routeCount; i++) {
      routes[`/api/v1/resource${i}/:id`] = {
        GET(request) {
          ran()
          return Response.json({ resource: i, id: request.params.id })
        },
      }
    }
    return routes
  },

  sockets() {
    const upgrade = (data) => (request, server) => {
      if (!server.upgrade(request, { data })) return new Response(null, { status: 426 })
    }
    return { '/ws': upgrade({ room: false }), '/room': upgrade({ room: true }) }
  },

  echo: () => ({
    '/echo': {
      async POST(request) {
        ran()
        return Response.json(make.echoReply(await request.json()))
      },
    },
  }),

  slow: () => ({
    '/work/:id': {
      async GET(request) {
        ran()
        const { id } = request.params
        if (make.isSlow(id)) await Bun.sleep(make.slowMilliseconds)
        return Response.json({ id })
      },
    },
  }),
}

function speak() {
  return {
    '/hello.json': {
      GET() {
        ran()
        return Response.json({ message: 'Hello World' })
      },
    },
  }
}

// One for all of a server; `data` says which route a socket is of.
const websocket = {
  idleTimeout: 60,
  perMessageDeflate: false,
  maxPayloadLength: 1024 * 1024,
  open(ws) {
    if (ws.data.room) ws.subscribe('room')
  },
  message(ws, message) {
    ran()
    if (ws.data.room) ws.publish('room', message)
    else ws.send(message)
  },
}

const server = Bun.serve({
  port: Number(process.env.PORT),
  hostname: '127.0.0.1',
  websocket,
  ...(secrets() && { tls: secrets() }),
  ...(isHttp2 && { http2: true }),
  routes: await programs[process.env.PROGRAM](),
  fetch: () => new Response(null, { status: 404 }),
  // What request.json() throws.
  error: (error) => new Response(null, { status: error instanceof SyntaxError ? 400 : 500 }),
})
console.log(`listening on ${server.port}`)
