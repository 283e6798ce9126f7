import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { ClientError } from 'volant/client'
import { add, clientOf, countdown, describe } from './client.ts'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

let token: string | undefined
const client = clientOf(url, () => token)

test('replies and errors are told apart', async () => {
  assert.equal(await describe(client, 1), 'Ada, born 1815-12-10')
  assert.equal(await describe(client, 0), 'there is no user 0')
  assert.match(await describe(client, Infinity), /^#\/id: /)
})

test('errors of middleware are known, too', async () => {
  assert.equal(await add(client, 'Grace'), 'SIGN_IN')
  token = 'Bearer x'
  assert.equal(await add(client, 'Grace'), 2)
  assert.equal(await add(client, ''), 'E_VALIDATION')
})

test('streams are read as they come', async () => {
  assert.equal(await countdown(client, 3), '3 2 1 ')
  await assert.rejects(countdown(client, 3, AbortSignal.abort()), { name: 'AbortError' })
})

test('what nobody declared is thrown', async () => {
  const lost = clientOf('http://127.0.0.1:1', () => undefined)
  await assert.rejects(describe(lost, 1), ClientError)
})
