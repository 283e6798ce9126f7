import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, database, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('requests are counted by pattern', async () => {
  for (const id of [1, 2, 3]) await (await fetch(`${url}/users/${id}`)).text()
  const reply = await fetch(`${url}/metrics`)
  assert.match(reply.headers.get('content-type') ?? '', /^text\/plain; version=0\.0\.4/)
  const text = await reply.text()
  assert.match(text, /_count\{[^}]*route="\/users\/:id"[^}]*\} 3\n/)
})

test('not ready without the database, but alive', async () => {
  assert.equal((await fetch(`${url}/ready`)).status, 200)
  database.isUp = false
  const reply = await fetch(`${url}/ready`)
  assert.equal(reply.status, 503)
  assert.deepEqual(((await reply.json()) as { failed: string[] }).failed, ['database'])
  assert.equal((await fetch(`${url}/health`)).status, 200)
})

test('what runs, for clients on this machine', async () => {
  const { versions } = (await (await fetch(`${url}/debug/runtime`)).json()) as { versions: { node: string } }
  assert.equal(versions.node, process.versions.node)
  const routes = (await (await fetch(`${url}/debug/routes`)).json()) as { path: string }[]
  assert.ok(routes.some(({ path }) => path === '/users/:id'))
  const proxied = await fetch(`${url}/debug/runtime`, { headers: { 'x-forwarded-for': '203.0.113.7' } })
  assert.equal(proxied.status, 403)
})

test('a CPU profile', async () => {
  const reply = await fetch(`${url}/debug/cpu-profile?seconds=1`, { method: 'POST' })
  assert.ok(((await reply.json()) as { samples: number[] }).samples.length > 0)
})
