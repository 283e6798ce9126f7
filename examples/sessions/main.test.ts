import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

/** A browser with the one cookie. */
function browser() {
  let cookie = ''
  return async (path: string, fields?: Record<string, string>, site = 'same-origin') => {
    const reply = await fetch(url + path, {
      redirect: 'manual',
      headers: { cookie, 'sec-fetch-site': site },
      ...(fields === undefined ? {} : { method: 'POST', body: new URLSearchParams(fields) }),
    })
    for (const line of reply.headers.getSetCookie()) cookie = line.split(';')[0] as string
    return reply
  }
}

const right = { name: 'ada', password: 'enchantress of numbers' }

test('a visitor signs in, keeps the cart, and signs out', async () => {
  const ask = browser()
  assert.equal((await ask('/account')).status, 401)
  await ask('/cart/emma', {})
  const signedIn = await ask('/sign-in', right)
  assert.deepEqual([signedIn.status, signedIn.headers.get('location')], [303, '/account'])
  assert.match(
    signedIn.headers.get('set-cookie') ?? '',
    /^__Host-session=v1\..*; HttpOnly; Secure; SameSite=Lax$/,
  )
  assert.deepEqual(await (await ask('/account')).json(), { user: 'ada', cart: ['emma'] })
  await ask('/sign-out', {})
  assert.equal((await ask('/account')).status, 401)
})

test('a wrong password and an unknown name are 401', async () => {
  const ask = browser()
  for (const wrong of [
    { ...right, password: 'x' },
    { name: 'eve', password: 'x' },
  ]) {
    assert.equal((await ask('/sign-in', wrong)).status, 401)
  }
  assert.equal((await ask('/account')).status, 401)
})

test('a form of another site changes nothing', async () => {
  const ask = browser()
  await ask('/sign-in', right)
  assert.equal((await ask('/sign-out', {}, 'cross-site')).status, 403)
  assert.equal((await ask('/account')).status, 200)
})
