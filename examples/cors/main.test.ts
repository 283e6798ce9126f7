import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

/** What a browser asks before a request that a form could not make. */
const preflight = (origin: string) =>
  app.inject({
    method: 'OPTIONS',
    url: '/api/users/7',
    headers: { origin, 'access-control-request-method': 'PUT' },
  })

test('the app’s own page may use the API', async () => {
  const { status, headers } = await preflight('https://app.example')
  assert.equal(status, 204)
  assert.equal(headers['access-control-allow-origin'], 'https://app.example')
  assert.equal(headers['access-control-allow-credentials'], 'true')
  assert.equal(headers['access-control-max-age'], '600')
})

test('other pages may not', async () => {
  const { headers } = await preflight('https://evil.example')
  assert.equal(headers['access-control-allow-origin'], undefined)
})

test('errors can be read, too', async () => {
  const reply = await fetch(`${url}/api/nowhere`, { headers: { origin: 'https://app.example' } })
  assert.equal(reply.status, 404)
  assert.equal(reply.headers.get('access-control-allow-origin'), 'https://app.example')
})

test('the public part is for everybody', async () => {
  const reply = await fetch(`${url}/public/news`, { headers: { origin: 'https://anywhere.example' } })
  assert.equal(reply.headers.get('access-control-allow-origin'), '*')
})
