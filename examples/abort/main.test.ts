import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo } from 'node:net'
import { after, test } from 'node:test'

const slow = createServer()
await once(slow.listen(0), 'listening')
process.env.PORT = '0'
process.env.UPSTREAM = `http://localhost:${(slow.address() as AddressInfo).port}`
const { app, url } = await import('./main.ts')
after(async () => {
  await app.close({ drainIdle: 0 })
  slow.close()
  slow.closeAllConnections()
})

test('the request behind it ends with the client', async () => {
  const client = new AbortController()
  const asked = once(slow, 'request')
  const failed = assert.rejects(fetch(`${url}/report`, { signal: client.signal }))
  const [, behind] = (await asked) as [unknown, ServerResponse]
  const closed = once(behind, 'close')
  client.abort()
  await Promise.all([failed, closed])
  assert.equal(behind.writableFinished, false)
})

test('a client that stays has its report', async () => {
  slow.once('request', (_, response: ServerResponse) => response.end('done'))
  assert.deepEqual(await (await fetch(`${url}/report`)).json(), { report: 'done' })
})
