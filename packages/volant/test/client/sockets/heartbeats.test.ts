/** How a socket of the client notices that its connection is lost. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSocket, open, PingingFakeSocket, withClock } from './fake-socket.ts'

test('a connection that does not answer a ping is lost', async () => {
  await withClock(async (pass) => {
    const { socket, closes } = await open({ WebSocket: PingingFakeSocket })
    const platform = FakeSocket.last as PingingFakeSocket
    platform.open()
    await pass(30_000)
    platform.receive('{"text":"a"}')
    await pass(30_000)
    assert.equal(platform.pings, 0)
    await pass(30_000)
    assert.equal(platform.pings, 1)
    platform.pong()
    await pass(30_000)
    assert.equal(socket.state, 'open')
    await pass(30_000)
    assert.equal(platform.pings, 2)
    await pass(30_000)
    assert.equal(socket.state, 'waiting')
    assert.equal(closes[0]?.code, 1006)
    assert.match(closes[0]?.error?.message ?? '', /^nothing came within 30000 ms/)
    socket.close()
  })
})

test('a heartbeat can be a message, another time, or off', async () => {
  await withClock(async (pass) => {
    const { socket } = await open({ heartbeat: { interval: 1_000, message: { text: 'ping' } } })
    FakeSocket.last.open()
    await pass(1_000)
    await pass(1_000)
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"ping"}'])
    FakeSocket.last.receive('{"text":"pong"}')
    await pass(1_000)
    assert.equal(socket.state, 'open')
    await pass(1_000)
    await pass(1_000)
    assert.equal(socket.state, 'waiting')
    socket.close()

    // A browser has no pings.
    const page = await open()
    FakeSocket.last.open()
    await pass(600_000)
    assert.equal(page.socket.state, 'open')
    page.socket.close()

    const off = await open({ WebSocket: PingingFakeSocket, heartbeat: false })
    FakeSocket.last.open()
    await pass(600_000)
    assert.equal(off.socket.state, 'open')
    assert.equal((FakeSocket.last as PingingFakeSocket).pings, 0)
    off.socket.close()
  })
})
