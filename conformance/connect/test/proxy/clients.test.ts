/** http-proxy-middleware: clients that leave, and those that read slowly. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { eventually, unchanging } from '@volant/test-kit'
import { requestBytes } from '../../src/client.ts'
import { scenarios } from '../../src/scenario.ts'
import { part, proxied } from './upstream.ts'

scenarios('http-proxy-middleware', {
  // Express tells the upstream nothing: `aborted` comes there for requests alone that are not complete.
  'a client that leaves before the reply, and during it': proxied(
    () => ({}),
    async (client, { up }, { site }) => {
      for (const [at, path] of ['/never', '/events'].entries()) {
        const wire = await client.connect()
        const asked = once(up.server, 'request')
        wire.send(requestBytes('GET', `/api${path}`))
        await asked
        if (path === '/events') await eventually(() => wire.received.includes('data: one'), 'an event')
        wire.reset()
        if (site.name !== 'express')
          await eventually(() => up.left.length > at, `the upstream is told of ${path}`)
      }
    },
    { memory: false },
  ),
  'a client that leaves during its body': proxied(
    () => ({}),
    async (client, { up }) => {
      const wire = await client.connect()
      const open = once(up.server, 'request')
      wire.send(requestBytes('POST', '/api/echo', { 'content-length': '1000' }, 'a part'))
      await open
      wire.reset()
      await eventually(() => up.left.length > 0, 'the upstream is told')
      return up.left
    },
    { memory: false, reports: true },
  ),
  'a client that reads slowly': proxied(
    () => ({}),
    async (client, { up }) => {
      const wire = await client.connect()
      wire.socket.pause()
      wire.send(requestBytes('GET', '/api/big'))
      // The upstream is held back: what the sockets on the way take is far less than the reply.
      await unchanging(() => up.sent, 'the upstream waits')
      assert.ok(up.sent < part.length * 800, `${up.sent} bytes were taken`)
      wire.socket.resume()
      const reply = await wire.reply()
      assert.equal(reply.body.length, part.length * 800)
      return reply.status
    },
    { memory: false },
  ),
})
