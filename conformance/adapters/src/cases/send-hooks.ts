import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { createGzip, gunzipSync } from 'node:zlib'
import type { Chunk, SendHook } from 'volant'
import { deferred, eventually, type Kit, request, turns } from '../kit.ts'
import { frameworkClock, passes } from '../time-limit.ts'

/** Hooks that change replies before they leave, over sockets. What they may do is in packages/volant/test. */
export function sendHooks(kit: Kit): void {
  describe('onSend', () => {
    let folder = ''
    const large = randomBytes(1_000_001)
    before(() => {
      folder = mkdtempSync(join(tmpdir(), 'volant-'))
      writeFileSync(join(folder, 'small.txt'), 'small')
      writeFileSync(join(folder, 'large.bin'), large)
    })
    after(() => rmSync(folder, { recursive: true }))

    const zipped: SendHook = (_, reply) => {
      if (reply.body === null) return
      reply.headers.set('content-encoding', 'gzip')
      reply.body = Readable.from(typeof reply.body === 'string' ? [reply.body] : reply.body).pipe(
        createGzip(),
      )
    }

    test('wraps the bodies of values, streams and files; HEAD has the head alone', async () => {
      const app = kit.app()
      app.onSend(zipped)
      app.get('/json', () => ({ a: 1 }))
      app.get('/stream', (ctx) => ctx.stream(['a', 'b'], { length: 2 }))
      app.get('/file/:name', (ctx) => ctx.file(ctx.params.name, { root: folder }))
      await kit.serve(app, async (live) => {
        for (const [path, text] of [
          ['/json', '{"a":1}'],
          ['/stream', 'ab'],
          ['/file/small.txt', 'small'],
          ['/none', undefined],
        ] as const) {
          const reply = await live.ask(path)
          assert.equal(reply.headers['content-length'], undefined)
          // HTTP/2 has no Transfer-Encoding (RFC 9113 §8.2.2).
          const coding = reply.version === 'HTTP/2' ? undefined : 'chunked'
          assert.equal(reply.headers['transfer-encoding'], coding)
          if (text !== undefined) assert.equal(gunzipSync(reply.body).toString(), text)
          const head = await live.ask(path, { method: 'HEAD' })
          assert.deepEqual([head.status, head.headers['content-encoding']], [reply.status, 'gzip'])
        }
        assert.ok(gunzipSync((await live.ask('/file/large.bin')).body).equals(large))
        const part = await live.ask('/file/large.bin', { headers: { range: 'bytes=10-19' } })
        assert.deepEqual([part.status, gunzipSync(part.body)], [206, large.subarray(10, 20)])
      })
    })

    test('changes status and headers of values, errors and misses, and the replies keep their order', async () => {
      const app = kit.app()
      app.onSend(async (ctx, { status, headers }) => {
        if (ctx.path === '/slow') await turns()
        headers.set('cache-control', status < 300 ? 'max-age=60' : 'no-store')
        if (ctx.path === '/moved') ctx.status(410)
      })
      app.get('/slow', () => 'slow')
      app.get('/quick', () => 'quick')
      app.get('/moved', () => 'moved')
      app.get('/error', () => {
        throw new Error('handler')
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const paths = ['/slow', '/quick', '/moved', '/error', '/none']
        const seen: unknown[] = []
        for await (const { status, headers } of kit.replies(
          wire,
          paths.map((path) => request('GET', path)),
        )) {
          seen.push([status, headers['cache-control']])
        }
        assert.deepEqual(seen, [
          [200, 'max-age=60'],
          [200, 'max-age=60'],
          [410, 'max-age=60'],
          [500, 'no-store'],
          [404, 'no-store'],
        ])
        assert.equal((kit.reports.pop() as Error).message, 'handler')
      })
    })

    test('answers 500 where a hook throws, and the connection goes on', async () => {
      const app = kit.app()
      let cancelled = 0
      app.onSend(async (ctx) => {
        if (ctx.path === '/later') await Promise.resolve()
        if (ctx.path !== '/fine') throw new Error('hook')
      })
      const endless = async function* (): AsyncGenerator<Chunk> {
        try {
          for (;;) yield 'x'
        } finally {
          cancelled++
        }
      }
      app.get('/now', () => endless())
      app.get('/later', () => ({ a: 1 }))
      app.get('/fine', () => 'fine')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (const path of ['/now', '/later']) {
          const { status, headers } = await wire.send(request('GET', path)).reply()
          assert.deepEqual(
            [status, headers['content-type']],
            [500, 'application/problem+json; charset=utf-8'],
          )
          assert.equal((kit.reports.pop() as Error).message, 'hook')
        }
        assert.equal(cancelled, 1)
        assert.equal((await wire.send(request('GET', '/fine')).reply()).text, 'fine')
      })
    })

    test('waits: a client that leaves cancels the source, and the time of a route answers 503', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app()
      const waits = deferred()
      let cancelled = 0
      let asked = 0
      app.onSend(() => {
        asked++
        return waits.promise
      })
      const source = (): Readable =>
        new Readable({
          read() {},
          destroy: (_, done) => {
            cancelled++
            done(null)
          },
        })
      app.get('/left', (ctx) => ctx.stream(source()))
      app.get('/time', { handlerTimeout: 30_000 }, (ctx) => ctx.stream(source()))
      await kit.serve(app, async (live) => {
        const reported = kit.reports.length
        const late = (await live.connect()).send(request('GET', '/time'))
        await passes(clock, 30_000, () => late.received.length > 0, 'the reply')
        assert.equal((await late.reply()).status, 503)
        await eventually(() => cancelled === 1, 'the source is cancelled')
        const wire = await live.connect()
        wire.send(request('GET', '/left'))
        await eventually(() => asked === 2, 'the hook runs')
        wire.reset()
        await eventually(() => cancelled === 2, 'the source is cancelled')
        waits.resolve()
        assert.equal((await live.ask('/none')).status, 404)
        assert.equal(kit.reports.length, reported)
      })
    })

    test('waits no longer than the time of the app', async (t) => {
      const clock = frameworkClock(t)
      const app = kit.app({ limits: { handlerTimeout: 30_000 } })
      const waits = deferred()
      let aborted = false
      app.onSend((ctx) => {
        ctx.signal.addEventListener('abort', () => (aborted = true))
        return waits.promise
      })
      app.get('/x', () => 'x')
      await kit.serve(app, async (live) => {
        const wire = (await live.connect()).send(request('GET', '/x'))
        await passes(clock, 30_000, () => wire.received.length > 0, 'the reply')
        assert.equal((await wire.reply()).status, 503)
        await eventually(() => aborted, 'the signal is aborted')
        waits.resolve()
      })
    })
  })
}
