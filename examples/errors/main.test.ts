import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
process.env.NODE_ENV = 'production'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const page = { headers: { accept: 'text/html' } }

test('an HTTPError is a problem document', async () => {
  const reply = await fetch(`${url}/teapot`)
  assert.equal(reply.status, 418)
  assert.equal(reply.headers.get('content-type'), 'application/problem+json; charset=utf-8')
  assert.equal(reply.headers.get('vary'), 'accept')
  assert.deepEqual(await reply.json(), {
    type: 'about:blank',
    title: "I'm a Teapot",
    status: 418,
    detail: 'I cannot brew coffee',
    code: 'TEAPOT',
    data: { short: true, stout: true },
  })
})

test('onError replies to errors of ours', async () => {
  const reply = await fetch(`${url}/buy/tea`)
  assert.equal(reply.status, 409)
  assert.deepEqual(await reply.json(), { item: 'tea', detail: 'tea is out of stock' })
})

test('in production nobody learns what went wrong inside', async () => {
  for (const init of [{}, page]) {
    const reply = await fetch(`${url}/broken`, init)
    assert.equal(reply.status, 500)
    assert.doesNotMatch(await reply.text(), /password/)
  }
})

test('browsers are shown a page', async () => {
  const reply = await fetch(`${url}/teapot`, page)
  assert.equal(reply.status, 418)
  assert.equal(reply.headers.get('content-type'), 'text/html; charset=utf-8')
  assert.equal(reply.headers.get('vary'), 'accept')
  assert.match(await reply.text(), /<p>I cannot brew coffee/)
  const missing = await fetch(`${url}/no%3Cwhere`)
  assert.equal(missing.status, 404)
  assert.equal(await missing.text(), '<h1>No page at /no%3Cwhere</h1>')
})
