// uWebSockets.js without a framework: it routes; the body and the replies are written by hand. It has no middleware, so
// the handlers do the work.
import { openLog } from '../log.mjs'
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { isSecure } from '../transport.mjs'

// The newest release runs on Node.js 22 and later.
const onNode20 = process.versions.node.startsWith('20.')
const { default: uws } = await import(onNode20 ? 'uWebSockets.js' : '@uwsjs/core')

const programs = {
  secure(app) {
    app.get('/hello.json', (response) => {
      ran()
      json(response, { message: 'Hello World' })
    })
  },

  hello(app) {
    app.get('/json', (response) => {
      ran()
      json(response, { message: 'Hello World' })
    })
  },

  stack(app) {
    const log = openLog()
    const logged = (method, path, status) => {
      log.write(`${JSON.stringify({ time: Date.now(), method, path, status })}\n`)
    }
    app.get('/api/users', (response, request) => {
      ran()
      const id = Math.random().toString(36)
      response.writeHeader('Access-Control-Allow-Origin', '*')
      json(response, make.stackReply(id))
      logged('GET', request.getUrl(), 200)
    })
    app.any('/*', (response, request) => {
      response.writeStatus('404 Not Found').writeHeader('Access-Control-Allow-Origin', '*')
      json(response, { error: 'Not found' })
      logged(request.getCaseSensitiveMethod(), request.getUrl(), 404)
    })
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    app.get('/api/users/:id', (response, request) => {
      ran()
      if (request.getHeader('authorization') !== bearer) {
        return refuse(response, '401 Unauthorized', { error: 'Unauthorized' })
      }
      const { success, data } = params.safeParse({ id: request.getParameter(0) })
      if (!success) return refuse(response, '400 Bad Request', { error: 'id must be a whole number' })
      const user = findUser.get(Number(data.id))
      if (user) json(response, { user })
      else refuse(response, '404 Not Found', { error: 'User not found' })
    })

    app.post('/api/users', (response) => {
      ran()
      readJson(response, (body) => {
        const { success, data } = newUser.safeParse(body)
        if (!success) return refuse(response, '400 Bad Request', { error: 'name, email or age is wrong' })
        if (findEmail.get(data.email)) {
          return refuse(response, '409 Conflict', { error: 'Email already exists' })
        }
        const { lastInsertRowid } = insertUser.run(data.name, data.email, data.age)
        json(response.writeStatus('201 Created'), { user: findUser.get(lastInsertRowid) })
      })
    })
  },

  sockets(app) {
    const behavior = { compression: uws.DISABLED, idleTimeout: 60, maxPayloadLength: 1024 * 1024 }
    app.ws('/ws', {
      ...behavior,
      message(ws, message, isBinary) {
        ran()
        ws.send(message, isBinary)
      },
    })
    app.ws('/room', {
      ...behavior,
      open(ws) {
        ws.subscribe('room')
      },
      message(ws, message, isBinary) {
        ran()
        ws.publish('room', message, isBinary)
      },
    })
  },

  greet(app) {
    app.get('/', (response) => {
      ran()
      json(response, { hello: 'world' })
    })
    app.get('/:hello', (response, request) => {
      ran()
      const hello = parameter(request, 0)
      if (hello === null) return malformed(response)
      json(response, { hello })
    })
    app.post('/', (response) => {
      ran()
      json(response.writeStatus('201 Created'), { created: true })
    })
  },

  records(app) {
    app.get('/', (response) => {
      ran()
      json(response, make.records())
    })
  },

  zap(app) {
    for (const [path, text] of Object.entries(make.zapTexts)) {
      app.get(path, (response) => {
        ran()
        response.writeHeader('Content-Type', 'text/plain; charset=utf-8').end(text())
      })
    }
    for (const [path, object] of Object.entries(make.zapObjects)) {
      app.get(path, (response) => {
        ran()
        json(response, object())
      })
    }
    app.get('/api/users/:id', (response, request) => {
      ran()
      const id = parameter(request, 0)
      if (id === null) return malformed(response)
      json(response, make.zapUser(id))
    })
    app.get('/api/users/:userId/posts/:postId', (response, request) => {
      ran()
      const userId = parameter(request, 0)
      const postId = parameter(request, 1)
      if (userId === null || postId === null) return malformed(response)
      json(response, make.zapPost(userId, postId))
    })
    for (const kind of make.zapKinds) {
      app.get(`/api/${kind}/:id`, (response, request) => {
        ran()
        const id = parameter(request, 0)
        if (id === null) return malformed(response)
        json(response, make.zapRecord(kind, id))
      })
    }
  },

  nessen(app) {
    app.get('/health', (response) => {
      ran()
      response.writeHeader('Content-Type', 'text/plain; charset=utf-8').end('OK')
    })
    app.get('/badge/:label/:file', (response, request) => {
      ran()
      const label = parameter(request, 0)
      const file = parameter(request, 1)
      if (label === null || file === null) return malformed(response)
      if (!file.endsWith('.svg')) return refuse(response, '404 Not Found', { error: 'Not found' })
      const svg = make.badge(label, file.slice(0, -'.svg'.length))
      response.writeHeader('Content-Type', 'image/svg+xml').end(svg)
    })
  },

  velox(app) {
    app.get('/api/health', (response) => {
      ran()
      json(response, make.health())
    })
    app.get('/api/users', (response) => {
      ran()
      json(response, make.userList())
    })
    app.get('/debug/memory', (response) => {
      ran()
      json(response, make.memory())
    })
  },

  routes(app) {
    for (let i = 0; i < make.routeCount; i++) {
      app.get(`/api/v1/resource${i}/:id`, (response, request) => {
        ran()
        const id = parameter(request, 0)
        if (id === null) return malformed(response)
        json(response, { resource: i, id })
      })
    }
  },

  echo(app) {
    app.post('/echo', (response) => {
      ran()
      readJson(response, (body) => json(response, make.echoReply(body)))
    })
  },

  slow(app) {
    app.get('/work/:id', (response, request) => {
      ran()
      const id = parameter(request, 0)
      if (id === null) return malformed(response)
      if (!make.isSlow(id)) return json(response, { id })
      let aborted = false
      response.onAborted(() => {
        aborted = true
      })
      setTimeout(() => {
        if (!aborted) response.cork(() => json(response, { id }))
      }, make.slowMilliseconds)
    })
  },

  param(app) {
    app.get('/hi/:name', (response, request) => {
      ran()
      const name = parameter(request, 0)
      if (name === null) return malformed(response)
      json(response, { hi: name })
    })
    app.get('/static', (response) => {
      ran()
      json(response, { hi: 'Ada' })
    })
  },

  middleware(app) {
    const prefix = `${Math.random().toString(36).slice(2, 10)}-`
    let last = 0
    app.get('/none', (response) => {
      ran()
      json(response, { message: 'Hello World' })
    })
    app.get('/three', (response) => {
      ran()
      const state = { message: 'Hello World' }
      response.writeHeader('X-Request-Id', prefix + (++last).toString(36))
      response.writeHeader('Access-Control-Allow-Origin', '*')
      json(response, { message: state.message })
    })
  },
}

