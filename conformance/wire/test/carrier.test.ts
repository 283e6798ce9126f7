import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { test } from 'node:test'
import { createServer as createTlsServer, type TLSSocket } from 'node:tls'

import { eventually, TestAuthority } from '@volant/test-kit'

import { carry } from '../src/carrier.ts'

for (const [carrier, expected] of [
  ['tls', 1],
  ['tls, no FIN', 0],
] as const) {
  test(`${carrier}: the end of the client's side arrives, and its other side still receives`, async () => {
    const { cert, key } = (await TestAuthority.make()).server(['127.0.0.1'])
    const server = createTlsServer({ cert, key, allowHalfOpen: true } as object)
    let ended: TLSSocket | undefined
    server.on('secureConnection', (socket) => {
      socket.resume().on('end', () => {
        ended = socket
      })
    })
    const behind = await listen(server)
    // The relay sees the FIN. A TLSSocket does not tell a FIN from a close_notify.
    let fins = 0
    const relay = createServer({ allowHalfOpen: true }, (inner) => {
      const outer = connect({ port: behind, host: '127.0.0.1', allowHalfOpen: true })
      inner.on('end', () => fins++).pipe(outer, { end: false })
      outer.pipe(inner)
    })
    const { stream } = await carry({ port: await listen(relay), carrier })
    let received = ''
    stream.setEncoding('latin1').on('data', (text) => {
      received += String(text)
    })
    stream.end('a request')
    await eventually(() => ended !== undefined && fins >= expected, 'the end of the client')
    ended?.end('a reply')
    await once(stream, 'end')
    assert.equal(received, 'a reply')
    assert.equal(fins, expected)
    stream.destroy()
    relay.close()
    server.close()
  })
}

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}
