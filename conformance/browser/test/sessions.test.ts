/** Tests sign-in pages: cookies as Chromium keeps them, and forms of this origin and of others. */
import assert from 'node:assert/strict'
import type { App } from 'volant'
import { csrf, memorySessions, session } from 'volant/session'
import { html, visit, type Visit } from '../src/browser.ts'

/** An app with a sign-in page, behind `csrf` with tokens. */
function shop(app: App): { app: App; posts: string[] } {
  const sessions = session<{ user: string; note: string }>({ store: memorySessions() })
  const posts: string[] = []
  const pages = app.with(sessions).with(csrf({ token: true }))
  const form = (action: string, token: string, fields = ''): string =>
    `<form method="post" action="${action}"><input type="hidden" name="_csrf" value="${token}">${fields}<button>go</button></form>`
  pages.get('/', (ctx) => {
    const user = ctx.state.session.get('user')
    const token = ctx.state.csrf.token()
    return ctx.html(
      html(
        user === undefined
          ? form('/sign-in', token, '<input name="name">')
          : `<p id="user">${user}</p>${form('/sign-out', token)}`,
      ),
    )
  })
  pages.post('/sign-in', async (ctx) => {
    const { name } = await ctx.form()
    posts.push('sign-in')
    ctx.state.session.signIn({ user: String(name) })
    return ctx.redirect('/', 303)
  })
  pages.post('/sign-out', (ctx) => {
    posts.push('sign-out')
    ctx.state.session.signOut()
    return ctx.redirect('/', 303)
  })
  return { app, posts }
}

async function signIn({ page }: Visit, origin: string): Promise<void> {
  await page.goto(origin)
  await page.fill('input[name=name]', 'Ada')
  await Promise.all([page.waitForSelector('#user'), page.click('button')])
  assert.equal(await page.textContent('#user'), 'Ada')
}

visit('a page signs in by a form, stays signed in, and signs out', async (given) => {
  const { app, serve, context, page } = given
  const { posts, app: served } = shop(app())
  const origin = await serve(served)
  await page.goto(origin)
  const visitor = await context.cookies(origin)
  await signIn(given, origin)
  const devtools = await context.newCDPSession(page)
  const { cookies } = await devtools.send('Network.getCookies', { urls: [origin] })
  assert.equal(cookies.length, 1)
  const [cookie] = cookies
  assert.notEqual(cookie?.value, visitor[0]?.value)
  assert.deepEqual(
    [cookie?.name, cookie?.httpOnly, cookie?.secure, cookie?.sameSite, cookie?.path, cookie?.session],
    ['__Host-session', true, true, 'Lax', '/', true],
  )
  // The domain has no dot in front: no other host gets the cookie.
  assert.equal(cookie?.domain, new URL(origin).hostname)
  assert.equal(await page.evaluate(() => document.cookie), '')
  await page.reload()
  assert.equal(await page.textContent('#user'), 'Ada')
  const again = await context.newPage()
  await again.goto(origin)
  assert.equal(await again.textContent('#user'), 'Ada')
  await Promise.all([page.waitForSelector('input[name=name]'), page.click('button')])
  await again.reload()
  assert.equal(await again.$('#user'), null)
  assert.deepEqual(posts, ['sign-in', 'sign-out'])
})

visit('forms and scripts of other origins change nothing', async (given) => {
  const { app, serve, page } = given
  const { posts, app: served } = shop(app())
  const origin = await serve(served)
  await signIn(given, origin)
  posts.length = 0
  const evil = app()
  evil.get('/', (ctx) =>
    ctx.html(html(`<form method="post" action="${origin}/sign-out"><button>win</button></form>`)),
  )
  const sameSite = await serve(evil)
  // Another name of this machine is another site.
  for (const other of [sameSite, sameSite.replace('127.0.0.1', 'localhost')]) {
    await page.goto(other)
    const statuses = await page.evaluate(async (url) => {
      const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']
      for (const type of types) {
        await fetch(`${url}/sign-out`, {
          method: 'POST',
          mode: 'no-cors',
          credentials: 'include',
          headers: { 'content-type': type },
          body: 'a=b',
        })
      }
      return types.length
    }, origin)
    assert.equal(statuses, 3)
    const [reply] = await Promise.all([
      page.waitForResponse((each) => each.url() === `${origin}/sign-out`),
      page.click('button'),
    ])
    assert.equal(reply.status(), 403, other)
    assert.equal(((await reply.json()) as { code: string }).code, 'E_CSRF')
  }
  assert.deepEqual(posts, [])
  await page.goto(origin)
  assert.equal(await page.textContent('#user'), 'Ada')
})

visit('a form of this page without its token is refused', async (given) => {
  const { app, serve, page } = given
  const { posts, app: served } = shop(app())
  const origin = await serve(served)
  await signIn(given, origin)
  const status = await page.evaluate(async () => (await fetch('/sign-out', { method: 'POST' })).status)
  assert.equal(status, 403)
  assert.deepEqual(posts, ['sign-in'])
})
