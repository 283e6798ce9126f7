import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'

process.env.PORT = '0'
const { app, lines, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))
beforeEach(() => void lines.splice(0))

/** The line about a request; it is written when the reply is complete. */
async function logged(path: string, headers: Record<string, string> = {}) {
  await (await fetch(url + path, { headers })).text()
  while (lines.length === 0) await wait(5)
  return JSON.parse(lines.join('')) as {
    level: number
    req: { method: string; url: string; headers: Record<string, string> }
    res: { statusCode: number }
    err?: { message: string }
    tenant: string
  }
}

test('what was asked and answered', async () => {
  const { level, req, res, tenant } = await logged('/users/7', { 'x-tenant': 'acme' })
  assert.equal(level, 30)
  assert.equal(`${req.method} ${req.url}`, 'GET /users/7')
  assert.equal(res.statusCode, 200)
  assert.equal(tenant, 'acme')
})

test('no secrets', async () => {
  const { req } = await logged('/users/7?token=secret&page=2', { authorization: 'Bearer secret' })
  assert.doesNotMatch(JSON.stringify(req), /secret/)
  assert.match(req.url, /page=2/)
})

test('levels by status, and what went wrong', async () => {
  assert.equal((await logged('/missing')).level, 40)
  lines.splice(0)
  const { level, err } = await logged('/broken')
  assert.equal(level, 50)
  assert.equal(err?.message, 'out of paper')
})

test('nobody reads about health checks', async () => {
  await (await fetch(`${url}/health`)).text()
  const { req } = await logged('/users/8')
  assert.equal(req.url, '/users/8')
})
