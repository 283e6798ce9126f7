import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memoryBus } from 'volant/bus'
import { deferred, eventually, type Kit } from '../../kit.ts'
import { Opcode, Peer } from '../../peer.ts'

/** Who is subscribed to a topic. */
export function subscribers(kit: Kit): void {
  describe('topics of WebSockets', () => {
    test('who is subscribed gets a message once, the publisher only with self', async () => {
      const app = kit.app()
      const chat = app.ws('/:name', {
        upgrade: (ctx) => ctx.params.name,
        open(ws) {
          ws.subscribe('room')
          ws.subscribe('room')
          ws.subscribe('é/#+*')
          ws.send('ready')
        },
        message(ws, message) {
          if (message === 'self') ws.publish('room', `${ws.data} to all`, { self: true })
          else if (message === 'bytes') ws.publish('room', Buffer.from([1, 2, 255]))
          else ws.publish('room', `${ws.data}: ${message}`)
          ws.send('done')
        },
      })
      await kit.serve(app, async (live) => {
        const [a, b, c] = await Promise.all(['a', 'b', 'c'].map((name) => Peer.open(live, `/${name}`)))
        assert.ok(a && b && c)
        for (const peer of [a, b, c]) assert.equal(await peer.text(), 'ready')
        a.send('hello')
        assert.equal(await a.text(), 'done')
        for (const peer of [b, c]) assert.equal(await peer.text(), 'a: hello')
        a.send('self')
        assert.deepEqual([await a.text(), await a.text()].toSorted(), ['a to all', 'done'])
        for (const peer of [b, c]) assert.equal(await peer.text(), 'a to all')
        b.send('bytes')
        for (const peer of [a, c]) {
          const { opcode, payload } = await peer.next()
          assert.deepEqual([opcode, [...payload]], [Opcode.binary, [1, 2, 255]])
        }
        assert.equal(await b.text(), 'done')
        app.publish('room', 'from the app')
        chat.publish('room', 'from the route')
        app.publish('é/#+*', 'names are exact')
        app.publish('é/', 'nobody')
        app.publish('Room', 'nobody')
        for (const peer of [a, b, c]) {
          assert.equal(await peer.text(), 'from the app')
          assert.equal(await peer.text(), 'from the route')
          assert.equal(await peer.text(), 'names are exact')
        }
        for (const peer of [a, b, c]) {
          assert.equal(await peer.send('end').text(), 'done')
          for (const other of [a, b, c]) if (other !== peer) assert.match(await other.text(), /: end$/)
        }
      })
    })

    test('topics, isSubscribed and unsubscribe', async () => {
      const app = kit.app()
      app.ws('/', {
        message(ws, message) {
          const [call, topic = ''] = String(message).split(' ')
          if (call === 'sub') ws.subscribe(topic)
          if (call === 'unsub') ws.unsubscribe(topic)
          ws.json([ws.topics, ws.isSubscribed('a')])
        },
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/')
        const ask = async (text: string): Promise<unknown> => JSON.parse(await peer.send(text).text())
        assert.deepEqual(await ask('nothing'), [[], false])
        assert.deepEqual(await ask('sub a'), [['a'], true])
        assert.deepEqual(await ask('sub b'), [['a', 'b'], true])
        assert.deepEqual(await ask('unsub a'), [['b'], false])
        assert.deepEqual(await ask('unsub a'), [['b'], false])
        app.publish('a', 'nobody')
        app.publish('b', 'somebody')
        assert.equal(await peer.text(), 'somebody')
      })
    })

    test('a WebSocket that closes is unsubscribed, and close may publish', async () => {
      const app = kit.app()
      const left = deferred<readonly string[]>()
      const reports = kit.reports.length
      app.ws('/:name', {
        upgrade: (ctx) => ctx.params.name,
        open(ws) {
          ws.subscribe('room')
          ws.send('ready')
        },
        close(ws) {
          left.resolve(ws.topics)
          assert.equal(ws.send('nobody'), false)
          assert.equal(ws.json('nobody'), false)
          ws.close()
          ws.terminate()
          ws.subscribe('room')
          ws.publish('room', `${ws.data} left`)
          assert.equal(ws.isSubscribed('room'), false)
          assert.equal(ws.bufferedAmount, 0)
        },
      })
      await kit.serve(app, async (live) => {
        const a = await Peer.open(live, '/a')
        const b = await Peer.open(live, '/b')
        for (const peer of [a, b]) assert.equal(await peer.text(), 'ready')
        await a.close(1000).closing()
        assert.equal(await b.text(), 'a left')
        assert.deepEqual(await left.promise, [])
        await eventually(() => app.stats().sockets === 1, 'one is left')
        b.wire.reset()
        await eventually(() => app.stats().sockets === 0, 'none is left')
      })
      assert.equal(kit.reports.length, reports)
    })

    test('subscriberCount is exact, from the subscription until the hook close', async () => {
      const [app, mounted, bus] = [kit.app(), kit.app(), memoryBus()]
      const counts: number[] = []
      app.ws('/', {
        open(ws) {
          ws.subscribe('room')
          ws.subscribe('room')
          counts.push(app.subscriberCount('room'))
          ws.send('ready')
        },
        message(ws, message) {
          if (message === 'leave') ws.unsubscribe('room')
          ws.unsubscribe('never')
          ws.send(String(app.subscriberCount('room')))
        },
        close: () => void counts.push(app.subscriberCount('room')),
      })
      mounted.ws('/', { open: (ws) => (ws.subscribe('room'), ws.send('ready')) })
      app.mount('/mounted', mounted)
      assert.equal(app.subscriberCount('room'), 0)
      assert.throws(() => app.subscriberCount(''), { code: 'E_SOCKET_TOPIC' })
      const other = kit.app({ bus })
      other.mount('/', mounted)
      await kit.serve(app, async (live) => {
        const [a, b] = [await Peer.open(live, '/'), await Peer.open(live, '/')]
        for (const peer of [a, b]) assert.equal(await peer.text(), 'ready')
        const inside = await Peer.open(live, '/mounted')
        assert.equal(await inside.text(), 'ready')
        assert.deepEqual(
          [app, mounted, other].map((each) => each.subscriberCount('room')),
          [3, 3, 0],
        )
        await kit.serve(other, async (second) => {
          const far = await Peer.open(second, '/')
          assert.equal(await far.text(), 'ready')
          // A bus and another server do not count for an app; what is mounted in both has the WebSockets of both.
          assert.deepEqual(
            [app, mounted, other].map((each) => each.subscriberCount('room')),
            [3, 4, 1],
          )
        })
        assert.deepEqual(
          [app, mounted, other].map((each) => each.subscriberCount('room')),
          [3, 3, 0],
        )
        assert.equal(app.subscriberCount('Room'), 0)
        assert.equal(await b.send('leave').text(), '2')
        assert.equal(await b.send('leave').text(), '2')
        await a.close(1000).closing()
        await eventually(() => app.subscriberCount('room') === 1, 'the end of one')
        inside.wire.reset()
        await eventually(() => app.subscriberCount('room') === 0, 'the end of another')
        assert.equal(await b.send('still here').text(), '0')
      })
      assert.deepEqual(counts, [1, 2, 1, 0])
    })
  })
}
