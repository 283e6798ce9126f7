import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

interface Tokens {
  accessToken: string
  refreshToken: string
}

const post = (path: string, body: unknown) =>
  fetch(url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
const signIn = async (name: string, password: string) =>
  (await (await post('/sign-in', { name, password })).json()) as Tokens
const withToken = (token: string, path: string, method = 'GET') =>
  fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(method === 'POST' ? { body: 'x' } : {}),
  })

test('an access token says who asks, and what they may do', async () => {
  assert.equal((await fetch(`${url}/me`)).status, 401)
  assert.equal((await post('/sign-in', { name: 'ada', password: 'wrong' })).status, 401)
  const ada = await signIn('ada', 'correct horse')
  assert.deepEqual(await (await withToken(ada.accessToken, '/me')).json(), { name: 'ada' })
  assert.equal((await withToken(ada.accessToken, '/notes', 'POST')).status, 200)
  const bob = await signIn('bob', 'battery staple')
  const refused = await withToken(bob.accessToken, '/notes', 'POST')
  assert.equal(refused.status, 403)
  assert.match(refused.headers.get('www-authenticate') ?? '', /insufficient_scope/)
})

test('a refresh token works once, and a second use ends what came of it', async () => {
  const first = await signIn('ada', 'correct horse')
  const refresh = (refreshToken: string) => post('/refresh', { refreshToken })
  const second = (await (await refresh(first.refreshToken)).json()) as Tokens
  assert.equal((await withToken(second.accessToken, '/me')).status, 200)
  assert.equal((await refresh(first.refreshToken)).status, 401)
  assert.equal((await refresh(second.refreshToken)).status, 401)
})
