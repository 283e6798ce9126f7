import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

for (const path of ['/plain', '/gate', '/around']) {
  test(`GET ${path}`, async () => {
    const reply = await fetch(url + path)
    assert.deepEqual(await reply.json(), { hello: 'world' })
    assert.equal(reply.headers.get('x-served-by'), path === '/plain' ? null : 'volant')
  })
}

test('GET /web', async () => {
  assert.equal(await (await fetch(`${url}/web`)).text(), 'GET is a web request')
})
