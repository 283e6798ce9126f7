import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const signIn = (name: string, password: string) =>
  fetch(`${url}/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name, password }),
  })
const tokenOf = async (name: string, password: string) => {
  const reply = await signIn(name, password)
  assert.equal(reply.status, 200)
  return ((await reply.json()) as { token: string }).token
}
const get = (path: string, headers: Record<string, string>) => fetch(url + path, { headers })

test('who signed in is known by a token, a program by its key', async () => {
  const authorization = `Bearer ${await tokenOf('ada', 'correct horse')}`
  assert.deepEqual(await (await get('/me', { authorization })).json(), { name: 'ada', by: 'bearer' })
  const shop = { 'x-api-key': 'shop-key' }
  assert.deepEqual(await (await get('/me', shop)).json(), { name: 'shop', by: 'apiKey' })
  assert.equal((await get('/orders', shop)).status, 200)
  const refused = await get('/orders', { authorization })
  assert.equal(refused.status, 403)
  assert.equal(
    refused.headers.get('www-authenticate'),
    'Bearer error="insufficient_scope", scope="orders:read"',
  )
})

test('others are told how to authenticate', async () => {
  const reply = await get('/me', {})
  assert.equal(reply.status, 401)
  assert.equal(reply.headers.get('www-authenticate'), 'Bearer, ApiKey in="header", name="x-api-key"')
  assert.equal((await get('/me', { authorization: 'Bearer a b' })).status, 400)
})

test('only editors write articles', async () => {
  const post = async (name: string, password: string) => {
    const headers = { authorization: `Bearer ${await tokenOf(name, password)}` }
    return (await fetch(`${url}/articles`, { method: 'POST', headers, body: 'x'.repeat(100_000) })).status
  }
  assert.equal(await post('ada', 'correct horse'), 200)
  assert.equal(await post('bob', 'battery staple'), 403)
})

test('staff have passwords that browsers ask for', async () => {
  const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` })
  assert.equal(await (await get('/staff', basic('carol:open sesame'))).text(), 'Hello carol')
  const refused = await get('/staff', basic('carol:x'))
  assert.equal(refused.headers.get('www-authenticate'), 'Basic realm="Staff", charset="UTF-8"')
})

test('five wrong passwords are the last for a while', async () => {
  for (let each = 0; each < 4; each++) assert.equal((await signIn('ada', 'wrong')).status, 401)
  assert.equal((await signIn('nobody', 'wrong')).status, 401)
  assert.equal((await signIn('ada', 'correct horse')).status, 429)
})
