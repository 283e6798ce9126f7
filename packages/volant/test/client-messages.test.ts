/** What a socket of the client sends and receives, what waits meanwhile, and what it says is wrong. */
import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import {
  ClientError,
  type ClientSocket,
  connect,
  type ConnectOptions,
  createClient,
} from '../src/client/index.ts'
import {
  type Api,
  client,
  FakeSocket,
  type Message,
  open,
  routes,
  settled,
  watch,
  withClock,
} from './fake-socket.ts'

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

test('the input and the protocols can be made for each attempt', async () => {
  await withClock(async (pass) => {
    let attempts = 0
    const socket = connect(client.raw, async () => ({ query: { token: `t${++attempts}` } }), {
      WebSocket: FakeSocket,
      protocols: () => ['chat', `bearer.${attempts}`],
    })
    await settled()
    assert.equal(FakeSocket.last.url, 'wss://api.test/v1/raw?token=t1')
    assert.deepEqual(FakeSocket.last.init, ['chat', 'bearer.1'])
    FakeSocket.last.open().end()
    await pass(250)
    assert.equal(FakeSocket.last.url, 'wss://api.test/v1/raw?token=t2')
    assert.deepEqual(FakeSocket.last.init, ['chat', 'bearer.2'])
    socket.close()
  })
})

test('a mistake ends the socket at once', async () => {
  const mistakes: [(options: ConnectOptions<any>) => ClientSocket<any, any>, RegExp][] = [
    [(options) => connect(client.chat, {} as never, options), /^the parameter room is missing$/],
    [(options) => connect((client as any).none, {}, options), /^there is no operation none/],
    [
      (options) => connect((client as any).get, {}, options),
      /^get is no WebSocket: call it, client\.get\(…\)$/,
    ],
  ]
  const client = createClient<Api>('https://api.test', { routes: { ...routes, get: ['GET', '/get'] } })
  for (const [begin, message] of mistakes) {
    await withClock(async () => {
      const socket = begin({ WebSocket: FakeSocket })
      const { errors } = watch(socket)
      await settled()
      assert.equal(socket.state, 'closed')
      assert.equal(errors.length, 1)
      assert.match(errors[0]?.message ?? '', message)
      assert.equal(FakeSocket.made.length, 0)
    })
  }
})

test('connect throws for what is no operation, and for options out of their bounds', () => {
  const options = (given: ConnectOptions<Message>) => () =>
    connect(client.chat, { params: { room: 'a' } }, { WebSocket: FakeSocket, ...given })
  for (const value of [undefined, {}, () => {}])
    assert.throws(() => connect(value as never), { message: /^connect takes a WebSocket of a client/ })
  for (const given of [
    { connectTimeout: 0 },
    { maxQueuedBytes: -1 },
    { maxQueuedMessages: Number.NaN },
    { heartbeat: { interval: 0 } },
    { reconnect: { delay: -1 } },
    { reconnect: { maxDelay: 2 ** 31 } },
    { reconnect: { retries: -1 } },
    { reconnect: { stableAfter: -1 } },
  ])
    assert.throws(options(given), { name: 'TypeError', message: / cannot be / })
})

test('headers go where the platform sends any', async () => {
  await withClock(async () => {
    const withKey = createClient<Api>('https://api.test', { routes, headers: () => ({ 'x-key': 'k' }) })
    const socket = connect(
      withKey.raw,
      {},
      { WebSocket: FakeSocket, protocols: ['p'], headers: { 'x-own': 1 } },
    )
    await settled()
    assert.deepEqual(FakeSocket.last.init, { headers: { 'x-key': 'k', 'x-own': '1' }, protocols: ['p'] })
    socket.close()
  })
})

test('a browser connects without the headers of the client, and not without those of the socket', async () => {
  class BrowserSocket extends FakeSocket {
    constructor(url: string, protocols?: unknown) {
      if (!Array.isArray(protocols))
        throw new DOMException('[object Object] is no subprotocol', 'SyntaxError')
      super(url, protocols)
    }
  }
  await withClock(async () => {
    const withKey = createClient<Api>('https://api.test', { routes, headers: { 'x-key': 'k' } })
    const without = connect(withKey.raw, {}, { WebSocket: BrowserSocket, protocols: ['p'] })
    await settled()
    assert.deepEqual(FakeSocket.last.init, ['p'])
    without.close()
    const own = connect(withKey.raw, {}, { WebSocket: BrowserSocket, headers: { 'x-own': '1' } })
    const { errors } = watch(own)
    await settled()
    assert.match(errors[0]?.message ?? '', /^raw cannot be connected: browsers send no headers/)
    assert.equal(FakeSocket.made.length, 1)
  })
})

test(
  'without a WebSocket of the platform connect says what to do',
  { skip: 'WebSocket' in globalThis },
  () => {
    assert.throws(() => connect(client.raw), { message: /^this platform has no WebSocket .* install ws/ })
  },
)
