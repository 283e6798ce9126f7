import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import { fromConnect } from 'volant/connect'
import { type Kit, request } from '../../kit.ts'
import { handshake, Peer } from '../../peer.ts'
import { refused, codeOf } from './refused.ts'

/** The fields of a handshake, and what is none. */
export function handshakes(kit: Kit): void {
  describe('the upgrade to a WebSocket', () => {
    for (const method of ['GET', 'HEAD']) {
      test(`a plain ${method} of a path that has a WebSocket alone is 426`, async () => {
        const app = kit.app()
        app.ws('/chat/:room', {})
        app.post('/chat/:room', () => 'posted')
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/chat/a', { method })
          assert.deepEqual([reply.status, reply.headers['upgrade']], [426, 'websocket'])
          assert.match(reply.headers['connection'] ?? '', /upgrade/i)
          assert.equal(reply.headers['sec-websocket-version'], '13')
          assert.equal((await live.ask('/nowhere', { method })).status, 404)
          assert.equal((await live.ask('/chat/a', { method: 'POST' })).text, 'posted')
        })
      })
    }

    const faults: [string, Record<string, string | undefined>, number, string][] = [
      ['another version', { 'sec-websocket-version': '8' }, 426, 'E_WEBSOCKET_VERSION'],
      ['no version', { 'sec-websocket-version': undefined }, 426, 'E_WEBSOCKET_VERSION'],
      ['no key', { 'sec-websocket-key': undefined }, 400, 'E_WEBSOCKET_KEY'],
      ['a key of 15 bytes', { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAA' }, 400, 'E_WEBSOCKET_KEY'],
      [
        'a key with bits that are lost',
        { 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZR==' },
        400,
        'E_WEBSOCKET_KEY',
      ],
      ['malformed subprotocols', { 'sec-websocket-protocol': 'a,,b' }, 400, 'E_WEBSOCKET_HANDSHAKE'],
    ]

    for (const [name, headers, status, code] of faults) {
      test(`${name} is ${status}`, async () => {
        const app = kit.app()
        let asked = 0
        app.ws('/a', { upgrade: () => void asked++ })
        const reply = await refused(kit, app, '/a', headers)
        assert.deepEqual([reply.status, codeOf(reply)], [status, code])
        if (status === 426) {
          assert.equal(reply.headers['sec-websocket-version'], '13')
          assert.equal(reply.headers['upgrade'], 'websocket')
        }
        assert.equal(asked, 0)
      })
    }

    test('a request without Host is 400', async () => {
      const app = kit.app()
      let asked = 0
      app.ws('/a', { upgrade: () => void asked++ })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/a', handshake).toString('latin1').replace('host: localhost\r\n', ''))
        assert.equal((await wire.reply()).status, 400)
      })
      assert.equal(asked, 0)
    })

    test('a request with a body is 400', async () => {
      const app = kit.app()
      app.ws('/a', {})
      await kit.serve(app, async (live) => {
        for (const headers of [{ 'content-length': '5' }, { 'transfer-encoding': 'chunked' }] as const) {
          const wire = await live.connect()
          wire.send(request('GET', '/a', { ...handshake, ...headers }))
          wire.send('content-length' in headers ? 'hello' : '5\r\nhello\r\n0\r\n\r\n')
          const reply = await wire.reply()
          assert.deepEqual([reply.status, codeOf(reply)], [400, 'E_WEBSOCKET_HANDSHAKE'])
        }
      })
    })

    test('the first subprotocol of the client that is listed is chosen', async () => {
      const app = kit.app()
      app.ws('/a', { protocols: ['v2', 'v1'], open: (ws) => ws.send(`[${ws.protocol}]`) })
      await kit.serve(app, async (live) => {
        for (const [asked, chosen] of [
          ['v1, v2', 'v1'],
          ['v3 ,v2', 'v2'],
          ['v3', undefined],
          [undefined, undefined],
        ]) {
          const peer = await Peer.open(
            live,
            '/a',
            asked === undefined ? {} : { 'sec-websocket-protocol': asked },
          )
          assert.equal(peer.reply.headers['sec-websocket-protocol'], chosen)
          assert.equal(await peer.text(), `[${chosen ?? ''}]`)
        }
      })
    })

    test('the fields of the handshake are set by the server alone', async () => {
      const app = kit.app()
      const names = ['sec-websocket-accept', 'sec-websocket-extensions', 'sec-websocket-protocol']
      const all = [...names, 'Sec-WebSocket-Protocol', 'upgrade', 'connection']
      const codes: unknown[] = []
      const refuses = (set: (name: string) => unknown): void => {
        for (const name of all) {
          try {
            set(name)
            codes.push(name)
          } catch (error) {
            codes.push((error as VolantError).code)
          }
        }
      }
      app.use(
        fromConnect((_, res, next) => {
          for (const name of all) res.setHeader(name, 'wrong')
          next()
        }),
      )
      app.onSend((_, reply) => {
        refuses((name) => reply.headers.set(name, 'wrong'))
        refuses((name) => reply.headers.append(name, 'wrong'))
      })
      app.ws('/a', {
        protocols: ['v1'],
        upgrade(ctx) {
          refuses((name) => ctx.header(name, 'wrong'))
          refuses((name) => ctx.append(name, 'wrong'))
        },
        open: (ws) => ws.send(ws.protocol),
      })
      await kit.serve(app, async (live) => {
        const peer = await Peer.open(live, '/a', { 'sec-websocket-protocol': 'v1' })
        const sent = all.map((name) => name.toLowerCase()).slice(1)
        const found = peer.reply.raw.filter(([name]) => sent.includes(name.toLowerCase()))
        assert.deepEqual(found.map(([name, value]) => `${name}: ${value}`.toLowerCase()).toSorted(), [
          'connection: upgrade',
          'sec-websocket-protocol: v1',
          'upgrade: websocket',
        ])
        assert.equal(await peer.text(), 'v1')
      })
      assert.deepEqual(codes, Array(all.length * 4).fill('E_BAD_HEADER'))
    })

    test('setting one refuses the WebSocket, and the report says what to write', async () => {
      const app = kit.app()
      app.ws('/a', { upgrade: (ctx) => void ctx.header('Sec-WebSocket-Protocol', 'v1') })
      assert.equal((await refused(kit, app, '/a')).status, 500)
      assert.match((kit.reports.at(-1) as Error).message, /Sec-WebSocket-Protocol.*app\.ws.*protocols/)
    })

    const forms: [string, string, Record<string, string>, { skip?: string | false }][] = [
      ['a target in absolute form', 'http://there.example/a/1?b=2', {}, kit.needs('target-forms')],
      ['a length of 00', '/a/1', { 'content-length': '00' }, {}],
    ]

    for (const [name, target, headers, options] of forms) {
      test(name, options, async () => {
        const app = kit.app()
        app.ws('/a/:id', { upgrade: (ctx) => ctx.params.id, open: (ws) => ws.send(ws.data) })
        await kit.serve(app, async (live) => {
          assert.equal(await (await Peer.open(live, target, headers)).text(), '1')
        })
      })
    }
  })
}
