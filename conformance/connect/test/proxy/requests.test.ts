/** http-proxy-middleware: requests that pass, and what it rewrites of them. */
import assert from 'node:assert/strict'
import { brief, type Seen } from '../../src/client.ts'
import { bodyParser, proxies, type Req } from '../../src/layers.ts'
import { scenario, scenarios } from '../../src/scenario.ts'
import { upstream, stop, proxied } from './upstream.ts'

scenarios('http-proxy-middleware', {
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
})
