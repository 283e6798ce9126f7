/** Tests what Chromium says of security headers. */
import assert from 'node:assert/strict'
import { securityHeaders } from 'volant'
import { html, visit } from '../src/browser.ts'

visit('Chromium has nothing to say of securityHeaders()', async ({ app, serve, page }) => {
  const site = app()
  site.use(securityHeaders())
  site.get('/', (ctx) => ctx.html(html('<script src="/x.js"></script>')))
  site.get('/x.js', (ctx) =>
    ctx.header('content-type', 'text/javascript').text("console.log('the page ran')"),
  )
  site.get('/favicon.ico', (ctx) => ctx.reply(204))
  const said: string[] = []
  page.on('console', (message) => said.push(message.text()))
  await page.goto(await serve(site))
  assert.deepEqual(said, ['the page ran'])
})
