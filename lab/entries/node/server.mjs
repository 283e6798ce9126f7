// node:http without a framework: the router, the body and the replies are written by hand.
import { createServer } from 'node:http'
import * as http2 from 'node:http2'
import * as https from 'node:https'
import { openLog } from '../log.mjs'
import * as make from '../payloads.mjs'
import { ran } from '../ran.mjs'
import { isHttp2, isSecure, secrets } from '../transport.mjs'

const programs = {
  secure: speak,
  streams: speak,

  hello() {
    get('/json', (request, response) => {
      ran()
      json(response, 200, { message: 'Hello World' })
    })
  },

  stack() {
    const log = openLog()
    around((request, response, next) => {
      const { method, url: path } = request
      response.on('finish', () => {
        log.write(`${JSON.stringify({ time: Date.now(), method, path, status: response.statusCode })}\n`)
      })
      response.setHeader('Access-Control-Allow-Origin', '*')
      request.id = Math.random().toString(36)
      next()
    })
    get('/api/users', (request, response) => {
      ran()
      json(response, 200, make.stackReply(request.id))
    })
  },

  async users() {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    get('/api/users/:id', (request, response, [id]) => {
      ran()
      if (request.headers.authorization !== bearer) return json(response, 401, { error: 'Unauthorized' })
      const { success, data } = params.safeParse({ id })
      if (!success) return json(response, 400, { error: 'id must be a whole number' })
      const user = findUser.get(Number(data.id))
      if (user) json(response, 200, { user })
      else json(response, 404, { error: 'User not found' })
    })

    post('/api/users', (request, response) => {
      ran()
      readJson(request, response, (body) => {
        const { success, data } = newUser.safeParse(body)
        if (!success) return json(response, 400, { error: 'name, email or age is wrong' })
        if (findEmail.get(data.email)) return json(response, 409, { error: 'Email already exists' })
        const { lastInsertRowid } = insertUser.run(data.name, data.email, data.age)
        json(response, 201, { user: findUser.get(lastInsertRowid) })
      })
    })
  },

  greet() {
    get('/', (request, response) => {
      ran()
      json(response, 200, { hello: 'world' })
    })
    get('/:hello', (request, response, [hello]) => {
      ran()
      json(response, 200, { hello })
    })
    post('/', (request, response) => {
      ran()
      json(response, 201, { created: true })
    })
  },

  records() {
    get('/', (request, response) => {
      ran()
      json(response, 200, make.records())
    })
  },

  zap() {
    for (const [path, text] of Object.entries(make.zapTexts)) {
      get(path, (request, response) => {
        ran()
        send(response, 200, 'text/plain; charset=utf-8', text())
      })
    }
    for (const [path, object] of Object.entries(make.zapObjects)) {
      get(path, (request, response) => {
        ran()
        json(response, 200, object())
      })
    }
    get('/api/users/:id', (request, response, [id]) => {
      ran()
      json(response, 200, make.zapUser(id))
    })
    get('/api/users/:userId/posts/:postId', (request, response, [userId, postId]) => {
      ran()
      json(response, 200, make.zapPost(userId, postId))
    })
    for (const kind of make.zapKinds) {
      get(`/api/${kind}/:id`, (request, response, [id]) => {
        ran()
        json(response, 200, make.zapRecord(kind, id))
      })
    }
  },

  nessen() {
    get('/health', (request, response) => {
      ran()
      send(response, 200, 'text/plain; charset=utf-8', 'OK')
    })
    get('/badge/:label/:file', (request, response, [label, file]) => {
      ran()
      if (!file.endsWith('.svg')) return json(response, 404, { error: 'Not found' })
      send(response, 200, 'image/svg+xml', make.badge(label, file.slice(0, -'.svg'.length)))
    })
  },

  velox() {
    get('/api/health', (request, response) => {
      ran()
      json(response, 200, make.health())
    })
    get('/api/users', (request, response) => {
      ran()
      json(response, 200, make.userList())
    })
    get('/debug/memory', (request, response) => {
      ran()
      json(response, 200, make.memory())
    })
  },

  routes() {
    for (let i = 0; i < make.routeCount; i++) {
      get(`/api/v1/resource${i}/:id`, (request, response, [id]) => {
        ran()
        json(response, 200, { resource: i, id })
      })
    }
  },

  echo() {
    post('/echo', (request, response) => {
      ran()
      readJson(request, response, (body) => json(response, 200, make.echoReply(body)))
    })
  },

  slow() {
    get('/work/:id', (request, response, [id]) => {
      ran()
      if (make.isSlow(id)) setTimeout(() => json(response, 200, { id }), make.slowMilliseconds)
      else json(response, 200, { id })
    })
  },

  param() {
    get('/hi/:name', (request, response, [name]) => {
      ran()
      json(response, 200, { hi: name })
    })
    get('/static', (request, response) => {
      ran()
      json(response, 200, { hi: 'Ada' })
    })
  },
}

