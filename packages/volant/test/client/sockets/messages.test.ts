/** What a socket of the client sends and receives, and the events it has. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { ClientError, connect } from '../../../src/client/index.ts'
import { client, FakeSocket, open, settled, watch, withClock } from './fake-socket.ts'

test('a socket has the address of its route, and its messages are JSON', async () => {
  await withClock(async () => {
    const { socket, messages, opens } = await open()
    assert.equal(FakeSocket.last.url, 'wss://api.test/v1/chat/a')
    assert.equal(FakeSocket.last.binaryType, 'arraybuffer')
    assert.equal(socket.state, 'connecting')
    FakeSocket.last.open('chat.v1')
    assert.equal(socket.state, 'open')
    assert.equal(socket.protocol, 'chat.v1')
    assert.equal(socket.send({ text: 'hi' }), true)
    assert.deepEqual(FakeSocket.last.sent, ['{"text":"hi"}'])
    FakeSocket.last.receive('{"text":"ho"}')
    assert.deepEqual(messages, [{ text: 'ho' }])
    assert.deepEqual(opens, [false])
    socket.close()
  })
})

test('without in and out the messages are text and bytes', async () => {
  await withClock(async () => {
    const socket = connect(client.raw, {}, { WebSocket: FakeSocket })
    const { messages } = watch(socket)
    const bytes = new Uint8Array([1, 2])
    socket.send('early')
    socket.send(bytes)
    bytes[0] = 9
    await settled()
    FakeSocket.last.open()
    socket.send('late')
    assert.deepEqual(FakeSocket.last.sent, ['early', new Uint8Array([1, 2]), 'late'])
    FakeSocket.last.receive('{}')
    FakeSocket.last.receive(new Uint8Array([3]).buffer)
    assert.deepEqual(messages, ['{}', new Uint8Array([3])])
    socket.close()
  })
})

test('a message without JSON throws', async () => {
  await withClock(async () => {
    const { socket } = await open()
    assert.throws(() => socket.send(undefined as never), {
      name: 'TypeError',
      message: 'the message has no JSON: it is of type undefined',
    })
    socket.close()
  })
})

test('a message that is not JSON is an error event, and the socket goes on', async () => {
  await withClock(async () => {
    const { socket, messages, errors } = await open()
    FakeSocket.last.open()
    FakeSocket.last.receive('{')
    FakeSocket.last.receive(new ArrayBuffer(2))
    FakeSocket.last.receive('{"text":"a"}')
    assert.deepEqual(messages, [{ text: 'a' }])
    assert.deepEqual(
      errors.map((error) => [error.message, (error as ClientError).body]),
      [
        ['chat: a message of the server is not JSON text: it was left out', '{'],
        ['chat: a message of the server is not JSON text: it was left out', new Uint8Array(2)],
      ],
    )
    assert.equal(socket.state, 'open')
    socket.close()
  })
})

test('an error that nobody listens to is written to the console', async () => {
  await withClock(async () => {
    const written = mock.method(console, 'error', () => {})
    const socket = connect(client.chat, { params: { room: 'a' } }, { WebSocket: FakeSocket })
    await settled()
    // A loop goes on behind such a message.
    const loop = socket[Symbol.asyncIterator]()
    FakeSocket.last.open().receive('{')
    FakeSocket.last.receive('{"text":"a"}')
    assert.deepEqual(await loop.next(), { value: { text: 'a' }, done: false })
    assert.equal(written.mock.callCount(), 1)
    written.mock.restore()
    socket.close()
  })
})

test('a listener that throws stops no other, and one can be taken away', async (t) => {
  await withClock(async () => {
    const { socket, messages } = await open()
    FakeSocket.last.open()
    const thrown: unknown[] = []
    const listen = (error: unknown): void => void thrown.push(error)
    // The runner of the tests has listeners of its own, which take an error for that of a test.
    const others = process.listeners('uncaughtException')
    process.removeAllListeners('uncaughtException').on('uncaughtException', listen)
    t.after(() => {
      process.off('uncaughtException', listen)
      for (const each of others) process.on('uncaughtException', each)
    })
    const error = new Error('of a listener')
    const off = socket.on('message', () => {
      throw error
    })
    const after: unknown[] = []
    socket.on('message', (message) => void after.push(message))
    FakeSocket.last.receive('{"text":"a"}')
    off()
    FakeSocket.last.receive('{"text":"b"}')
    await settled()
    assert.equal(messages.length, 2)
    assert.equal(after.length, 2)
    assert.deepEqual(thrown, [error])
    socket.close()
  })
})
