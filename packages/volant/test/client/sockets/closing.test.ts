/** How a socket of the client ends. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from '../../../src/client/index.ts'
import { client, FakeSocket, open, withClock } from './fake-socket.ts'

test('close sends a close frame and ends with it', async () => {
  await withClock(async (pass) => {
    const { socket, closes, messages } = await open()
    FakeSocket.last.open()
    socket.close(4001, 'done')
    assert.equal(socket.state, 'closing')
    assert.deepEqual(FakeSocket.last.closed, [[4001, 'done']])
    assert.equal(socket.send({ text: 'late' }), false)
    FakeSocket.last.receive('{"text":"late"}')
    FakeSocket.last.end(4001, 'done')
    assert.deepEqual(closes, [{ code: 4001, reason: 'done', opened: true, final: true }])
    assert.deepEqual(messages, [])
    socket.close()
    await pass(60_000)
    assert.equal(closes.length, 1)
  })
})

test('a server that does not answer the close frame is not waited for', async () => {
  await withClock(async (pass) => {
    const { socket, closes, errors } = await open()
    FakeSocket.last.open()
    socket.close()
    await pass(4_999)
    assert.equal(socket.state, 'closing')
    await pass(1)
    assert.equal(socket.state, 'closed')
    assert.deepEqual(closes, [{ code: 1006, reason: '', opened: true, final: true }])
    assert.deepEqual(errors, [])
  })
})

test('close while it waits, or connects, ends the socket without another attempt', async () => {
  await withClock(async (pass) => {
    const connecting = await open()
    connecting.socket.close()
    assert.deepEqual(FakeSocket.last.closed, [[]])
    const waiting = await open()
    FakeSocket.last.open().end()
    waiting.socket.close()
    assert.deepEqual(waiting.closes.at(-1), { code: 1000, reason: '', opened: false, final: true })
    // Before the address is known.
    const early = connect(client.chat, { params: { room: 'a' } }, { WebSocket: FakeSocket })
    early.close()
    await pass(60_000)
    assert.equal(FakeSocket.made.length, 2)
  })
})

test('codes and reasons that no close frame of a client may have are refused', async () => {
  await withClock(async () => {
    const { socket } = await open()
    for (const code of [0, 999, 1001, 1005, 1006, 2999, 5000, 3000.5, Number.NaN]) {
      assert.throws(() => socket.close(code), {
        message: `a socket cannot be closed with the code ${code}: 1000, or 3000 to 4999`,
      })
    }
    assert.throws(() => socket.close(1000, 'ä'.repeat(62)), { name: 'TypeError' })
    assert.equal(socket.state, 'connecting')
    socket.close(1000, 'ä'.repeat(61))
    assert.equal(socket.state, 'closed')
  })
})

test('a signal closes the socket, and its loops throw the reason', async () => {
  await withClock(async () => {
    const controller = new AbortController()
    const { socket, closes, errors } = await open({ signal: controller.signal })
    FakeSocket.last.open()
    const loop = socket[Symbol.asyncIterator]()
    const next = loop.next()
    const reason = new Error('enough')
    controller.abort(reason)
    await assert.rejects(next, reason)
    assert.equal(socket.state, 'closed')
    assert.equal(closes.length, 1)
    assert.deepEqual(errors, [])
    assert.equal(FakeSocket.last.closed.length, 1)

    const early = await open({ signal: controller.signal })
    assert.equal(early.socket.state, 'closed')
    assert.equal(early.closes.length, 1)
    assert.equal(FakeSocket.made.length, 1)
  })
})
