/** Sockets of the client against a real server, by each class of WebSockets that the platform has. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import { afterEach, describe, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { type WebSocket as Peer, WebSocket as WsSocket, WebSocketServer } from 'ws'
import {
  type ClientSocket,
  connect,
  createClient,
  type Socket,
  type SocketClose,
  type WebSocketClass,
} from '../../../src/client/index.ts'
import { deferred, eventually } from '../../kit.ts'

interface Message {
  text: string
}

type Bytes = Uint8Array<ArrayBuffer>

interface Api {
  chat: Socket<{ params: { room: string }; headers?: Record<string, string> }, Message, Message>
  raw: Socket<{ query?: { token?: string } }, string | Bytes, string | Bytes>
}

const routes = { chat: ['WS', '/chat/:room', ['in', 'out']], raw: ['WS', '/raw'] } as const

/** What the platform itself has: Node.js from 22 on. */
const own = (globalThis as { WebSocket?: WebSocketClass }).WebSocket
const classes: Record<string, WebSocketClass | undefined> = { ws: WsSocket, 'the global class': own }

/** A server that echoes; its sockets are `peers`, the requests of their handshakes `requests`. */
class EchoServer {
  readonly peers: Peer[] = []
  readonly requests: IncomingMessage[] = []
  refuse: number | undefined
  port = 0
  #server: Server | undefined

  async start(): Promise<this> {
    const server = createServer()
    const sockets = new WebSocketServer({
      noServer: true,
      handleProtocols: (protocols) => [...protocols].find((each) => each === 'chat.v1') ?? false,
    })
    server.on('upgrade', (request, socket, head) => {
      this.requests.push(request)
      if (this.refuse !== undefined) {
        socket.end(`HTTP/1.1 ${this.refuse} Refused\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`)
        return
      }
      sockets.handleUpgrade(request, socket, head, (peer) => {
        this.peers.push(peer)
        peer.on('message', (data, isBinary) => peer.send(data, { binary: isBinary }))
      })
    })
    if (this.port === 0) this.port = await freePort()
    server.listen(this.port, '127.0.0.1')
    await once(server, 'listening')
    this.#server = server
    return this
  }

  /** Closes its sockets with `code`, or resets their connections, and listens no more. */
  async stop(code?: number): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    this.#server = undefined
    const gone = once(server, 'close')
    server.close()
    for (const peer of this.peers.splice(0)) {
      if (code === undefined) peer.terminate()
      else peer.close(code)
    }
    await gone
  }
}

