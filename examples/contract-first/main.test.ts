import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('contracts have their handlers', async () => {
  const added = await fetch(`${url}/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"text":"milk"}',
  })
  assert.equal(added.status, 201)
  assert.deepEqual(await (await fetch(`${url}/notes`)).json(), [{ id: 1, text: 'milk' }])
})

test('clients find what is exposed: method, path, statuses and errors', async () => {
  assert.deepEqual(await (await fetch(`${url}/client.json`)).json(), {
    'notes.list': ['GET', '/notes', [200], 'application/json'],
    'notes.add': ['POST', '/notes', [201, 'E_VALIDATION 400'], 'application/json'],
  })
})
