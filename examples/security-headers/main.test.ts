import assert from 'node:assert/strict'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

test('every reply has them, errors too', async () => {
  for (const path of ['/', '/nowhere']) {
    const { headers } = await fetch(url + path)
    assert.match(headers.get('content-security-policy') ?? '', /default-src 'self'/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('strict-transport-security'), null) // this is not https
    assert.match(headers.get('x-request-id') ?? '', /\w/)
  }
})

test('a script with this request’s nonce', async () => {
  const reply = await fetch(`${url}/page`)
  const [, nonce] = /nonce="([^"]+)"/.exec(await reply.text()) ?? []
  const policy = reply.headers.get('content-security-policy') ?? ''
  assert.ok(policy.includes(`'nonce-${nonce}'`))
})
