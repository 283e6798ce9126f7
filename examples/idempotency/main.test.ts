import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const pay = (cents: number, key?: string) =>
  fetch(`${url}/payments`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(key === undefined ? {} : { 'idempotency-key': key }) },
    body: JSON.stringify({ cents }),
  })

test('a payment that is asked for twice is made once', async () => {
  const key = randomUUID()
  const [first, again] = [await pay(500, key), await pay(500, key)]
  assert.deepEqual([first.status, again.status], [201, 201])
  assert.deepEqual(await again.json(), await first.json())
  assert.equal(again.headers.get('location'), '/payments/1')
  assert.equal(again.headers.get('idempotent-replayed'), 'true')
  const all = (await (await fetch(`${url}/payments`)).json()) as unknown[]
  assert.equal(all.length, 1)
})

test('a key belongs to one request, and is required', async () => {
  const key = randomUUID()
  assert.equal((await pay(1, key)).status, 201)
  assert.equal((await pay(2, key)).status, 422)
  assert.equal((await pay(3)).status, 400)
})
