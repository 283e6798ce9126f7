/** What a socket of the client takes for its attempts: input, protocols, headers, a class. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientSocket, connect, type ConnectOptions, createClient } from '../../../src/client/index.ts'
import {
  type Api,
  client,
  FakeSocket,
  type Message,
  routes,
  settled,
  watch,
  withClock,
} from './fake-socket.ts'

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
