/** What differs where the WebSockets are those of uWebSockets.js, as docs/adapters.md says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deferred, eventually, Kit } from '../src/kit.ts'
import { frame, Opcode, Peer } from '../src/peer.ts'
import { unloadable } from '../src/suite.ts'

const skip = unloadable('uwebsockets') ?? false
const kit = new Kit('uwebsockets')

/** Opens a WebSocket at `/`, runs `use`, and gives what the hook `close` was called with. */
async function endOf(
  use: (peer: Peer) => unknown,
  hooks: { message?: (ws: { close(code: number, reason: string): void }) => void } = {},
): Promise<[number, string]> {
  const app = kit.app()
  const end = deferred<[number, string]>()
  app.ws('/', { maxMessageSize: 10, ...hooks, close: (_, code, reason) => end.resolve([code, reason]) })
  let closed: [number, string] = [0, '']
  await kit.serve(app, async (live) => {
    const peer = await Peer.open(live, '/')
    await use(peer)
    closed = await end.promise
    assert.equal(app.stats().sockets, 0)
  })
  return closed
}

const faults: [string, Buffer][] = [
  ['a message past maxMessageSize', frame(Opcode.text, 'x'.repeat(11))],
  ['a reserved bit', frame(Opcode.text, 'x', { rsv1: true })],
  ['text that is not UTF-8', frame(Opcode.text, Buffer.from([0xff]))],
]
for (const [name, bytes] of faults) {
  test(`socket-faults: ${name} ends the connection, for the hook with 1006`, { skip }, async () => {
    const ended = await endOf(async ({ wire }) => {
      wire.send(bytes)
      await wire.ended()
      assert.equal(wire.received.length, 0)
    })
    assert.deepEqual(ended, [1006, ''])
  })
}

test('socket-faults: each route has its own maxMessageSize', { skip }, async () => {
  const app = kit.app()
  for (const size of [10, 20]) {
    app.ws(`/${size}`, { maxMessageSize: size, message: (ws, message) => ws.send(message) })
  }
  await kit.serve(app, async (live) => {
    for (const size of [20, 10]) {
      const peer = await Peer.open(live, `/${size}`)
      peer.send('x'.repeat(size))
      assert.equal((await peer.text()).length, size)
      peer.send('x'.repeat(size + 1))
      await peer.wire.ended()
    }
  })
})

test(
  'socket-codes: a code of 1012 to 1014 and 3000 to 3999 of the client counts as malformed',
  { skip },
  async () => {
    for (const code of [1012, 1014, 3000, 3999]) {
      const ended = await endOf(async (peer) => {
        assert.equal((await peer.close(code, 'why').closing())[0], 1005)
      })
      assert.deepEqual(ended, [1006, ''])
    }
  },
)

test('the hook close runs before the client has answered the close frame', { skip }, async () => {
  const ended = await endOf(
    async (peer) => {
      peer.wire.socket.pause()
      peer.send('x')
    },
    { message: (ws) => ws.close(3999, 'enough') },
  )
  assert.deepEqual(ended, [3999, 'enough'])
})

test('a client that does not read what is published is reset, for the hook with 1013', { skip }, async () => {
  const app = kit.app({ limits: { maxSocketBuffer: 100_000 } })
  const end = deferred<number>()
  let open = 0
  app.ws('/', {
    open: (ws) => {
      open++
      ws.subscribe('t')
    },
    close: (_, code) => end.resolve(code),
  })
  await kit.serve(app, async (live) => {
    const slow = await Peer.open(live, '/')
    await eventually(() => open === 1, 'the socket')
    slow.wire.socket.pause()
    const text = 'x'.repeat(50_000)
    let code = 0
    void end.promise.then((given) => {
      code = given
    })
    await eventually(() => {
      if (code === 0) app.publish('t', text)
      return code !== 0
    }, 'the end')
    assert.equal(code, 1013)
    assert.equal(app.stats().sockets, 0)
  })
})

test('an offer that asks for a small window of the server is declined', { skip }, async () => {
  const app = kit.app()
  app.ws('/', { compress: true })
  await kit.serve(app, async (live) => {
    const offers: [string, boolean][] = [
      ['permessage-deflate', true],
      ['permessage-deflate; server_max_window_bits=15', true],
      ['permessage-deflate; server_max_window_bits=10', false],
      ['permessage-deflate; server_max_window_bits=9, permessage-deflate', true],
      ['x-webkit-deflate-frame', false],
    ]
    for (const [offer, accepted] of offers) {
      const peer = await Peer.open(live, '/', { 'sec-websocket-extensions': offer })
      const answer = accepted
        ? 'permessage-deflate; client_no_context_takeover; server_no_context_takeover'
        : undefined
      assert.equal(peer.reply.headers['sec-websocket-extensions'], answer, offer)
    }
  })
})

test('text with half a surrogate pair is sent as valid UTF-8', { skip }, async () => {
  const app = kit.app()
  app.ws('/', {
    open: (ws) => {
      ws.subscribe('t')
      ws.send('a\ud800b')
      ws.publish('t', 'c\udc00d', { self: true })
    },
  })
  await kit.serve(app, async (live) => {
    const peer = await Peer.open(live, '/')
    assert.deepEqual([await peer.text(), await peer.text()], ['a\ufffdb', 'c\ufffdd'])
  })
})
