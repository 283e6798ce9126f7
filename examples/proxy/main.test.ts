import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

const forwarded = {
  'x-forwarded-for': '203.0.113.9, 198.51.100.7, 10.0.0.5',
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'example.com',
}

test('the first address that is no proxy of ours is the client', async () => {
  const reply = await fetch(url.replace('localhost', '127.0.0.1'), { headers: forwarded })
  assert.deepEqual(await reply.json(), {
    client: '198.51.100.7',
    hops: ['198.51.100.7', '10.0.0.5', '127.0.0.1'],
    link: 'https://example.com/',
  })
})

test('what others say of themselves is not believed', async () => {
  const reply = await app.inject({ url: '/', headers: forwarded, remoteAddress: '198.51.100.1' })
  assert.deepEqual(reply.json(), {
    client: '198.51.100.1',
    hops: ['198.51.100.1'],
    link: 'http://localhost/',
  })
})
