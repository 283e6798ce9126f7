/** http-proxy-middleware: replies that pass, and what changes them. */
import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { type Seen } from '../../src/client.ts'
import { compression, proxies, type Req, type Res } from '../../src/layers.ts'
import { scenario, scenarios } from '../../src/scenario.ts'
import { upstream, stop, proxied } from './upstream.ts'

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
})
