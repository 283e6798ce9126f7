import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const signIn = (password: string) =>
  fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: 'ada', password }),
  })

test('who has not signed in is 401, with the headers of helmet', async () => {
  const reply = await fetch(`${url}/me`)
  assert.equal(reply.status, 401)
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
  assert.equal(((await reply.json()) as { detail: string }).detail, 'Sign in first')
})

test('a wrong password is 401', async () => {
  const reply = await signIn('wrong')
  assert.equal(reply.status, 401)
  assert.equal(reply.headers.get('set-cookie'), null)
})

test('a session knows its user', async () => {
  const reply = await signIn('correct horse')
  assert.equal(reply.status, 200)
  assert.deepEqual(await reply.json(), { welcome: 'ada' })
  const cookie = reply.headers.get('set-cookie')?.split(';')[0] ?? ''
  assert.match(cookie, /^connect\.sid=/)
  const me = await fetch(`${url}/me`, { headers: { cookie } })
  assert.deepEqual(await me.json(), { id: 7, name: 'ada' })
})
