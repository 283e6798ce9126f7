/** http-proxy-middleware: an upstream that fails. */
import assert from 'node:assert/strict'
import { eventually } from '@volant/test-kit'
import { brief, requestBytes } from '../../src/client.ts'
import type { Req, Res } from '../../src/layers.ts'
import { scenarios } from '../../src/scenario.ts'
import { proxied } from './upstream.ts'

scenarios('http-proxy-middleware', {
  'an upstream that is down': proxied(
    () => ({ target: 'http://127.0.0.1:9' }),
    async (client) => {
      const reply = await client.get('/api/echo')
      assert.equal(reply.status, 504)
      return [reply, await client.post('/api/echo', 'text/plain', 'a body')]
    },
  ),
  'an upstream that is down, told to the app': proxied(
    () => ({
      target: 'http://127.0.0.1:9',
      on: {
        error: (error: Error, _req: Req, res: Res) => {
          res.writeHead(502, { 'Content-Type': 'text/plain' })
          res.end(`up: ${(error as { code?: string }).code}`)
        },
      },
    }),
    (client) => client.get('/api/echo'),
  ),
  'an upstream that resets': proxied(
    () => ({}),
    async (client) => brief(await client.get('/api/resets')),
  ),
  'an upstream that takes too long': proxied(
    () => ({ proxyTimeout: 50 }),
    async (client) => brief(await client.get('/api/never')),
  ),
  'an upstream that dies within its reply': proxied(
    () => ({}),
    async (client) => {
      const wire = await client.connect()
      wire.send(requestBytes('GET', '/api/dies'))
      await eventually(() => wire.received.includes('a part'), 'the part')
      assert.match(wire.received.toString(), /^HTTP\/1\.1 200[^]*\r\n\r\na part$/)
      wire.reset()
    },
    { memory: false, reports: true },
  ),
})
