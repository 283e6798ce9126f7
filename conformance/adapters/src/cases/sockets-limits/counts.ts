import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { eventually, type Kit } from '../../kit.ts'
import { handshake, Peer } from '../../peer.ts'

/** How many topics and WebSockets there may be. */
export function socketCounts(kit: Kit): void {
  describe('limits of WebSockets', () => {
    test('maxTopics: subscribe throws past it', async () => {
      const app = kit.app({ limits: { maxTopics: 3 } })
      const codes: unknown[] = []
      app.ws('/', {
        open(ws) {
          const subscribe = (topic: string): void => {
            try {
              ws.subscribe(topic)
              codes.push('fine')
            } catch (error) {
              codes.push((error as VolantError).code)
            }
          }
          for (const topic of ['a', 'b', 'c', 'c', 'd']) subscribe(topic)
          ws.unsubscribe('a')
          subscribe('d')
          ws.send(ws.topics.join(''))
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        assert.equal(await peer.text(), 'bcd')
      })
      assert.deepEqual(codes, ['fine', 'fine', 'fine', 'fine', 'E_SOCKET_TOPIC', 'fine'])
    })

    test('maxSocketsPerAddress: 429, until one is closed', async () => {
      const app = kit.app({ limits: { maxSocketsPerAddress: 2 }, trustProxy: 'loopback' })
      app.ws('/:way', {
        upgrade: (ctx) => (ctx.params['way'] === 'no' ? ctx.text('no', 403) : undefined),
        open: (ws) => ws.send(ws.ip),
      })
      await kit.serve(app, async (live) => {
        const from = (address: string) => ({ 'x-forwarded-for': address })
        const status = async (path: string, address: string): Promise<number> => {
          const headers = { ...handshake, ...from(address), connection: 'upgrade, close' }
          return (await live.ask(path, { headers })).status
        }
        const first = await Peer.open(live, '/a', from('192.0.2.1'))
        assert.equal(await status('/no', '192.0.2.1'), 403)
        const second = await Peer.open(live, '/b', from('192.0.2.1'))
        assert.equal(await status('/c', '192.0.2.1'), 429)
        assert.equal(await (await Peer.open(live, '/a', from('192.0.2.2'))).text(), '192.0.2.2')
        await first.text()
        await first.close(1000).closing()
        await eventually(() => app.stats().sockets === 2, 'the end of the first')
        await Peer.open(live, '/a', from('192.0.2.1'))
        assert.equal(await status('/a', '192.0.2.1'), 429)
        second.wire.reset()
        await eventually(() => app.stats().sockets === 2, 'the end of the second')
        // A client of IPv6 has 64 bits for itself.
        await Peer.open(live, '/a', from('2001:db8:1:2::1'))
        await Peer.open(live, '/a', from('2001:db8:1:2:ffff::2'))
        assert.equal(await status('/a', '2001:db8:1:2:3:4:5:6'), 429)
        await Peer.open(live, '/a', from('2001:db8:1:3::1'))
      })
    })

    test('maxConnections counts WebSockets', { skip: kit.adapter === 'uwebsockets' }, async () => {
      const app = kit.app({ limits: { maxConnections: 2 } })
      app.get('/x', () => 'x')
      app.ws('/', { open: (ws) => ws.send('ready') })
      await kit.serve(app, async (live) => {
        const peers = [await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of peers) await peer.text()
        await assert.rejects(live.ask('/x'))
        await peers[0]?.close(1000).closing()
        await eventually(() => app.stats().connections === 1, 'room')
        assert.equal((await live.ask('/x')).text, 'x')
      })
    })
  })
}
