/** Tests what Chromium makes of security headers, and of the cookies of a session. */
import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import helmet from 'helmet'
import { securityHeaders } from 'volant'
import { type ConnectMiddleware, connectOf, fromConnect } from 'volant/connect'
import { cspReport, type CspViolation } from 'volant/middleware'
import { eventually } from '@volant/test-kit'
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

const require = createRequire(import.meta.url)
const session = require('express-session') as (options: object) => ConnectMiddleware
type Visitor = { session: { name?: string } }

visit(
  "helmet's policy is in force, and express-session keeps who signed in",
  async ({ app, serve, page, context }) => {
    const site = app()
    const sessions = session({ secret: 'not a secret', resave: false, saveUninitialized: false })
    site.use(fromConnect(helmet({ strictTransportSecurity: false }), sessions))
    site.get('/', (ctx) => {
      const { session } = connectOf<Visitor>(ctx).req
      const form = '<form method="post" action="/login"><input name="name"><button>Sign in</button></form>'
      ctx.html(html(`<script>document.title = 'it ran'</script><p>${session.name ?? 'nobody'}</p>${form}`))
    })
    site.post('/login', async (ctx) => {
      const { name } = await ctx.form()
      const { session } = connectOf<Visitor>(ctx).req
      session.name = String(name)
      ctx.redirect('/', 303)
    })
    const said: string[] = []
    page.on('console', (message) => said.push(message.text()))
    const url = await serve(site)
    await page.goto(url)
    assert.equal(await page.textContent('p'), 'nobody')
    assert.equal(await page.title(), 'x')
    assert.match(said.join(), /Executing inline script violates .* Content Security Policy/)
    assert.deepEqual(await context.cookies(), [])
    await page.fill('input', 'Ada')
    await page.click('button')
    await page.waitForURL(`${url}/`)
    assert.equal(await page.textContent('p'), 'Ada')
    await page.reload()
    assert.equal(await page.textContent('p'), 'Ada')
    const [cookie] = await context.cookies()
    assert.deepEqual([cookie?.name, cookie?.httpOnly], ['connect.sid', true])
  },
)

visit('what a policy blocks is reported to cspReport', async ({ app, serve, page }) => {
  const site = app()
  const seen: CspViolation[] = []
  site.use(
    securityHeaders({ contentSecurityPolicy: { defaultSrc: ["'self'"], reportUri: ['/csp-reports'] } }),
  )
  site.register(cspReport, { onReport: (violation) => seen.push(violation) })
  site.get('/', (ctx) => ctx.html(html('<img src="https://evil.example/a.png?secret"><script>1</script>')))
  const url = await serve(site)
  await page.goto(`${url}/?token=secret`)
  await eventually(() => seen.length === 2, 'Chromium reports both')
  assert.deepEqual(
    seen
      .map(({ documentUrl, blockedUrl, directive, disposition }) => [
        documentUrl,
        blockedUrl,
        directive,
        disposition,
      ])
      .toSorted(),
    [
      [`${url}/`, 'https://evil.example/a.png', 'img-src', 'enforce'],
      [`${url}/`, 'inline', 'script-src-elem', 'enforce'],
    ],
  )
})
