import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const rename = (id: string, body: unknown) =>
  fetch(`${url}/users/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

test('the handler sees what the schemas made', async () => {
  const reply = await rename('7', { name: 'Ada' })
  assert.deepEqual(await reply.json(), { id: 7, name: 'Ada', role: 'user' })
})

test('the schemas say what is wrong', async () => {
  const reply = await rename('x', { name: '', role: 'root' })
  assert.equal(reply.status, 400)
  const { errors } = (await reply.json()) as { errors: { in: string; pointer: string }[] }
  assert.deepEqual(errors.map(({ in: part, pointer }) => `${part} ${pointer}`).toSorted(), [
    'body #/name',
    'body #/role',
    'params #/id',
  ])
})
