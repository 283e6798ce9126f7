/** http-proxy-middleware: requests and replies that pass, what it rewrites, and an upstream that fails. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { eventually, unchanging } from '@volant/test-kit'
import { brief, requestBytes, type Seen } from '../src/client.ts'
import { bodyParser, compression, proxies, type Req, type Res } from '../src/layers.ts'
import { type Scenario, scenario, scenarios } from '../src/scenario.ts'
import type { Site } from '../src/site.ts'

const part = Buffer.alloc(65_536, 'proxied ')

/** What the upstream tells of requests that ended without a reply. */
interface Upstream {
  server: Server
  url: string
  left: string[]
  sent: number
}

async function upstream(): Promise<Upstream> {
  const state: Upstream = { server: createServer(), url: '', left: [], sent: 0 }
  state.server.on('request', (req: IncomingMessage, res: ServerResponse) => {
    res.on('close', () => {
      if (!res.writableFinished) state.left.push(req.url ?? '')
    })
    answer(state, req, res)
  })
  state.server.listen(0, '127.0.0.1')
  await once(state.server, 'listening')
  state.url = `http://127.0.0.1:${(state.server.address() as AddressInfo).port}`
  return state
}

function answer(state: Upstream, req: IncomingMessage, res: ServerResponse): void {
  const path = req.url ?? ''
  if (path.startsWith('/echo')) {
    const parts: Buffer[] = []
    req.on('data', (bytes: Buffer) => parts.push(bytes))
    req.on('end', () => {
      const body = Buffer.concat(parts)
      const names = [
        'host',
        'content-type',
        'content-length',
        'transfer-encoding',
        'x-forwarded-for',
        'x-forwarded-proto',
        'x-one',
        'cookie',
        'accept-encoding',
      ]
      const headers = Object.fromEntries(names.map((name) => [name, req.headers[name] ?? null]))
      if (String(headers['host']).startsWith('127.0.0.1')) headers['host'] = 'the upstream'
      // The hash stands for large bodies.
      res.setHeader('Content-Type', 'application/json')
      res.end(
        JSON.stringify([req.method, path, headers, body.length, body.subarray(0, 50).toString('latin1')]),
      )
    })
  } else if (path === '/fields') {
    res.writeHead(207, 'Its own words', [
      'Set-Cookie',
      'a=1; Domain=up.example; Path=/x',
      'Set-Cookie',
      'b=2',
      'X-Up',
      'yes',
      'Keep-Alive',
      'timeout=5',
      'Connection',
      'keep-alive',
      'ETag',
      '"tag"',
      'Server',
      'up',
      'Vary',
      'one',
      'Vary',
      'two',
      'Content-Language',
      'de',
    ])
    res.end('fields')
  } else if (path === '/moved') {
    res.writeHead(302, { Location: `${state.url}/echo` })
    res.end()
  } else if (path === '/no-content') {
    res.writeHead(204)
    res.end()
  } else if (path === '/not-modified') {
    res.writeHead(304, { ETag: '"tag"' })
    res.end()
  } else if (path === '/chunks') {
    res.write('one ')
    setImmediate(() => res.end('two'))
  } else if (path === '/gzip') {
    res.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Encoding': 'gzip' })
    res.end(gzipSync('zipped '.repeat(500)))
  } else if (path === '/text') {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    res.end('text '.repeat(1000))
  } else if (path === '/big') {
    res.writeHead(200, { 'Content-Length': String(part.length * 160) })
    let count = 0
    const more = (): void => {
      while (count < 160) {
        count++
        state.sent += part.length
        if (!res.write(part)) return void res.once('drain', more)
      }
      res.end()
    }
    more()
  } else if (path === '/dies') {
    res.writeHead(200, { 'Content-Length': '1000' })
    res.write('a part', () => res.destroy())
  } else if (path === '/resets') req.socket.resetAndDestroy()
  else if (path === '/events') {
    res.writeHead(200, { 'Content-Type': 'text/event-stream' })
    res.write('data: one\n\n')
  } else if (path !== '/never') {
    res.statusCode = 404
    res.end('up: not found')
  }
}

async function stop({ server }: Upstream): Promise<void> {
  server.closeAllConnections()
  server.close()
  await once(server, 'close')
}

interface Made {
  up: Upstream
  seen: string[]
}