for (const [name, WebSocket] of Object.entries(classes)) {
  const skip = WebSocket === undefined && 'Node.js has it from 22 on'
  describe(name, { skip }, () => {
    const server = new EchoServer()
    afterEach(() => server.stop())
    const begin = async (reconnect = {}) => {
      await server.start()
      server.requests.length = 0
      server.refuse = undefined
      const client = createClient<Api>(`http://127.0.0.1:${server.port}`, { routes })
      return { client, options: { WebSocket, reconnect: { delay: 1, maxDelay: 20, ...reconnect } } }
    }

    test('messages go and come as the route says', async () => {
      const { client, options } = await begin()
      const chat = connect(
        client.chat,
        { params: { room: 'a b' } },
        { ...options, protocols: ['v0', 'chat.v1'] },
      )
      chat.send({ text: 'hällo' })
      const texts: string[] = []
      for await (const { text } of chat) {
        texts.push(text)
        if (texts.length === 2) break
        chat.send({ text: 'again' })
      }
      assert.deepEqual(texts, ['hällo', 'again'])
      assert.equal(chat.protocol, 'chat.v1')
      assert.equal(server.requests[0]?.url, '/chat/a%20b')
      chat.close(4000, 'bye')
      assert.deepEqual(await chat.closed, { code: 4000, reason: 'bye', opened: true, final: true })

      const raw = connect(client.raw, { query: { token: 't' } }, options)
      raw.send('text')
      raw.send(new Uint8Array([0, 255]))
      const messages: unknown[] = []
      for await (const message of raw) if (messages.push(message) === 2) break
      assert.deepEqual(messages, ['text', new Uint8Array([0, 255])])
      assert.equal(server.requests[1]?.url, '/raw?token=t')
      raw.close()
      assert.equal((await raw.closed).code, 1000)
    })

    test('headers and cookies are sent', async () => {
      const { options } = await begin()
      const headers = { authorization: 'Bearer t' }
      const client = createClient<Api>(`http://127.0.0.1:${server.port}`, { routes, headers })
      const input = { params: { room: 'a' }, headers: { 'x-own': 'o' }, cookies: { session: 's' } }
      const chat = connect(client.chat, input, { ...options, protocols: ['chat.v1'] })
      await opened(chat)
      const { authorization, 'x-own': own, cookie } = server.requests[0]?.headers ?? {}
      assert.deepEqual([authorization, own, cookie], ['Bearer t', 'o', 'session=s'])
      assert.equal(chat.protocol, 'chat.v1')
      chat.close()
      await chat.closed
    })

    for (const [how, code] of Object.entries({ 'goes away': 1001, 'is killed': undefined })) {
      test(`a server that ${how} and comes back is connected again`, async () => {
        const { client, options } = await begin()
        const chat = connect(client.chat, { params: { room: 'a' } }, options)
        const opens: boolean[] = []
        const texts: string[] = []
        const closes: SocketClose[] = []
        const errors: Error[] = []
        chat.on('open', ({ reconnected }) => void opens.push(reconnected))
        chat.on('message', ({ text }) => void texts.push(text))
        chat.on('close', (end) => void closes.push(end))
        chat.on('error', (error) => void errors.push(error))
        chat.send({ text: 'before' })
        await eventually(() => texts.length === 1, 'a message comes back')
        await server.stop(code)
        await eventually(
          () => closes.some(({ opened }) => !opened),
          'an attempt fails while the server is away',
        )
        assert.equal(closes[0]?.code, code ?? 1006)
        assert.equal(chat.send({ text: 'meanwhile' }), true)
        await server.start()
        await eventually(() => texts.length === 2, 'the message that waited comes back')
        assert.deepEqual(texts, ['before', 'meanwhile'])
        assert.deepEqual(opens, [false, true])
        assert.deepEqual(errors, [])
        chat.close()
        assert.equal((await chat.closed).code, 1000)
        assert.equal(chat.state, 'closed')
      })
    }

    test('a refused socket ends with an error', async () => {
      const { client, options } = await begin({ retries: 2 })
      server.refuse = 403
      const chat = connect(client.chat, { params: { room: 'a' } }, options)
      const failed = deferred<Error>()
      chat.on('error', failed.resolve)
      const error = await failed.promise
      assert.match(error.message, /^chat: (there is )?no connection to ws:\/\/127\.0\.0\.1:\d+\/chat\/a/)
      assert.equal((await chat.closed).opened, false)
      // The class of the platform does not tell the status, so that the client tries as often as it may.
      assert.equal(server.requests.length, name === 'ws' ? 1 : 3)
    })

    test('a server that closes on purpose ends the loop', async () => {
      const { client, options } = await begin()
      const chat = connect(client.chat, { params: { room: 'a' } }, options)
      await opened(chat)
      await eventually(() => server.peers.length === 1, 'the server has the socket')
      const loop = chat[Symbol.asyncIterator]()
      server.peers[0]?.send('{"text":"last"}')
      server.peers[0]?.close(4001, 'enough')
      const texts: string[] = []
      for await (const { text } of loop) texts.push(text)
      assert.deepEqual(texts, ['last'])
      assert.deepEqual(await chat.closed, { code: 4001, reason: 'enough', opened: true, final: true })
      assert.equal(server.requests.length, 1)
    })

    test('a signal ends the connection', async () => {
      const { client, options } = await begin()
      const controller = new AbortController()
      const chat = connect(client.chat, { params: { room: 'a' } }, { ...options, signal: controller.signal })
      await opened(chat)
      await eventually(() => server.peers.length === 1, 'the server has the socket')
      const gone = once(server.peers[0] as Peer, 'close')
      controller.abort()
      await chat.closed
      await gone
    })
  })
}

async function opened(socket: ClientSocket<any, any>): Promise<void> {
  await eventually(() => socket.state === 'open', 'the socket is open')
}
