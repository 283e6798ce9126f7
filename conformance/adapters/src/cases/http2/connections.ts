import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { connect as connectPlain } from 'node:net'
import { test } from 'node:test'
import { connect as connectTls } from 'node:tls'
import { eventually, type Kit } from '../../kit.ts'
import { type Http2Server } from './server.ts'

export function http2Connections(kit: Kit, server: Http2Server): void {
  test('clients of HTTP/1.1 are served by the same port', async () => {
    const app = kit.app()
    app.get('/', (ctx) => ctx.httpVersion)
    await server.serve(app, async (_client, address) => {
      const port = address.port as number
      const byTls = { port, ca: server.ca(), servername: 'one.example', ALPNProtocols: ['http/1.1'] }
      const socket = server.isEncrypted ? connectTls(byTls) : connectPlain(port, '127.0.0.1')
      // The connection preface begins with a P, too.
      for (const piece of ['G', 'ET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n']) socket.write(piece)
      let text = ''
      for await (const chunk of socket) text += String(chunk)
      assert.match(text, /^HTTP\/1\.1 200 OK\r\n[^]*\r\n1\.1$/)
    })
  })

  test('a listen that fails leaves no timer behind', async () => {
    const timers = new Map<number, { _repeat?: number | null }>()
    const hook = createHook({
      init: (id, type, _, resource) => void (type === 'Timeout' && timers.set(id, resource)),
      destroy: (id) => void timers.delete(id),
    })
    const first = kit.app()
    const { port } = await first.listen({ port: 0, host: '127.0.0.1' })
    try {
      hook.enable()
      await assert.rejects(kit.app().listen({ port: port as number, host: '127.0.0.1', ...server.options() }))
      const intervals = () => [...timers.values()].filter(({ _repeat }) => typeof _repeat === 'number')
      await eventually(() => intervals().length === 0, 'no interval')
    } finally {
      hook.disable()
      await first.close()
    }
  })
}
