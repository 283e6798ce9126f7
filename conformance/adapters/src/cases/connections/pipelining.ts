import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, eventually, type Kit, request, turns } from '../../kit.ts'

export function pipelinedConnections(kit: Kit): void {
  describe('connections', () => {
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
        await turns(3)
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
          handler('b', () => turns()),
        )
        app.post(
          '/c',
          handler('c', () => turns()),
        )
        app.get(
          '/d',
          handler('d', () => turns(1)),
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
        await turns()
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
          await turns()
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
  })
}
