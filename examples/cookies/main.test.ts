import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const post = (path: string, cookie = '') => fetch(url + path, { method: 'POST', headers: { cookie } })

test('a session from login to logout', async () => {
  assert.equal((await fetch(`${url}/me`)).status, 401)

  const login = await post('/login/Ada')
  const [set = ''] = login.headers.getSetCookie()
  assert.match(set, /^session=[\w-]+; Max-Age=86400; Path=\/; HttpOnly; SameSite=Strict$/)
  const [cookie = ''] = set.split(';')

  const me = await fetch(`${url}/me`, { headers: { cookie } })
  assert.deepEqual(await me.json(), { name: 'Ada' })

  const logout = await post('/logout', cookie)
  assert.match(logout.headers.getSetCookie()[0] ?? '', /^session=; .*Max-Age=0/)
  assert.equal((await fetch(`${url}/me`, { headers: { cookie } })).status, 401)
})
