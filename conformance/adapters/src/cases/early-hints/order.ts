import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deferred, type Kit, request } from '../../kit.ts'
import { style, font } from './links.ts'

export function orderOfEarlyHints(kit: Kit): void {
  describe('early hints', () => {
    test('pipelined, they wait for the replies before theirs', async () => {
      const app = kit.app()
      const gates = { a: deferred(), b: deferred(), c: deferred() }
      const given = deferred()
      app.get('/:name', async (ctx) => {
        const name = ctx.params.name as keyof typeof gates
        ctx.earlyHints({ 'x-for': name })
        ctx.earlyHints({ 'x-again': name })
        if (name === 'c') given.resolve()
        await gates[name].promise
        return name
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat(['/a', '/b', '/c'].map((path) => request('GET', path))))
        await given.promise
        gates.c.resolve()
        for (const name of ['a', 'b', 'c'] as const) {
          const hints = [await wire.interim(), await wire.interim()]
          assert.deepEqual(
            hints.map((hint) => [hint.status, hint.raw]),
            [
              [103, [['x-for', name]]],
              [103, [['x-again', name]]],
            ],
          )
          if (name !== 'c') assert.equal(wire.received.length, 0)
          gates[name].resolve()
          const reply = await wire.interim()
          assert.deepEqual([reply.status, reply.text], [200, name])
        }
      })
    })

    test('pipelined, those that wait are bounded', async () => {
      const app = kit.app()
      const gate = deferred()
      app.get('/first', async () => {
        await gate.promise
        return 'first'
      })
      app.get('/second', (ctx) => {
        for (let count = 0; count < 1_000; count++) ctx.earlyHints({ link: style })
        gate.resolve()
        return 'second'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(Buffer.concat([request('GET', '/first'), request('GET', '/second')]))
        assert.equal((await wire.interim()).text, 'first')
        let hints = 0
        let next = await wire.interim()
        for (; next.status === 103; next = await wire.interim()) hints++
        assert.equal(next.text, 'second')
        const size = `HTTP/1.1 103 Early Hints\r\nlink: ${style}\r\n\r\n`.length
        assert.equal(hints, Math.floor(16_384 / size))
      })
    })

    test('in any order with 100 Continue', async () => {
      const app = kit.app()
      app.post('/stream', { bodyMode: 'stream' }, async (ctx) => {
        ctx.earlyHints({ link: style })
        const text = await new Response(ctx.bodyStream).text()
        ctx.earlyHints({ link: font })
        return text
      })
      app.post('/whole', (ctx) => {
        ctx.earlyHints({ link: style })
        return ctx.bodyText
      })
      const head = (path: string) =>
        `POST ${path} HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n`
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const [path, before, after] of [
          ['/stream', [103, 100], [103, 200]],
          ['/whole', [100], [103, 200]],
        ] as const) {
          wire.send(head(path))
          for (const status of before) assert.equal((await wire.interim()).status, status, path)
          wire.send('hi')
          let last = ''
          for (const status of after) {
            const next = await wire.interim()
            assert.equal(next.status, status, path)
            last = next.text
          }
          assert.equal(last, 'hi')
        }
      })
    })
  })
}
