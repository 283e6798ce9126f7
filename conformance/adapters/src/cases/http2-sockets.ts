/** WebSockets on streams of HTTP/2 (RFC 8441). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  constants,
  type IncomingHttpHeaders,
} from 'node:http2'
import { before, describe, test } from 'node:test'
import { TestAuthority } from '@volant/test-kit'
import type { App, ListenOptions } from 'volant'
import { eventually, type Kit, within } from '../kit.ts'
import { Opcode, Peer } from '../peer.ts'
import { Wire } from '../wire.ts'

export function http2Sockets(kit: Kit): void {
  for (const over of ['TLS', 'prior knowledge'] as const) {
    describe(`WebSockets over HTTP/2 by ${over}`, kit.needs('http2-sockets'), () => {
      let authority: TestAuthority
      let options: ListenOptions
      before(async () => {
        authority = await TestAuthority.make()
        const { cert, key } = authority.server(['one.example'])
        options = over === 'TLS' ? { tls: { cert, key } } : { http2: true }
      })

      const serve = async (app: App, run: (client: ClientHttp2Session) => Promise<void>): Promise<void> => {
        const { port } = await app.listen({ port: 0, host: '127.0.0.1', ...options })
        const scheme = over === 'TLS' ? 'https' : 'http'
        const client = connect(`${scheme}://127.0.0.1:${port}`, {
          ca: authority.ca,
          servername: 'one.example',
        })
        client.on('error', () => {})
        try {
          // A client may send an extended CONNECT only after it has read the setting (RFC 8441 §3).
          if (!client.remoteSettings?.enableConnectProtocol) await once(client, 'remoteSettings')
          await run(client)
        } finally {
          client.destroy()
          await app.close()
        }
      }

      test('text and bytes go in both directions, beside other requests', async () => {
        const app = kit.app()
        app.get('/', () => 'plain')
        app.ws('/echo/:name', {
          protocols: ['chat'],
          upgrade: (ctx) => `${ctx.params.name} ${ctx.httpVersion} ${ctx.method}`,
          open: (ws) => void ws.send(String(ws.data)),
          message: (ws, message) => void ws.send(message),
        })
        await serve(app, async (client) => {
          assert.equal(client.remoteSettings.enableConnectProtocol, true)
          const peer = await open(client, '/echo/a', { 'sec-websocket-protocol': 'other, chat' })
          assert.equal(peer.reply.status, 200)
          assert.equal(peer.reply.headers['sec-websocket-protocol'], 'chat')
          assert.equal(peer.reply.headers['sec-websocket-accept'], undefined)
          assert.equal(await peer.text(), 'a 2 GET')
          for (const size of [0, 1, 125, 126, 65_535, 65_536, 300_000]) {
            const text = 'a'.repeat(size)
            assert.equal(await peer.send(text).text(), text)
            const { opcode, payload } = await peer.send(Buffer.alloc(size, 0xff)).next()
            assert.equal(opcode, Opcode.binary)
            assert.equal(payload.length, size)
          }
          const other = await open(client, '/echo/b')
          assert.equal(await other.text(), 'b 2 GET')
          assert.equal(await body(client.request({ ':path': '/' })), 'plain')
          assert.equal(await other.send('still').text(), 'still')
          assert.deepEqual([app.stats().connections, app.stats().sockets], [1, 2])
        })
      })

      test('ctx.tls of its request is that of the connection, also once it is open', async () => {
        const app = kit.app()
        app.ws('/tls', {
          upgrade: (ctx) => ({ ctx }),
          message: (ws) => void ws.send(String(ws.data.ctx.tls?.version ?? null)),
        })
        await serve(app, async (client) => {
          const peer = await open(client, '/tls')
          assert.equal(await peer.send('which?').text(), over === 'TLS' ? 'TLSv1.3' : 'null')
        })
      })

      test('either side closes, and the connection goes on', async () => {
        const app = kit.app()
        const closes: [number, string][] = []
        app.ws('/', {
          message: (ws) => ws.close(4001, 'enough'),
          close: (_ws, code, reason) => void closes.push([code, reason]),
        })
        await serve(app, async (client) => {
          const one = await open(client, '/')
          assert.deepEqual(await one.close(4000, 'done').closing(), [4000, 'done'])
          await one.wire.ended()
          const other = await open(client, '/')
          assert.deepEqual(await other.send('x').closed(), [4001, 'enough'])
          const reset = client.request(asking('/'))
          await once(reset, 'response')
          reset.on('error', () => {}).close(constants.NGHTTP2_CANCEL)
          await eventually(() => closes.length === 3, 'the hooks')
          assert.deepEqual(closes, [
            [4000, 'done'],
            [4001, 'enough'],
            [1006, ''],
          ])
          assert.equal(app.stats().connections, 1)
          const last = await open(client, '/')
          client.destroy()
          await eventually(() => closes.length === 4, 'the hook after the connection')
          assert.equal(closes[3]?.[0], 1006)
          last.wire.close()
        })
      })

      test('what is published reaches the streams of every connection', async () => {
        const app = kit.app()
        app.ws('/', {
          open: (ws) => ws.subscribe('news'),
          message: (ws, text) => void ws.publish('news', text),
        })
        await serve(app, async (client) => {
          const peers = await Promise.all(Array.from({ length: 20 }, () => open(client, '/')))
          await eventually(() => app.stats().sockets === 20, 'the sockets')
          app.publish('news', 'one')
          for (const peer of peers) assert.equal(await peer.text(), 'one')
          peers[0]?.send('two')
          for (const peer of peers.slice(1)) assert.equal(await peer.text(), 'two')
        })
      })

      test('what a handshake has wrong is refused as over HTTP/1.1', async () => {
        const app = kit.app()
        app.get('/page', () => 'page')
        app.ws('/', {
          upgrade(ctx) {
            if (ctx.headers.authorization === undefined) ctx.reply(401)
          },
        })
        await serve(app, async (client) => {
          const status = async (path: string, headers: Record<string, string> = {}) => {
            const stream = client.request({ ...asking(path), ...headers })
            const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders]
            stream.on('error', () => {}).close()
            return fields[':status']
          }
          const authorization = 'Bearer x'
          assert.equal(await status('/page'), 426)
          assert.equal(await status('/none'), 426)
          assert.equal(await status('/'), 401)
          assert.equal(await status('/', { authorization, 'sec-websocket-version': '12' }), 426)
          assert.equal(await status('/', { authorization, origin: 'https://other.example' }), 403)
          assert.equal(await status('/', { authorization, ':protocol': 'other' }), 501)
          assert.equal(await status('/', { authorization }), 200)
          assert.equal(await body(client.request({ ':path': '/page' })), 'page')
        })
      })

      test('a close of the server closes its sockets with 1001', async () => {
        const app = kit.app()
        app.ws('/', {})
        await serve(app, async (client) => {
          const peer = await open(client, '/')
          const closed = app.close()
          const [code] = await peer.closed()
          assert.equal(code, 1001)
          await within(closed, 'the close')
        })
      })
    })
  }
}

function asking(path: string): Record<string, string> {
  return {
    ':method': 'CONNECT',
    ':protocol': 'websocket',
    ':path': path,
    'sec-websocket-version': '13',
  }
}

async function open(
  client: ClientHttp2Session,
  path: string,
  headers: Record<string, string> = {},
): Promise<Peer> {
  const stream = client.request({ ...asking(path), ...headers }, { endStream: false })
  const wire = Wire.over(stream)
  const [fields] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const named = Object.entries(fields).map(([name, value]): [string, string] => [name, String(value)])
  return Peer.over(wire, {
    version: '2',
    status: Number(fields[':status']),
    reason: '',
    headers: Object.fromEntries(named),
    raw: named,
    body: Buffer.alloc(0),
    trailers: [],
    text: '',
    json: () => null,
  })
}

async function body(stream: ClientHttp2Stream): Promise<string> {
  let text = ''
  for await (const chunk of stream) text += String(chunk)
  return text
}
