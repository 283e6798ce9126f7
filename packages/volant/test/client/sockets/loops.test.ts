/** A loop over the messages of a socket. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { connect } from '../../../src/client/index.ts'
import { client, FakeSocket, open, settled, withClock } from './fake-socket.ts'

test('a loop has the messages that come, and ends with the socket', async () => {
  await withClock(async (pass) => {
    const { socket } = await open()
    const loop = socket[Symbol.asyncIterator]()
    FakeSocket.last.open().receive('{"text":"a"}')
    FakeSocket.last.end()
    await pass(250)
    FakeSocket.last.open().receive('{"text":"b"}')
    FakeSocket.last.end(1000)
    const texts: string[] = []
    for await (const { text } of loop) texts.push(text)
    assert.deepEqual(texts, ['a', 'b'])
    for await (const _ of socket) assert.fail('the socket is closed')
  })
})

test('a loop that is left takes no further messages, and the socket stays open', async () => {
  await withClock(async () => {
    const { socket } = await open()
    FakeSocket.last.open()
    const loop = socket[Symbol.asyncIterator]()
    FakeSocket.last.receive('{"text":"a"}')
    for await (const { text } of loop) {
      assert.equal(text, 'a')
      break
    }
    FakeSocket.last.receive('{"text":"b"}')
    assert.deepEqual(await loop.next(), { value: undefined, done: true })
    assert.equal(socket.state, 'open')
    socket.close()
  })
})

test('a loop throws where no connection can be had, and then the error is not written as well', async () => {
  await withClock(async () => {
    const written = mock.method(console, 'error', () => {})
    const socket = connect(
      client.chat,
      { params: { room: 'a' } },
      { WebSocket: FakeSocket, reconnect: false },
    )
    const next = socket[Symbol.asyncIterator]().next()
    await settled()
    FakeSocket.last.end()
    await assert.rejects(next, /^ClientError: chat: there is no connection to/)
    assert.equal(written.mock.callCount(), 0)
    written.mock.restore()
  })
})

test('a loop that reads too slowly throws, and the socket goes on', async () => {
  await withClock(async () => {
    const { socket, messages } = await open()
    FakeSocket.last.open()
    const loop = socket[Symbol.asyncIterator]()
    for (let count = 0; count <= 10_000; count++) FakeSocket.last.receive('{"text":""}')
    await assert.rejects(loop.next(), /more than 10000 messages wait for a loop/)
    assert.deepEqual(await loop.next(), { value: undefined, done: true })
    assert.equal(messages.length, 10_001)
    assert.equal(socket.state, 'open')
    socket.close()
  })
})
