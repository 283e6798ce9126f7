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
  const reply = await rename('7', { name: ' Ada ' })
  assert.deepEqual(await reply.json(), { id: 7, name: 'Ada' })
})

test('the schema says what is wrong', async () => {
  const reply = await rename('7', { name: '' })
  assert.equal(reply.status, 400)
  const { errors } = (await reply.json()) as { errors: unknown }
  assert.deepEqual(errors, [{ in: 'body', pointer: '#/name', detail: 'A name is needed' }])
})
