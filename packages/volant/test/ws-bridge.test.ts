/** The server and the WebSocket of `ws`, as `createSocketServer` imitates them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { deferred, within } from '@volant/test-kit'
import { createApp } from 'volant'
import { createSocketServer } from 'volant/ws'
import WebSocket, { WebSocketServer } from 'ws'

interface Parts {
  /** The connection as a library gets it, and its client. */
  socket: WebSocket
  client: WebSocket
  request: { url?: string; headers: Record<string, unknown> }
  close: (done?: (error?: Error) => void) => void
  url: string
}

/** Runs `run` with a server of `ws` itself, and with ours: what a library sees of both is the same. */
function onBoth(name: string, run: (parts: Parts) => Promise<void>): void {
  test(`${name}: ws`, async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    await runWith(server, `ws://127.0.0.1:${port}/x?y=z`, run)
    for (const client of server.clients) client.terminate()
    server.close()
  })
  test(`${name}: volant/ws`, async () => {
    const app = createApp({ adapter: { type: 'node-http' }, signals: false, limits: { drainIdle: 0 } })
    const server = createSocketServer()
    app.ws('/x', server.hooks)
    const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
    await runWith(server, `${url.replace('http', 'ws')}/x?y=z`, run)
    for (const client of server.clients) client.terminate()
    await app.close()
  })
}

async function runWith(
  server: WebSocketServer,
  url: string,
  run: (parts: Parts) => Promise<void>,
): Promise<void> {
  const connected = once(server, 'connection')
  const client = new WebSocket(url)
  const [socket, request] = (await within(connected, 'the connection')) as [WebSocket, Parts['request']]
  if (client.readyState !== WebSocket.OPEN) await once(client, 'open')
  await run({ socket, client, request, close: (done) => server.close(done), url })
  client.terminate()
}

onBoth('the connection, its request and its states', async ({ socket, client, request }) => {
  assert.equal(request.url, '/x?y=z')
  assert.equal(typeof request.headers['host'], 'string')
  assert.deepEqual([socket.readyState, socket.OPEN, socket.CLOSING, socket.CLOSED], [1, 1, 2, 3])
  assert.deepEqual([socket.protocol, socket.bufferedAmount], ['', 0])
  const closed = once(socket, 'close')
  client.close(4000, 'bye')
  const [code, reason] = (await within(closed, 'the close')) as [number, Buffer]
  assert.deepEqual([code, reason.toString(), socket.readyState], [4000, 'bye', 3])
})

onBoth('messages are buffers, and say whether they are binary', async ({ socket, client }) => {
  for (const data of ['text', Buffer.from('bytes'), '']) {
    const received = once(socket, 'message')
    client.send(data)
    const [message, binary] = (await within(received, 'the message')) as [Buffer, boolean]
    assert.ok(Buffer.isBuffer(message))
    assert.deepEqual([message.toString(), binary], [String(data), typeof data !== 'string'])
  }
})

onBoth('what send takes', async ({ socket, client }) => {
  const bytes = Uint8Array.from([0, 65, 66, 0])
  const sent: [Parameters<WebSocket['send']>[0], { binary?: boolean }, string, boolean][] = [
    ['text', {}, 'text', false],
    [Buffer.from('AB'), {}, 'AB', true],
    [bytes.subarray(1, 3), {}, 'AB', true],
    [bytes.slice(1, 3).buffer, {}, 'AB', true],
    [new DataView(bytes.buffer, 1, 2), {}, 'AB', true],
    [Buffer.from('AB'), { binary: false }, 'AB', false],
    ['AB', { binary: true }, 'AB', true],
    [12, {}, '12', false],
  ]
  for (const [data, options, text, binary] of sent) {
    const received = once(client, 'message')
    const done = deferred<Error | undefined>()
    socket.send(data, options, (error) => done.resolve(error))
    const [message, isBinary] = (await within(received, 'the message')) as [Buffer, boolean]
    assert.deepEqual([message.toString(), isBinary], [text, binary])
    assert.ok(!(await within(done.promise, 'the callback')))
  }
})

