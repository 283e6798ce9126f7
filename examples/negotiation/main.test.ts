import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const forms: [accept: string, status: number, type: string][] = [
  ['*/*', 200, 'application/json; charset=utf-8'],
  ['text/csv', 200, 'text/csv; charset=utf-8'],
  ['text/html, */*;q=0.1', 200, 'text/html; charset=utf-8'],
  ['image/png', 406, 'application/problem+json; charset=utf-8'],
]

for (const [accept, status, type] of forms) {
  test(`Accept: ${accept}`, async () => {
    const reply = await fetch(`${url}/users`, { headers: { accept } })
    assert.equal(reply.status, status)
    assert.equal(reply.headers.get('content-type'), type)
    assert.equal(reply.headers.get('vary'), 'accept')
  })
}

test('languages', async () => {
  const reply = await fetch(`${url}/greeting`, { headers: { 'accept-language': 'de, fr;q=0.8' } })
  assert.equal(await reply.text(), 'Bonjour')
})
