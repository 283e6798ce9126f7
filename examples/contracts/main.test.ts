import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const add = (name: string, headers: Record<string, string> = { authorization: 'x' }) =>
  fetch(`${url}/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ name }),
  })

test('only what is declared is sent', async () => {
  assert.deepEqual(await (await fetch(`${url}/users/1`)).json(), { id: 1, name: 'Ada' })
})

test('declared errors have a code and data', async () => {
  const reply = await fetch(`${url}/users/7`)
  assert.equal(reply.status, 404)
  assert.deepEqual(await reply.json(), {
    type: 'about:blank',
    title: 'Not Found',
    status: 404,
    code: 'USER_NOT_FOUND',
    data: { id: 7 },
  })
})

test('middleware declares errors, too', async () => {
  const reply = await add('Bob', {})
  assert.equal(reply.status, 401)
  assert.equal(((await reply.json()) as { code: string }).code, 'SIGN_IN')
})

test('each status has its own content, or none', async () => {
  const first = await add('Bob')
  assert.equal(first.status, 201)
  assert.deepEqual(await first.json(), { id: 2, name: 'Bob' })
  assert.equal((await add('Bob')).status, 204)
})