function proxied(
  options: (url: string) => object,
  play: Scenario<Made>['play'],
  more: Partial<Scenario<Made>> = {},
): Scenario {
  return scenario<Made>({
    async build(site: Site) {
      const up = await upstream()
      const seen: string[] = []
      site.mount(
        '/api',
        proxies['createProxyMiddleware']!({ target: up.url, changeOrigin: true, ...options(up.url) }),
      )
      site.reply('GET', '/route', () => ({ headers: { 'content-type': 'text/plain' }, body: 'a route' }))
      return { up, seen }
    },
    after: ({ up }) => stop(up),
    // The port of the upstream differs from run to run.
    async play(client, made, live) {
      const text = JSON.stringify((await play(client, made, live)) ?? null, (_, value: unknown) =>
        value instanceof Uint8Array ||
        (typeof value === 'object' && value !== null && (value as { type?: string }).type === 'Buffer')
          ? digest(value)
          : value,
      )
      return JSON.parse(text.replaceAll(made.up.url, 'http://up')) as unknown
    },
    ...more,
  })
}

function digest(value: unknown): string {
  const bytes = Buffer.from(((value as { data?: number[] }).data ?? value) as number[])
  return bytes.length < 2048
    ? bytes.toString('latin1')
    : `${bytes.length} bytes ${bytes.subarray(-16).toString('latin1')}`
}

const gets = [
  '/api/echo?a=1&b=%20',
  '/api/fields',
  '/api/moved',
  '/api/no-content',
  '/api/not-modified',
  '/api/chunks',
  '/api/gzip',
  '/api/none',
  '/route',
]

