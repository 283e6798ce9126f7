import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, test } from 'node:test'

process.env.PORT = '0'
const { app, url } = await import('./main.ts')
after(() => app.close({ drainIdle: 0 }))

/** What the server says to a head that announces a body, before any of it is sent. */
async function expectContinue(authorization: string): Promise<string> {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  socket.write(
    `POST /reports HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n`,
  )
  const [answer] = (await socket.iterator({ destroyOnReturn: true }).next()).value.toString().split('\r\n')
  socket.destroy()
  return answer
}

test('the body is asked for only from those who may send it', async () => {
  assert.equal(await expectContinue('Bearer secret'), 'HTTP/1.1 100 Continue')
  assert.equal(await expectContinue('Bearer wrong'), 'HTTP/1.1 401 Unauthorized')
})

test('the handler runs with the whole body', async () => {
  const reply = await fetch(`${url}/reports`, {
    method: 'POST',
    headers: { authorization: 'Bearer secret' },
    body: new Uint8Array(2_000_000),
  })
  assert.deepEqual(await reply.json(), { received: 2_000_000 })
})