const app = (
  isSecure ? uws.SSLApp({ cert_file_name: process.env.CERT, key_file_name: process.env.KEY }) : uws.App()
).any('/*', (response) => {
  refuse(response, '404 Not Found', { error: 'Not found' })
})
await programs[process.env.PROGRAM](app)
app.listen('127.0.0.1', Number(process.env.PORT), (socket) => {
  if (!socket) throw new Error('cannot listen')
  console.log(`listening on ${uws.us_socket_local_port(socket)}`)
})

/** A part of the path, or null when its escapes are not well-formed: what a handler throws would end the process. */
function parameter(request, index) {
  const text = request.getParameter(index)
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** A chunk is only valid during its call; most bodies are one. What comes after the handler has returned is corked. */
function readJson(response, use) {
  let before = null
  let size = 0
  let aborted = false
  response.onAborted(() => {
    aborted = true
  })
  response.onData((bytes, isLast) => {
    const chunk = Buffer.from(bytes)
    size += chunk.length
    if (!isLast) {
      if (size <= 2 ** 20) before = before ? Buffer.concat([before, chunk]) : Buffer.concat([chunk])
      return
    }
    if (aborted) return
    if (size > 2 ** 20) {
      response.cork(() =>
        refuse(response, '413 Content Too Large', { error: 'The body is larger than 1 MiB' }),
      )
      return
    }
    let body
    try {
      body = JSON.parse(before ? Buffer.concat([before, chunk]) : chunk)
    } catch {
      response.cork(() => refuse(response, '400 Bad Request', { error: 'The body is not JSON' }))
      return
    }
    response.cork(() => use(body))
  })
}

function json(response, value) {
  response.writeHeader('Content-Type', 'application/json; charset=utf-8').end(JSON.stringify(value))
}

function malformed(response) {
  refuse(response, '400 Bad Request', { error: 'The path is not well-formed' })
}

function refuse(response, status, value) {
  json(response.writeStatus(status), value)
}
