/** Messages that wait for a connection. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeSocket, open, withClock } from './fake-socket.ts'

test('messages wait for a connection, once each, in their order, behind those of open', async () => {
  await withClock(async (pass) => {
    const { socket, dropped } = await open()
    socket.on('open', ({ reconnected }) => void socket.send({ text: reconnected ? 'rejoin' : 'join' }))
    assert.equal(socket.send({ text: 'a' }), true)
    assert.equal(socket.send({ text: 'ä' }), true)
    assert.equal(socket.bufferedAmount, '{"text":"a"}{"text":"ä"}'.length + 1)
    FakeSocket.last.open()
    assert.equal(socket.bufferedAmount, 0)
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"join"}', '{"text":"a"}', '{"text":"ä"}'])
    FakeSocket.last.end()
    socket.send({ text: 'b' })
    await pass(250)
    FakeSocket.last.end()
    socket.send({ text: 'c' })
    await pass(500)
    FakeSocket.last.open()
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"rejoin"}', '{"text":"b"}', '{"text":"c"}'])
    assert.deepEqual(
      FakeSocket.made.map(({ sent }) => sent.length),
      [3, 0, 3],
    )
    socket.close()
    assert.deepEqual(dropped, [])
  })
})

test('a queued message is what it was when it was sent', async () => {
  await withClock(async () => {
    const { socket } = await open()
    const message = { text: 'then' }
    socket.send(message)
    message.text = 'now'
    FakeSocket.last.open()
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"then"}'])
    socket.close()
  })
})

test('what does not fit is refused, and what waits at the end is told', async () => {
  await withClock(async () => {
    const counted = await open({ maxQueuedMessages: 2 })
    assert.deepEqual(
      ['a', 'b', 'c'].map((text) => counted.socket.send({ text })),
      [true, true, false],
    )
    counted.socket.close(4000, 'bye')
    assert.deepEqual(counted.dropped, [{ text: 'a' }, { text: 'b' }])
    assert.deepEqual(counted.closes, [{ code: 4000, reason: 'bye', opened: false, final: true }])
    assert.equal(counted.socket.send({ text: 'd' }), false)

    const sized = await open({ maxQueuedBytes: 24 })
    assert.deepEqual(
      ['a', 'b', 'c'].map((text) => sized.socket.send({ text })),
      [true, true, false],
    )
    FakeSocket.last.open()
    FakeSocket.last.bufferedAmount = 25
    assert.equal(sized.socket.send({ text: 'd' }), false)
    assert.equal(sized.socket.bufferedAmount, 25)
    FakeSocket.last.bufferedAmount = 0
    assert.equal(sized.socket.send({ text: 'e' }), true)
    sized.socket.close()
  })
})

test('a message waits where the server has begun to close', async () => {
  await withClock(async (pass) => {
    const { socket } = await open()
    const first = FakeSocket.last.open()
    first.readyState = 2
    assert.equal(socket.send({ text: 'a' }), true)
    assert.deepEqual(first.sent, [])
    first.end(1012)
    await pass(250)
    FakeSocket.last.open()
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"a"}'])
    socket.close()
  })
})
