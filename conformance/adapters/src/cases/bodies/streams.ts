import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { type VolantError } from 'volant'
import { deferred, eventually, type Kit, request, turns, unchanging } from '../../kit.ts'

export function streamedBodies(kit: Kit): void {
  describe('bodies', () => {
    describe('streams', () => {
      test('chunks arrive as they are sent', async () => {
        const app = kit.app()
        const arrived: string[] = []
        app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
          for await (const chunk of ctx.bodyStream) arrived.push(Buffer.from(chunk).toString())
          return { all: arrived.join('') }
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
          await eventually(() => arrived.length === 1, 'the first chunk')
          assert.deepEqual(arrived, ['abc'])
          wire.send('2\r\nde\r\n0\r\n\r\n')
          assert.deepEqual((await wire.reply()).json(), { all: 'abcde' })
        })
      })

      test('ctx.body of a stream route is an error', async () => {
        const app = kit.app()
        app.post('/s', { bodyMode: 'stream' }, (ctx) => ({ body: ctx.body }))
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/s', 'text/plain', 'x')).status, 500)
          assert.equal((kit.reports.at(-1) as { code: string }).code, 'E_BODY_STREAMED')
        })
      })

      test('20 MB arrive whole, and the client waits for a slow reader', async () => {
        const app = kit.app({ limits: { maxBodySize: 64_000_000 } })
        const total = 20_000_000
        let paused = 0
        app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
          const hash = createHash('sha256')
          let length = 0
          await unchanging(() => sent, 'the client waits')
          paused = sent
          for await (const chunk of ctx.bodyStream) {
            hash.update(chunk)
            length += chunk.length
          }
          return { length, hash: hash.digest('hex') }
        })
        let sent = 0
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const block = Buffer.alloc(100_000, 'abcdefghij')
          const hash = createHash('sha256')
          wire.send(`POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: ${total}\r\n\r\n`)
          for (; sent < total; sent += block.length) {
            hash.update(block)
            if (!wire.socket.write(block)) await new Promise((resolve) => wire.socket.once('drain', resolve))
          }
          assert.deepEqual((await wire.reply()).json(), { length: total, hash: hash.digest('hex') })
          assert.ok(paused < 16_000_000, `${paused} bytes were taken before anybody read`)
        })
      })

      test('past the limit the stream fails with 413', async () => {
        const app = kit.app()
        app.post('/s', { bodyMode: 'stream', maxBodySize: 1_000 }, async (ctx) => {
          let length = 0
          for await (const chunk of ctx.bodyStream) length += chunk.length
          return length
        })
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/s', null, 'x'.repeat(1_000))).text, '1000')
          assert.equal((await live.post('/s', null, 'x'.repeat(1_001))).status, 413)
          const wire = await live.connect()
          wire.send(
            `POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`,
          )
          assert.equal((await wire.reply()).status, 413)
        })
      })

      for (const when of ['at once', 'later'] as const)
        test(
          `a malformed chunk fails the stream with 400 where it is read ${when}`,
          kit.needs('malformed-body'),
          async () => {
            const app = kit.app()
            let failed: unknown
            app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
              try {
                if (when === 'later') await turns()
                for await (const chunk of ctx.bodyStream) assert.ok(chunk.length > 0)
              } catch (error) {
                failed = error
                throw error
              }
            })
            await kit.serve(app, async (live) => {
              const wire = await live.connect()
              wire.send('POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n')
              assert.equal((await wire.reply()).status, 400)
              await wire.ended()
              assert.equal((failed as { status: number }).status, 400)
            })
          },
        )

      test('it may be opened after the reply has begun', async () => {
        const app = kit.app()
        app.post('/late', { bodyMode: 'stream' }, (ctx) =>
          ctx.stream(
            (async function* () {
              yield 'begun '
              for await (const chunk of ctx.bodyStream) yield chunk
            })(),
          ),
        )
        await kit.serve(app, async (live) => {
          const reply = await live.post('/late', null, 'a'.repeat(100_000))
          assert.equal(reply.text, `begun ${'a'.repeat(100_000)}`)
        })
        const injected = await app.inject({ url: '/late', method: 'POST', body: 'b'.repeat(100_000) })
        assert.equal(injected.text(), `begun ${'b'.repeat(100_000)}`)
      })

      for (const opened of ['before', 'after'] as const) {
        test(`opened ${opened} the whole reply is given, it ends with it`, async () => {
          const app = kit.app()
          let ends: unknown[] = []
          app.onResponse((_, { status }) => void ends.push(status))
          app.post('/early', { bodyMode: 'stream' }, async (ctx) => {
            const early = opened === 'before' ? ctx.bodyStream.getReader() : null
            ctx.text('early')
            const reader = early ?? ctx.bodyStream.getReader()
            try {
              for (;;) if ((await reader.read()).done) break
            } catch (error) {
              ends.push((error as VolantError).code)
            }
          })
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            wire.send(request('POST', '/early', { 'content-length': '50000' }))
            assert.equal((await wire.reply()).text, 'early')
            await eventually(() => ends.length === 2, 'both ends')
            assert.deepEqual(ends, ['E_ABORTED', 200])
          })
          ends = []
          const cancelled = deferred()
          const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() })
          const injected = await app.inject({ url: '/early', method: 'POST', body })
          assert.equal(injected.text(), 'early')
          await cancelled.promise
          await eventually(() => ends.length === 2, 'both ends')
          assert.deepEqual(ends, ['E_ABORTED', 200])
        })
      }

      test('an echo of 5 MB flows both ways', async () => {
        const app = kit.app({ limits: { maxBodySize: 10_000_000 } })
        app.post('/echo', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
        await kit.serve(app, async (live) => {
          const body = Buffer.alloc(5_000_000, 'echo!')
          const reply = await live.post('/echo', null, body)
          assert.equal(reply.status, 200)
          assert.ok(reply.body.equals(body))
        })
      })
    })
  })
}
