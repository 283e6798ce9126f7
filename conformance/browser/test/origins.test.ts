/** Tests what a page can read of replies from another origin. */
import assert from 'node:assert/strict'
import { cors, HTTPError } from 'volant'
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