onBoth('a message behind the close is told to its callback', async ({ socket, client }) => {
  const closed = once(client, 'close')
  socket.close(4001, 'enough')
  const done = deferred<Error | undefined>()
  socket.send('late', (error) => done.resolve(error))
  assert.match(String(await within(done.promise, 'the callback')), /not open/)
  const [code, reason] = (await within(closed, 'the close')) as [number, Buffer]
  assert.deepEqual([code, reason.toString()], [4001, 'enough'])
})

onBoth('a ping is followed by a pong', async ({ socket }) => {
  const pong = once(socket, 'pong')
  socket.ping()
  await within(pong, 'the pong')
})

onBoth('a server that is closed waits for its clients', async ({ socket, client, close, url }) => {
  const done = deferred<Error | undefined>()
  close((error) => done.resolve(error))
  const other = new WebSocket(url)
  await within(once(other, 'error'), 'the refusal')
  assert.equal(socket.readyState, 1)
  client.close()
  assert.equal(await within(done.promise, 'the end'), undefined)
})

test('what ws can and app.ws cannot is refused', async () => {
  const app = createApp({ adapter: { type: 'node-http' }, signals: false, limits: { drainIdle: 0 } })
  const server = createSocketServer()
  app.ws('/x', server.hooks)
  const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
  await runWith(server, `${url.replace('http', 'ws')}/x`, async ({ socket }) => {
    assert.throws(() => socket.send('a', { fin: false }), {
      code: 'E_UNSUPPORTED',
      message: /whole messages/,
    })
    assert.throws(() => socket.send(new Blob(['a']) as never), {
      code: 'E_UNSUPPORTED',
      message: /arrayBuffer\(\)/,
    })
    assert.throws(() => socket.close(1006), { code: 'E_SOCKET_CLOSE' })
  })
  await app.close()
})

test('a server that is closed refuses with 503, which is no error of the app', async () => {
  const reports: unknown[] = []
  const app = createApp({
    adapter: { type: 'node-http' },
    signals: false,
    limits: { drainIdle: 0 },
    report: (error) => void reports.push(error),
  })
  const server = createSocketServer()
  app.ws('/x', server.hooks)
  const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
  server.close()
  const client = new WebSocket(`${url.replace('http', 'ws')}/x`)
  const [error] = (await within(once(client, 'error'), 'the refusal')) as [Error]
  assert.match(error.message, /503/)
  await app.close()
  assert.deepEqual(reports, [])
})

test('a message for which there is no room calls back with an error, and one callback that throws keeps no other from it', async () => {
  const reports: unknown[] = []
  const app = createApp({
    adapter: { type: 'node-http' },
    signals: false,
    limits: { drainIdle: 0 },
    report: (error) => void reports.push(error),
  })
  const server = createSocketServer()
  app.ws('/x', { ...server.hooks, maxSocketBuffer: 1_000_000 })
  const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
  await runWith(server, `${url.replace('http', 'ws')}/x`, async ({ socket, client }) => {
    client.pause()
    const closed = once(socket, 'close')
    const called: (string | undefined)[] = []
    let sent = 0
    let isOver = false
    const wrong = new Error('a callback throws')
    while (socket.readyState === WebSocket.OPEN) {
      socket.send(Buffer.alloc(300_000), (error) => {
        called.push(error?.message)
        if (error !== undefined && isOver && reports.length === 0) throw wrong
      })
      sent += 1
      // What the system takes is gone by then, and its callback has run.
      await new Promise((resolve) => setImmediate(resolve))
    }
    isOver = true
    client.terminate()
    const [code] = (await within(closed, 'the close')) as [number]
    assert.equal(code, 1013)
    assert.equal(called.length, sent)
    assert.equal(called[0], undefined)
    assert.match(called.at(-1) ?? '', /closed/)
    assert.deepEqual(reports, [wrong])
  })
  await app.close()
})
