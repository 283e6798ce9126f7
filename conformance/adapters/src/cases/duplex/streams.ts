/** Handlers that read a request and write its reply at the same time. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import type { Context } from 'volant'
import { Call, versionsOf } from '../../call.ts'
import { deferred, eventually, type Kit, unchanging, within } from '../../kit.ts'

export function duplex(kit: Kit): void {
  for (const version of versionsOf(kit)) {
    describe(`streams both ways over HTTP/${version}`, () => {
      test('what is sent comes back while the request is still open', async () => {
        const app = kit.app()
        app.post('/echo', { bodyMode: 'stream' }, (ctx) => ctx.stream(ctx.bodyStream))
        app.post('/upper', { bodyMode: 'stream' }, async function* (ctx) {
          yield 'begin;'
          for await (const bytes of ctx.bodyStream) yield Buffer.from(bytes).toString().toUpperCase()
          yield ';end'
        })
        await kit.serve(
          app,
          async (live) => {
            const echo = Call.open(live.address, version, '/echo')
            for (let round = 0; round < 20; round++) {
              echo.write(`round ${round};`)
              await echo.has(`round ${round};`)
            }
            assert.match((await echo.end().whole()).text, /^round 0;.*round 19;$/)
            const upper = Call.open(live.address, version, '/upper')
            await upper.has('begin;')
            upper.write('a')
            await upper.has('begin;A')
            upper.write('b')
            assert.equal((await upper.end().whole()).text, 'begin;AB;end')
          },
          { http2: version === '2' },
        )
      })

      test('with back-pressure both ways', kit.needs('upload-pressure'), async () => {
        const app = kit.app({ limits: { maxBodySize: 64 << 20 } })
        let taken = 0
        app.post('/echo', { bodyMode: 'stream' }, (ctx) => {
          const source = async function* () {
            for await (const bytes of ctx.bodyStream) {
              taken += bytes.length
              yield bytes
            }
          }
          ctx.stream(source())
        })
        await kit.serve(
          app,
          async (live) => {
            const call = Call.open(live.address, version, '/echo')
            const part = randomBytes(65_536)
            const sent = createHash('sha1')
            let written = 0
            const most = 48 << 20
            let stalled = false
            const write = async (): Promise<void> => {
              while (written < most) {
                sent.update(part)
                written += part.length
                if (!call.write(part)) await call.drained
              }
              call.end()
            }
            const writing = write()
            await call.head()
            // The client reads nothing, so the server stops reading long before all of the body is sent.
            await eventually(() => taken > 0, 'the first bytes')
            await unchanging(() => taken + written, 'what goes through while the client does not read')
            stalled = written < most
            assert.ok(stalled, `${written} bytes were taken from a client that reads nothing`)
            const { text } = await call.whole()
            await writing
            assert.equal(text.length, most)
            assert.equal(createHash('sha1').update(text, 'latin1').digest('hex'), sent.digest('hex'))
          },
          { http2: version === '2' },
        )
      })

      test('a reply may end while the request is still open', async () => {
        const app = kit.app()
        const read: unknown[] = []
        app.post('/early', { bodyMode: 'stream' }, async function* (ctx) {
          const reader = ctx.bodyStream.getReader()
          const { value } = await reader.read()
          read.push(Buffer.from(value ?? []).toString())
          void reader.read().then(
            () => read.push('more'),
            () => read.push('failed'),
          )
          yield 'enough'
          if (kit.can('trailers')) ctx.trailer('x-a', '1')
        })
        await kit.serve(
          app,
          async (live) => {
            const call = Call.open(live.address, version, '/early')
            call.write('first')
            const { status, text, trailers } = await call.whole()
            assert.deepEqual([status, text], [200, 'enough'])
            assert.deepEqual(trailers, kit.can('trailers') ? { 'x-a': '1' } : {})
            await eventually(() => read.length === 2, 'the end of the body')
            assert.deepEqual(read, ['first', 'failed'])
            call.reset()
          },
          { http2: version === '2' },
        )
      })

      test('a client that resets aborts the signal and ends both streams', async () => {
        const app = kit.app()
        const seen: string[] = []
        const reported = kit.reports.length
        const closed = deferred()
        app.post('/', { bodyMode: 'stream' }, (ctx: Context) => {
          ctx.signal.addEventListener('abort', () => seen.push('aborted'))
          const source = async function* () {
            try {
              yield 'begin'
              for await (const bytes of ctx.bodyStream) yield bytes
              // node:http2 ends the body before it resets the stream.
              await new Promise((_, reject) => ctx.signal.addEventListener('abort', reject))
            } finally {
              seen.push('ended')
              closed.resolve()
            }
          }
          ctx.stream(source())
        })
        await kit.serve(
          app,
          async (live) => {
            const call = Call.open(live.address, version, '/')
            call.write('x')
            await call.has('beginx')
            call.reset()
            await within(closed.promise, 'the end of the source')
            await eventually(() => seen.length >= 2, 'the abort')
            assert.deepEqual(seen.toSorted(), ['aborted', 'ended'])
            assert.equal(kit.reports.length, reported)
          },
          { http2: version === '2' },
        )
      })
    })
  }
}
