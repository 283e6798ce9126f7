import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const signIn = (password: string) => fetch(`${url}/sign-in`, { method: 'POST', body: password })
const withKey = (path: string, key: string) => fetch(`${url}/api${path}`, { headers: { 'x-api-key': key } })

test('replies say how the limits stand', async () => {
  const reply = await withKey('/items', 'a')
  assert.equal(
    reply.headers.get('ratelimit-policy'),
    '"default";q=300;w=60, "burst";q=10;w=10, "daily";q=1000;w=86400',
  )
  assert.match(
    reply.headers.get('ratelimit') ?? '',
    /^"default";r=299;t=1, "burst";r=9;t=1, "daily";r=999;t=87$/,
  )
})

test('only failed sign-ins count', async () => {
  for (let each = 0; each < 10; each++) assert.equal((await signIn('correct horse')).status, 200)
  for (let each = 0; each < 5; each++) assert.equal((await signIn('wrong')).status, 401)
  const refused = await signIn('correct horse')
  assert.equal(refused.status, 429)
  assert.match(refused.headers.get('retry-after') ?? '', /^1[678]\d$/)
  assert.equal(((await refused.json()) as { code: string }).code, 'E_RATE_LIMITED')
})

test('keys have limits of their own, and a report takes ten units', async () => {
  assert.equal((await withKey('/report', 'b')).status, 200)
  assert.equal((await withKey('/report', 'b')).status, 429)
  assert.equal((await withKey('/report', 'c')).status, 200)
})
