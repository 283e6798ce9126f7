/** Socket.IO on the adapter node-http, through `app.nodeServer`, with its own client. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connect } from 'node:tls'
import { TestAuthority } from '@volant/test-kit'
import { Server } from 'socket.io'
import { io, type ManagerOptions, type Socket, type SocketOptions } from 'socket.io-client'
import { createApp } from 'volant'
import WebSocket from 'ws'
import { eventually, Kit, type Live, request, within } from '../src/kit.ts'

const kit = new Kit('node-http')

interface Parts {
  live: Live
  server: Server
  connect: (options?: Partial<ManagerOptions & SocketOptions>) => Socket
}

async function serve(
  run: (parts: Parts) => Promise<void>,
  options: Parameters<Kit['app']>[0] = {},
): Promise<void> {
  const app = kit.app(options)
  app.get('/hello', () => 'hello')
  app.ws('/echo', { message: (ws, message) => void ws.send(message) })
  const server = new Server(app.nodeServer, { pingInterval: 1_000 })
  server.on('connection', (socket) => {
    socket.on('echo', (value, done) => done(value))
    socket.on('join', (room: string, done: () => void) => {
      void socket.join(room)
      done()
    })
    socket.on('say', (room: string, text: string) => socket.to(room).emit('said', text))
  })
  const clients: Socket[] = []
  await kit.serve(app, async (live) => {
    const connect: Parts['connect'] = (more = {}) => {
      const client = io(live.address.url, { forceNew: true, reconnectionDelay: 10, ...more })
      clients.push(client)
      return client
    }
    try {
      await run({ live, server, connect })
    } finally {
      for (const client of clients) client.disconnect()
    }
  })
}

describe('Socket.IO on node-http', () => {
  for (const transports of [['polling'], ['websocket'], ['polling', 'websocket']]) {
    test(`events and rooms by ${transports.join(', then ')}`, async () => {
      await serve(async ({ connect }) => {
        const [ada, bob, cy] = [0, 1, 2].map(() => connect({ transports })) as [Socket, Socket, Socket]
        const said: string[] = []
        for (const [name, client] of Object.entries({ ada, bob, cy })) {
          client.on('said', (text: string) => said.push(`${name}: ${text}`))
        }
        assert.deepEqual(await within(ada.emitWithAck('echo', { bytes: Buffer.from([1, 2]) }), 'the echo'), {
          bytes: Buffer.from([1, 2]),
        })
        for (const client of [ada, bob]) await within(client.emitWithAck('join', 'room'), 'to join')
        ada.emit('say', 'room', 'hello')
        await eventually(() => said.length > 0, 'the message')
        await within(cy.emitWithAck('echo', 1), 'the echo')
        assert.deepEqual(said, ['bob: hello'])
        const expected = transports.at(-1)
        await eventually(() => ada.io.engine.transport.name === expected, `the transport ${expected}`)
      })
    })
  }

  test('a client connects again when its connection is lost', async () => {
    await serve(async ({ server, connect }) => {
      const client = connect({ transports: ['websocket'] })
      await eventually(() => client.connected, 'the connection')
      const before = client.id
      for (const [, { conn }] of server.sockets.sockets) conn.transport.close()
      await eventually(() => client.connected && client.id !== before, 'the next connection')
      assert.equal(await within(client.emitWithAck('echo', 2), 'the echo'), 2)
    })
  })

  test('the app serves its own routes and WebSockets beside it', async () => {
    await serve(async ({ live, connect }) => {
      const client = connect()
      await eventually(() => client.connected, 'the connection')
      assert.equal((await live.ask('/hello')).text, 'hello')
      assert.equal((await live.ask('/none')).status, 404)
      assert.equal((await live.ask('/socket.io/socket.io.js')).status, 200)
      const socket = new WebSocket(`${live.address.url.replace('http', 'ws')}/echo`)
      const echo = new Promise<string>((resolve, reject) => {
        socket.on('open', () => socket.send('a'))
        socket.on('message', (data) => resolve(String(data)))
        socket.on('error', reject)
      })
      assert.equal(await within(echo, 'the echo'), 'a')
      socket.close()
    })
  })

  test('an upgrade that is nobody’s is still refused', async () => {
    const app = kit.app()
    app.ws('/echo', {})
    assert.equal(typeof app.nodeServer.on, 'function')
    await kit.serve(app, async (live) => {
      const wire = await live.connect()
      wire.send(
        request('GET', '/nowhere', {
          connection: 'Upgrade',
          upgrade: 'websocket',
          'sec-websocket-version': '13',
          'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
        }),
      )
      assert.equal((await wire.reply()).status, 426)
    })
  })

  test('a poll that waits, and a WebSocket, outlast keepAliveTimeout', async () => {
    await serve(
      async ({ connect }) => {
        for (const transports of [['polling'], ['websocket']]) {
          const client = connect({ transports, reconnection: false })
          const lost: string[] = []
          client.on('disconnect', (reason) => lost.push(reason))
          await eventually(() => client.connected, 'the connection')
          let pings = 0
          client.io.on('ping', () => pings++)
          await eventually(() => pings === 3, 'three pings')
          assert.deepEqual(lost, [])
        }
      },
      { limits: { keepAliveTimeout: 500 } },
    )
  })

  test('the close of the app closes its connections', async () => {
    for (const transports of [['polling'], ['websocket']]) {
      const lost: string[] = []
      await serve(async ({ live, connect }) => {
        const client = connect({ transports, reconnection: false })
        client.on('disconnect', (reason) => lost.push(reason))
        await eventually(() => client.connected, 'the connection')
        await within(live.app.close(), 'the close')
        assert.equal(live.app.stats().connections, 0)
        await eventually(() => lost.length > 0, 'the end')
      })
    }
  })
})

test('an app with app.nodeServer speaks HTTP/1.1 alone, also over TLS', async () => {
  const { cert, key } = (await TestAuthority.make()).server(['127.0.0.1'])
  const app = kit.app()
  app.get('/hello', () => 'hello')
  void new Server(app.nodeServer)
  const listening = app.listen({ port: 0, host: '127.0.0.1', tls: { cert, key }, http2: true })
  await assert.rejects(listening, {
    code: 'E_BAD_OPTION',
    message: /^http2 takes false beside app\.nodeServer/,
  })
  const address = await app.listen({ port: 0, host: '127.0.0.1', tls: { cert, key } })
  const client = io(address.url, { transports: ['polling'], rejectUnauthorized: false })
  const browser = connect({
    port: address.port as number,
    host: '127.0.0.1',
    rejectUnauthorized: false,
    ALPNProtocols: ['h2', 'http/1.1'],
  })
  try {
    await eventually(() => client.connected, 'the connection of Socket.IO')
    await eventually(() => browser.alpnProtocol !== null, 'the handshake')
    assert.equal(browser.alpnProtocol, 'http/1.1')
  } finally {
    client.disconnect()
    browser.destroy()
    await app.close()
  }
})

test('app.nodeServer is refused where there is none', () => {
  for (const type of ['native', 'uwebsockets'] as const) {
    let app: ReturnType<typeof createApp>
    try {
      app = createApp({ adapter: { type } })
    } catch {
      continue
    }
    assert.throws(() => app.nodeServer, { code: 'E_ADAPTER', message: /adapter: \{ type: 'node-http' \}/ })
  }
})

test('app.nodeServer is refused once the app listens', async () => {
  const app = kit.app()
  await kit.serve(app, async () => {
    assert.throws(() => app.nodeServer, { code: 'E_STARTED', message: /before app\.listen\(\)/ })
  })
})

test('app.nodeServer does not listen by itself, and its close does not close the app', async () => {
  const app = kit.app()
  app.get('/', () => 'here')
  const server = app.nodeServer
  assert.throws(() => server.listen(0), { code: 'E_UNSUPPORTED' })
  await kit.serve(app, async (live) => {
    await new Promise<void>((resolve, reject) => {
      server.close((error) => (error === undefined ? resolve() : reject(error)))
    })
    assert.equal((await live.ask('/')).text, 'here')
    assert.equal((server.address() as { port: number }).port, live.address.port)
  })
})
