// As published, `new Zap()` throws: its module reads `__dirname`, which ES modules do not have, and it looks for its
// binary in `bin` of the working folder, not in its package for the platform. The first two statements get past both.
import { once } from 'node:events'
import { createServer } from 'node:net'
import { dirname } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { openLog } from '../log.mjs'
import * as payloads from '../payloads.mjs'
import { ran } from '../ran.mjs'

globalThis.__dirname = import.meta.dirname
process.chdir(dirname(fileURLToPath(import.meta.resolve('@zap-js/linux-x64/package.json'))))
const { Zap } = await import('@zap-js/client')

const json = (body, status) => Response.json(body, { status })

const programs = {
  hello(app) {
    app.get('/json', () => {
      ran()
      return { message: 'Hello World' }
    })
  },

  // Its server has no middleware for handlers, and its `logging()` writes to no file.
  stack(app) {
    const log = openLog()
    const logged = (handler) => async (request) => {
      const start = Date.now()
      const response = await handler(request)
      log.write(`${request.method} ${request.path} ${response.status} - ${Date.now() - start} ms\n`)
      return response
    }
    const identified = (handler) => (request) => handler(request, Math.random().toString(36))

    app.cors()
    app.get(
      '/api/users',
      logged(
        identified((request, requestId) => {
          ran()
          return Response.json(payloads.stackReply(requestId))
        }),
      ),
    )
  },

  async users(app) {
    const { bearer, findEmail, findUser, insertUser, newUser, params } = await import('../users-service.mjs')

    app.get('/api/users/:id', (request) => {
      ran()
      if (request.headers.authorization !== bearer) return json({ error: 'Unauthorized' }, 401)
      const { success, data } = params.safeParse(request.params)
      if (!success) return json({ error: 'Invalid request' }, 400)
      const user = findUser.get(Number(data.id))
      return user ? { user } : json({ error: 'User not found' }, 404)
    })
    app.post('/api/users', (request) => {
      ran()
      const { success, data } = newUser.safeParse(parse(request.body))
      if (!success) return json({ error: 'Invalid request' }, 400)
      if (findEmail.get(data.email)) return json({ error: 'Email already exists' }, 409)
      const { lastInsertRowid } = insertUser.run(data.name, data.email, data.age)
      return json({ user: findUser.get(lastInsertRowid) }, 201)
    })
  },

  greet(app) {
    app.get('/', () => {
      ran()
      return { hello: 'world' }
    })
    app.get('/:hello', (request) => {
      ran()
      return { hello: request.params.hello }
    })
    app.post('/', () => {
      ran()
      return json({ created: true }, 201)
    })
  },

  records(app) {
    app.get('/', () => {
      ran()
      return payloads.records()
    })
  },

  // A parameter has one name in all paths that share its place: the first one given.
  zap(app) {
    for (const [path, reply] of Object.entries({ ...payloads.zapTexts, ...payloads.zapObjects })) {
      app.get(path, () => {
        ran()
        return reply()
      })
    }
    app.get('/api/users/:userId', (request) => {
      ran()
      return payloads.zapUser(request.params.userId)
    })
    for (const kind of payloads.zapKinds) {
      app.get(`/api/${kind}/:id`, (request) => {
        ran()
        return payloads.zapRecord(kind, request.params.id)
      })
    }
    app.get('/api/users/:userId/posts/:postId', (request) => {
      ran()
      return payloads.zapPost(request.params.userId, request.params.postId)
    })
  },

  nessen(app) {
    app.get('/health', () => {
      ran()
      return 'OK'
    })
    app.get('/badge/:label/:file', (request) => {
      ran()
      const { label, file } = request.params
      if (!file.endsWith('.svg')) return json({ error: 'Not found' }, 404)
      const svg = payloads.badge(label, file.slice(0, -'.svg'.length))
      return new Response(svg, { headers: { 'content-type': 'image/svg+xml' } })
    })
  },

  velox(app) {
    app.get('/api/health', () => {
      ran()
      return payloads.health()
    })
    app.get('/api/users', () => {
      ran()
      return payloads.userList()
    })
    app.get('/debug/memory', () => {
      ran()
      return payloads.memory()
    })
  },

  routes(app) {
    for (let i = 0; i < payloads.routeCount; i += 1) {
      app.get(`/api/v1/resource${i}/:id`, (request) => {
        ran()
        return { resource: i, id: request.params.id }
      })
    }
  },

  echo(app) {
    app.post('/echo', (request) => {
      ran()
      return payloads.echoReply(JSON.parse(request.body))
    })
  },

  slow(app) {
    app.get('/work/:id', async (request) => {
      ran()
      const { id } = request.params
      if (payloads.isSlow(id)) await setTimeout(payloads.slowMilliseconds)
      return { id }
    })
  },
}

function parse(body) {
  try {
    return JSON.parse(body)
  } catch {
    return undefined
  }
}

// Port 0 means 3000 to it.
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

// It prints three lines and more for each request; its socket and its configuration go to the temporary folder.
console.log = () => {}
process.env.TMPDIR = process.env.SCRATCH

const port = Number(process.env.PORT) || (await freePort())
const app = new Zap({ port, hostname: '127.0.0.1', logLevel: 'error' })
// By default this is `/health`, answered by Rust alone, and then no route may have that path.
app.healthCheck('/-/health')
await programs[process.env.PROGRAM](app)
// Left to itself its Rust process outlives it.
process.once('SIGTERM', async () => {
  await app.close()
  process.exit()
})
await app.listen()
// `listen()` does not wait for that process.
while (!(await fetch(`http://127.0.0.1:${port}/-/health`).catch(() => undefined))) await setTimeout(10)
process.stdout.write(`listening on ${port}\n`)