scenarios('http-proxy-middleware', {
  'replies of every kind': proxied(
    () => ({}),
    async (client) => {
      const out: Seen[] = []
      for (const method of ['GET', 'HEAD']) {
        for (const path of gets)
          out.push(await client.ask(path, { method, headers: { 'x-one': '1', cookie: 'c=d' } }))
      }
      assert.equal(out[1]?.status, 207)
      assert.equal(out[1]?.cookies.length, 2)
      assert.match(out[0]?.text ?? '', /\/echo\?a=1&b=%20/)
      return out
    },
  ),
  'bodies of requests': proxied(
    () => ({}),
    async (client) => {
      const out: Seen[] = []
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
        out.push(
          await client.ask('/api/echo', {
            method,
            headers: { 'content-type': 'text/plain' },
            body: `a body of ${method}`,
          }),
        )
      out.push(await client.ask('/api/echo', { method: 'POST' }))
      return out
    },
  ),
  'bodies in chunks, and of 10 MB': proxied(
    () => ({}),
    async (client) => {
      const chunked = { 'transfer-encoding': 'chunked' }
      const big = await client.post('/api/echo', 'application/octet-stream', Buffer.alloc(10_485_760, 'up '))
      assert.match(big.text, /10485760/)
      return [
        await client.ask('/api/echo', {
          method: 'POST',
          headers: chunked,
          body: '3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
        }),
        big,
      ]
    },
    { memory: false },
  ),
  'xfwd, headers, and a path that is rewritten': proxied(
    () => ({
      xfwd: true,
      headers: { 'x-one': 'ours' },
      pathRewrite: { '^/old': '/echo' },
      autoRewrite: true,
      cookieDomainRewrite: 'new.example',
      cookiePathRewrite: '/y',
    }),
    async (client) => {
      const out = [
        await client.get('/api/old/x'),
        await client.get('/api/fields'),
        await client.get('/api/moved'),
      ]
      assert.match(out[0]?.text ?? '', /127\.0\.0\.1/)
      return out
    },
    { memory: false },
  ),
  'a path that a function rewrites, and a filter': proxied(
    () => ({
      pathRewrite: async (path: string, req: Req) => `/echo${path}?was=${req.originalUrl}`,
      pathFilter: (path: string) => !path.startsWith('/api/not'),
    }),
    async (client) => [await client.get('/api/a'), brief(await client.get('/api/not/this'))],
  ),
  'a router by the request': proxied(
    (url) => ({ target: 'http://127.0.0.1:9', router: async () => url }),
    (client) => client.get('/api/echo'),
  ),
  'events of the proxy that change request and reply': proxied(
    () => ({
      on: {
        proxyReq: (out: { setHeader: (name: string, value: string) => void }) =>
          out.setHeader('x-one', 'of an event'),
        proxyRes: (reply: IncomingMessage, _req: Req, res: Res) => {
          reply.headers['x-added'] = String(reply.statusCode)
          res.setHeader('x-ours', 'too')
        },
      },
    }),
    (client) => client.get('/api/echo'),
  ),
  'a reply that is intercepted': proxied(
    () => ({
      selfHandleResponse: true,
      on: {
        proxyRes: proxies['responseInterceptor']!(async (body: Buffer, _up: unknown, _req: Req, res: Res) => {
          res.setHeader('x-length', String(body.length))
          return body.toString().toUpperCase()
        }),
      },
    }),
    async (client) => {
      const out = [
        await client.get('/api/text'),
        await client.get('/api/gzip'),
        await client.get('/api/none'),
      ]
      assert.match(out[1]?.text ?? '', /^ZIPPED/)
      return out
    },
  ),
  'behind compression': scenario({
    async build(site) {
      const up = await upstream()
      site.use(compression())
      site.mount('/api', proxies['createProxyMiddleware']!({ target: up.url, changeOrigin: true }))
      return up
    },
    after: stop,
    play: async (client) => [
      await client.get('/api/text', { 'accept-encoding': 'gzip' }),
      await client.get('/api/gzip', { 'accept-encoding': 'gzip' }),
      await client.get('/api/text'),
    ],
  }),
  'behind body-parser, with fixRequestBody': scenario({
    async build(site) {
      const up = await upstream()
      site.use(bodyParser.json())
      const on = { proxyReq: proxies['fixRequestBody'] }
      site.mount('/api', proxies['createProxyMiddleware']!({ target: up.url, changeOrigin: true, on }))
      return up
    },
    after: stop,
    play: (client) => client.post('/api/echo', 'application/json', '{"a":1}'),
  }),
  'an upstream that is down': proxied(
    () => ({ target: 'http://127.0.0.1:9' }),
    async (client) => {
      const reply = await client.get('/api/echo')
      assert.equal(reply.status, 504)
      return [reply, await client.post('/api/echo', 'text/plain', 'a body')]
    },
  ),
  'an upstream that is down, told to the app': proxied(
    () => ({
      target: 'http://127.0.0.1:9',
      on: {
        error: (error: Error, _req: Req, res: Res) => {
          res.writeHead(502, { 'Content-Type': 'text/plain' })
          res.end(`up: ${(error as { code?: string }).code}`)
        },
      },
    }),
    (client) => client.get('/api/echo'),
  ),
  'an upstream that resets': proxied(
    () => ({}),
    async (client) => brief(await client.get('/api/resets')),
  ),
  'an upstream that takes too long': proxied(
    () => ({ proxyTimeout: 50 }),
    async (client) => brief(await client.get('/api/never')),
  ),
  'an upstream that dies within its reply': proxied(
    () => ({}),
    async (client) => {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/api/dies'))
      await eventually(() => wire.received.includes('a part'), 'the part')
      assert.match(wire.received.toString(), /^HTTP\/1\.1 200[^]*\r\n\r\na part$/)
      wire.reset()
    },
    { memory: false, reports: true },
  ),
  // Express tells the upstream nothing: `aborted` comes there for requests alone that are not complete.
  'a client that leaves before the reply, and during it': proxied(
    () => ({}),
    async (client, { up }, { site }) => {
      for (const [at, path] of ['/never', '/events'].entries()) {
        const wire = await client.connect()
        const asked = once(up.server, 'request')
        wire.send(requestBytes('GET', `/api${path}`))
        await asked
        if (path === '/events') await eventually(() => wire.received.includes('data: one'), 'an event')
        wire.reset()
        if (site.name !== 'express')
          await eventually(() => up.left.length > at, `the upstream is told of ${path}`)
      }
    },
    { memory: false },
  ),
  'a client that leaves during its body': proxied(
    () => ({}),
    async (client, { up }) => {
      const wire = await client.connect()
      const open = once(up.server, 'request')
      wire.send(requestBytes('POST', '/api/echo', { 'content-length': '1000' }, 'a part'))
      await open
      wire.reset()
      await eventually(() => up.left.length > 0, 'the upstream is told')
      return up.left
    },
    { memory: false, reports: true },
  ),
  'a client that reads slowly': proxied(
    () => ({}),
    async (client, { up }) => {
      const wire = await client.connect()
      wire.socket.pause()
      wire.send(requestBytes('GET', '/api/big'))
      // The upstream is held back: what the sockets on the way take is far less than the reply.
      await unchanging(() => up.sent, 'the upstream waits')
      assert.ok(up.sent < part.length * 160, `${up.sent} bytes were taken`)
      wire.socket.resume()
      const reply = await wire.reply()
      assert.equal(reply.body.length, part.length * 160)
      return reply.status
    },
    { memory: false },
  ),
})
