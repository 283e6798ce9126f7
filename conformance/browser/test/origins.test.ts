/** Tests what a page can read of replies from another origin. */
import assert from 'node:assert/strict'
import { cors, HTTPError } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { html, visit } from '../src/browser.ts'

visit('a page reads what another origin exposes, errors included', async ({ app, serve, page }) => {
  const api = app()
  const methods: string[] = []
  api.use((ctx, next) => {
    methods.push(ctx.method)
    return next()
  })
  api.use(cors({ exposedHeaders: ['x-total'] }))
  api.get('/list', (ctx) => ctx.header('x-total', '7').header('x-hidden', '1').json([1]))
  api.put('/fail', () => {
    throw new HTTPError(409, 'It is taken', { code: 'TAKEN' })
  })
  const site = app()
  site.get('/', (ctx) => ctx.html(html()))
  const there = await serve(api)
  await page.goto(await serve(site))
  const seen = await page.evaluate(async (url) => {
    const list = await fetch(`${url}/list`)
    const failed = await fetch(`${url}/fail`, { method: 'PUT', headers: { 'x-key': '1' } })
    const fields = ['x-total', 'x-hidden'].map((name) => list.headers.get(name))
    return [await list.json(), fields, failed.status, (await failed.json()).code]
  }, there)
  assert.deepEqual(seen, [[1], ['7', null], 409, 'TAKEN'])
  assert.deepEqual(methods, ['GET', 'OPTIONS', 'PUT'])
})

visit('a page of another origin reads how long to wait after 429', async ({ app, serve, page }) => {
  const api = app()
  api.use(cors(), rateLimit({ max: 2, timeWindow: '1 minute', algorithm: 'fixed' }))
  api.put('/score', () => ({ ok: true }))
  const site = app()
  site.get('/', (ctx) => ctx.html(html()))
  const there = await serve(api)
  await page.goto(await serve(site))
  const replies = await page.evaluate(async (url) => {
    const replies: { status: number; fields: (string | null)[]; code: unknown }[] = []
    for (let count = 0; count < 4; count++) {
      // A header that no request before had is asked for by another preflight.
      const reply = await fetch(`${url}/score`, { method: 'PUT', headers: { [`x-count-${count}`]: '1' } })
      const fields = ['ratelimit-policy', 'ratelimit', 'retry-after'].map((name) => reply.headers.get(name))
      replies.push({ status: reply.status, fields, code: (await reply.json()).code })
    }
    return replies
  }, there)
  // Preflights take nothing: with them the second request would be one too many.
  assert.deepEqual(
    replies.map(({ status }) => status),
    [200, 200, 429, 429],
  )
  const [first, , refused] = replies
  assert.deepEqual(first?.fields, ['"default";q=2;w=60', '"default";r=1;t=60', null])
  assert.equal(refused?.code, 'E_RATE_LIMITED')
  const [, left, wait] = refused.fields
  assert.equal(left, `"default";r=0;t=${wait}`)
  assert.ok(Number(wait) > 0 && Number(wait) <= 60, String(wait))
})