// The router: paths without parameters in a map, the others in a tree of their segments.
const methods = new Map([
  ['GET', { paths: new Map(), tree: segment() }],
  ['POST', { paths: new Map(), tree: segment() }],
])
const none = []
let middleware = (request, response, next) => next()

await programs[process.env.PROGRAM]()
const server = serverOf((request, response) => {
  middleware(request, response, () => route(request, response))
})
server.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listening on ${server.address().port}`)
})

function around(given) {
  middleware = given
}

function get(path, handler) {
  add('GET', path, handler)
}

function post(path, handler) {
  add('POST', path, handler)
}

function add(method, path, handler) {
  const { paths, tree } = methods.get(method)
  if (!path.includes(':')) return paths.set(path, handler)
  let at = tree
  for (const name of path.slice(1).split('/')) {
    if (name.startsWith(':')) {
      at = at.parameter ??= segment()
    } else {
      if (!at.names.has(name)) at.names.set(name, segment())
      at = at.names.get(name)
    }
  }
  at.handler = handler
}

function segment() {
  return { names: new Map(), parameter: null, handler: null }
}

function route(request, response) {
  const { method, url } = request
  const routes = methods.get(method)
  if (!routes) return json(response, 405, { error: 'Method not allowed' })
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  const fixed = routes.paths.get(path)
  if (fixed) return fixed(request, response, none)

  const params = []
  let at = routes.tree
  for (const name of path.slice(1).split('/')) {
    const next = at.names.get(name)
    if (next) {
      at = next
    } else {
      at = name === '' ? null : at.parameter
      if (!at) break
      params.push(name)
    }
  }
  if (!at?.handler) return json(response, 404, { error: 'Not found' })
  if (path.includes('%')) {
    try {
      for (const [index, text] of params.entries()) params[index] = decodeURIComponent(text)
    } catch {
      return json(response, 400, { error: 'The path is not well-formed' })
    }
  }
  at.handler(request, response, params)
}

function speak() {
  get('/hello.json', (request, response) => {
    ran()
    json(response, 200, { message: 'Hello World' })
  })
}

function serverOf(answer) {
  if (!isHttp2) return isSecure ? https.createServer(secrets(), answer) : createServer(answer)
  const listeners = process.env.API === 'compat' ? [answer] : []
  const server = isSecure
    ? http2.createSecureServer(secrets(), ...listeners)
    : http2.createServer(...listeners)
  return listeners.length > 0 ? server : server.on('stream', answerStream)
}

// Answers with the core API of node:http2, which has streams instead of requests and replies.
function answerStream(stream, headers) {
  if (headers[':path'] !== '/hello.json') return stream.respond({ ':status': 404 }, { endStream: true })
  ran()
  const body = JSON.stringify({ message: 'Hello World' })
  stream.respond({
    ':status': 200,
    'content-type': 'application/json; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  })
  stream.end(body)
}

function readJson(request, response, use) {
  const chunks = []
  let size = 0
  request.on('data', (chunk) => {
    size += chunk.length
    if (size <= 2 ** 20) chunks.push(chunk)
  })
  request.on('end', () => {
    if (size > 2 ** 20) return json(response, 413, { error: 'The body is larger than 1 MiB' })
    let body
    try {
      body = JSON.parse(Buffer.concat(chunks).toString())
    } catch {
      return json(response, 400, { error: 'The body is not JSON' })
    }
    use(body)
  })
}

function json(response, status, value) {
  send(response, status, 'application/json; charset=utf-8', JSON.stringify(value))
}

function send(response, status, type, body) {
  response.writeHead(status, { 'Content-Type': type, 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}
