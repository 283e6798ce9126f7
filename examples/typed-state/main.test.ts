import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const as = (name: string, path: string) =>
  fetch(url + path, { headers: name === '' ? {} : { authorization: `Bearer ${name}` } })

test('each scope has the checks of those around it', async () => {
  assert.equal((await as('', '/')).status, 200)
  assert.equal((await as('', '/me')).status, 401)
  assert.equal((await as('', '/users')).status, 401)
  assert.equal((await as('bob', '/users')).status, 403)
})

test('the handler sees what middleware found out', async () => {
  assert.deepEqual(await (await as('bob', '/me')).json(), { name: 'Bob' })
  assert.deepEqual(await (await as('ada', '/users')).json(), ['Ada', 'Bob'])
})
