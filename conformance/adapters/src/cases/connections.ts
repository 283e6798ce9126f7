import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request } from '../kit.ts'

export function connections(kit: Kit): void {
  describe('connections', () => {
    test('keep-alive: many requests on one connection', async () => {
      const app = kit.app()
      app.get('/:n', (ctx) => ctx.params.n)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let n = 0; n < 50; n++)
          assert.equal((await wire.send(request('GET', `/${n}`)).reply()).text, String(n))
      })
    })

    test('Connection: close is honoured', async () => {
      const app = kit.app()
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send(request('GET', '/x', { connection: 'close' })).reply()
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(await wire.ended(), 'end')
      })
    })

    const refused: [string, string, number][] = [
      ['two Host fields', 'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['an expectation', 'GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n\r\n', 417],
      ['a large body', 'POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n12345', 413],
    ]
    for (const [what, bytes, status] of refused) {
      test(`nothing runs after a request that was refused for ${what}`, async () => {
        const app = kit.app()
        let ran = 0
        app.get('/canary', () => ++ran)
        app.post('/x', { maxBodySize: 4 }, () => 'x')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(bytes + 'GET /canary HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3))
          if (kit.can('pipelining')) {
            assert.equal((await wire.reply()).status, status)
            await wire.ended()
          } else await wire.closed
          // A connection of its own is served: whatever was left over has had its turn.
          assert.equal((await live.ask('/canary')).text, '1')
        })
      })
    }

    test('nothing runs behind a reply that says close', kit.needs('pipelining'), async () => {
      const app = kit.app()
      let ran = 0
      app.post('/canary', () => ++ran)
      const canary = request('POST', '/canary', {}, '{}')
      const chunks = '3\r\nabc\r\n0\r\n\r\n'
      await kit.serve(app, async (live) => {
        for (const method of ['POST', 'TRACE']) {
          ran = 0
          const unread = request(method, '/nowhere', { 'transfer-encoding': 'chunked' })
          const wire = await live.connect()
          wire.send(Buffer.concat([unread, Buffer.from(chunks), canary]))
          const reply = await wire.reply()
          assert.equal(reply.status, 404)
          // An adapter may as well read the body to its end and go on.
          const closes = reply.headers['connection'] === 'close'
          if (closes) await wire.ended()
          else assert.equal((await wire.reply()).text, '1')
          assert.equal(ran, closes ? 0 : 1, method)
        }
      })
    })

    test('rubbish behind a request that waits is answered once', kit.needs('pipelining'), async () => {
      const app = kit.app()
      const go = deferred()
      app.get('/slow', async () => {
        await go.promise
        return 'slow'
      })
      const warnings: Error[] = []
      const warned = (warning: Error) => void warnings.push(warning)
      process.on('warning', warned)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/slow'))
        for (let times = 0; times < 20; times++) {
          wire.send('rubbish\r\n\r\n')
          // So that the server reads each on its own.
          await sleep(2)
        }
        go.resolve()
        assert.equal((await wire.reply()).text, 'slow')
        assert.equal((await wire.reply()).status, 400)
        await wire.ended()
        assert.equal(app.stats().refused, 1)
      })
      process.off('warning', warned)
      assert.deepEqual(warnings, [])
    })

    test('HTTP/1.0 closes, and stays with keep-alive', kit.needs('http-1.0'), async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.httpVersion)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        assert.equal((await first.send('GET /x HTTP/1.0\r\n\r\n').reply()).text, '1.0')
        await first.ended()
        const second = await live.connect()
        for (let round = 0; round < 2; round++) {
          const reply = await second.send('GET /x HTTP/1.0\r\nConnection: keep-alive\r\n\r\n').reply()
          assert.equal(reply.text, '1.0')
          assert.equal(reply.headers['connection'], 'keep-alive')
        }
      })
    })

    test(
      'pipelined replies leave in order, whatever their handlers take',
      kit.needs('pipelining'),
      async () => {
        const app = kit.app()
        const gates = Array.from({ length: 6 }, () => deferred())
        let running = 0
        app.get('/:n', async (ctx) => {
          running++
          await gates[Number(ctx.params.n)]?.promise
          running--
          return ctx.params.n
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(gates.map((_, n) => `GET /${n} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''))
          await eventually(() => running === gates.length, 'safe requests run at the same time')
          for (const [ended, n] of [3, 1, 5, 4, 2, 0].entries()) {
            assert.equal(wire.received.length, 0)
            gates[n]?.resolve()
            await eventually(() => running === gates.length - 1 - ended, `the end of ${n}`)
          }
          for (const n of gates.keys()) assert.equal((await wire.reply()).text, String(n))
        })
      },
    )

    test('100 pipelined requests, more than run at once', kit.needs('pipelining'), async () => {
      const app = kit.app()
      let running = 0
      let most = 0
      app.get('/:n', async (ctx) => {
        most = Math.max(most, ++running)
        await sleep(2)
        running--
        return ctx.params.n
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Array.from({ length: 100 }, (_, n) => `GET /${n} HTTP/1.1\r\nHost: h\r\n\r\n`).join(''))
        for (let n = 0; n < 100; n++) assert.equal((await wire.reply()).text, String(n))
        assert.ok(most > 1 && most <= 16, `${most} at once`)
      })
    })

    test(
      'an unsafe request waits for those before it and holds back those after it',
      kit.needs('pipelining'),
      async () => {
        const app = kit.app()
        const order: string[] = []
        const handler = (name: string, work: () => Promise<unknown>) => async () => {
          order.push(`${name} starts`)
          await work()
          order.push(`${name} ends`)
          return name
        }
        app.get(
          '/a',
          handler('a', () => eventually(() => order.includes('b ends'), 'the end of b')),
        )
        app.get(
          '/b',
          handler('b', () => sleep(10)),
        )
        app.post(
          '/c',
          handler('c', () => sleep(10)),
        )
        app.get(
          '/d',
          handler('d', () => sleep(1)),
        )
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            Buffer.concat([
              request('GET', '/a'),
              request('GET', '/b'),
              request('POST', '/c', {}, 'x'),
              request('GET', '/d'),
            ]),
          )
          for (const name of ['a', 'b', 'c', 'd']) assert.equal((await wire.reply()).text, name)
          assert.deepEqual(order, [
            'a starts',
            'b starts',
            'b ends',
            'a ends',
            'c starts',
            'c ends',
            'd starts',
            'd ends',
          ])
        })
      },
    )

    test('two unsafe requests run one after the other', kit.needs('pipelining'), async () => {
      const app = kit.app()
      let balance = 0
      app.post('/add', async (ctx) => {
        const before = balance
        await sleep(5)
        balance = before + Number(ctx.bodyText)
        return balance
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat(['1', '2', '3'].map((n) => request('POST', '/add', {}, n))))
        for (const sum of ['1', '3', '6']) assert.equal((await wire.reply()).text, sum)
      })
    })

    test(
      'what follows a request and is none: the replies before it, 400, and the end',
      kit.needs('pipelining'),
      async () => {
        const app = kit.app()
        app.get('/x', async () => {
          await sleep(5)
          return 'ok'
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            'GET /x HTTP/1.1\r\nHost: h\r\n\r\nGET /x HTTP/1.1\r\nHost: h\r\n\r\nnot a request\r\n\r\n',
          )
          assert.equal((await wire.reply()).text, 'ok')
          assert.equal((await wire.reply()).text, 'ok')
          const last = await wire.reply()
          assert.ok(last.status === 400 || last.status === 501, String(last.status))
          assert.equal(last.headers['connection'], 'close')
          await wire.ended()
        })
      },
    )

    test('a missing Host is 400', async () => {
      const app = kit.app()
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        assert.equal((await wire.send('GET /x HTTP/1.1\r\n\r\n').reply()).status, 400)
        await wire.ended()
      })
    })

    test('an early reply to a long upload is read by the client, then the connection ends', async () => {
      const app = kit.app({ limits: { maxBodySize: 50_000_000, drainTimeout: 500 } })
      app.post('/early', { bodyMode: 'stream' }, (ctx) => ctx.text('no, thanks', 403))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 40000000\r\n\r\n')
        wire.send(Buffer.alloc(30_000))
        const reply = await wire.reply()
        assert.equal(reply.status, 403)
        assert.equal(reply.headers['connection'], 'close')
        assert.equal(reply.text, 'no, thanks')
        await wire.ended()
      })
    })

    test('the rest of a short upload is discarded and the connection goes on', async () => {
      const app = kit.app({ limits: { drainTimeout: 60_000 } })
      const gate = deferred()
      app.post('/early', { bodyMode: 'stream' }, () => {
        gate.resolve()
        return 'early'
      })
      app.get('/next', () => 'next')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /early HTTP/1.1\r\nHost: h\r\nContent-Length: 1000\r\n\r\n')
        await gate.promise
        assert.equal((await wire.reply()).text, 'early')
        wire.send('x'.repeat(1_000)).send(request('GET', '/next'))
        assert.equal((await wire.reply()).text, 'next')
      })
    })

    test('a reply while the body waits to be read: the connection goes on', async () => {
      const app = kit.app({ limits: { drainLimit: 1_000_000 } })
      app.post('/early', { bodyMode: 'stream' }, async (ctx) => {
        // What is not read fills the window, and the client must wait.
        await sleep(100)
        ctx.text('early')
      })
      app.get('/next', () => 'next')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('POST', '/early', {}, Buffer.alloc(900_000)))
        assert.equal((await wire.reply()).text, 'early')
        assert.equal((await wire.send(request('GET', '/next')).reply()).text, 'next')
      })
    })

    test('an echo that closes, with bytes behind it', async () => {
      const app = kit.app()
      app.post('/echo', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
      await kit.serve(app, async (live) => {
        const body = Buffer.alloc(70_000, 'e')
        for (let round = 0; round < 20; round++) {
          const wire = await live.connect()
          wire.send(
            Buffer.concat([
              request('POST', '/echo', { connection: 'close' }, body),
              request('POST', '/echo', {}, body),
            ]),
          )
          if (!kit.can('pipelining')) await wire.closed
          else {
            assert.ok((await wire.reply()).body.equals(body))
            await wire.ended()
          }
        }
        assert.ok((await live.post('/echo', null, body)).body.equals(body))
      })
    })

    test('stats count connections, requests and what is in flight', async () => {
      const app = kit.app()
      const gate = deferred()
      app.get('/x', async () => {
        await gate.promise
        return 1
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(request('GET', '/x'))
        await eventually(() => app.stats().inFlight > 0, 'a request in flight')
        const { connections: open, requests, inFlight } = app.stats()
        assert.deepEqual([open, requests, inFlight], [1, 1, 1])
        gate.resolve()
        await wire.reply()
        assert.equal(app.stats().inFlight, 0)
      })
    })
  })
}
