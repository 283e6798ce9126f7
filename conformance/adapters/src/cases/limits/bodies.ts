import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Kit } from '../../kit.ts'
import { edges } from './edges.ts'

/** Sizes of bodies and of replies. */
export function bodyLimits(kit: Kit): void {
  describe('limits', () => {
    for (const [size, status] of edges(1_048_576, 413)) {
      test(`a body of ${size} bytes is ${status}`, async () => {
        const app = kit.app()
        app.post('/b', (ctx) => ctx.bodyBytes.length)
        await kit.serve(app, async (live) => {
          const reply = await live.post('/b', null, Buffer.alloc(size))
          assert.equal(reply.status, status)
          if (status === 200) assert.equal(reply.text, String(size))
        })
      })
    }

    for (const [size, status] of edges(100, 413)) {
      test(`a route's maxBodySize of 100 with ${size} bytes is ${status}, with length and chunked`, async () => {
        const app = kit.app({ limits: { maxBodySize: 1_000 } })
        app.post('/small', { maxBodySize: 100 }, (ctx) => ctx.bodyBytes.length)
        app.post('/large', { maxBodySize: 5_000 }, (ctx) => ctx.bodyBytes.length)
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/small', null, 'x'.repeat(size))).status, status)
          const wire = await live.connect()
          wire.send(
            `POST /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
          )
          assert.equal((await wire.reply()).status, status)
          assert.equal((await live.post('/large', null, 'x'.repeat(4_000))).status, 200)
        })
      })
    }

    test('413 is said before the body is sent', async () => {
      const app = kit.app()
      app.post('/b', () => 1)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n')
        const reply = await wire.reply()
        assert.equal(reply.status, 413)
        assert.equal((reply.json() as { code: string }).code, 'E_BODY_TOO_LARGE')
      })
    })

    test('maxBodySize 0 takes no body', async () => {
      const app = kit.app()
      app.post('/b', { maxBodySize: 0 }, () => 'ok')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/b', { method: 'POST' })).status, 200)
        assert.equal((await live.post('/b', null, 'x')).status, 413)
      })
    })

    test('a reply larger than maxBufferedReplies is 500, and its report says what to do', async () => {
      const limit = 20_000
      const app = kit.app({ limits: { maxBufferedReplies: limit } })
      app.get('/bytes/:length', (ctx) => Buffer.alloc(Number(ctx.params.length), 'x'))
      app.get('/text/:length', (ctx) => 'x'.repeat(Number(ctx.params.length)))
      // The limit is in bytes, of which such a character takes three.
      app.get('/wide/:length', ({ params: { length } }) => '€'.repeat(+length / 3) + 'x'.repeat(+length % 3))
      app.get('/stream/:length', (ctx) => ctx.stream(['x'.repeat(Number(ctx.params.length))].values()))
      await kit.serve(app, async (live) => {
        for (const kind of ['bytes', 'text', 'wide']) {
          for (const [length, status] of [
            [limit - 1, 200],
            [limit, 200],
            [limit + 1, 500],
          ] as const) {
            kit.reports.length = 0
            const reply = await live.ask(`/${kind}/${length}`)
            assert.equal(reply.status, status, `${kind} of ${length}`)
            if (status === 200) {
              assert.equal(reply.body.length, length)
              continue
            }
            const [report] = kit.reports as [{ code: string; message: string }]
            assert.equal(report.code, 'E_REPLY_TOO_LARGE')
            assert.match(report.message, new RegExp(`GET /${kind}/:length is 20001 bytes long.*stream it`))
          }
        }
        assert.equal((await live.ask(`/stream/${limit + 1}`)).body.length, limit + 1)
      })
    })

    for (const [depth, status] of edges(3, 400)) {
      test(`maxJsonDepth 3 with ${depth} levels is ${status}`, async () => {
        const app = kit.app({ limits: { maxJsonDepth: 3 } })
        app.post('/j', (ctx) => ({ ok: ctx.body !== null }))
        await kit.serve(app, async (live) => {
          assert.equal(
            (await live.post('/j', 'application/json', '['.repeat(depth) + ']'.repeat(depth))).status,
            status,
          )
        })
      })
    }
  })
}
