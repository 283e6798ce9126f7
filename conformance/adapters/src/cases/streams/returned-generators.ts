import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, type Context, HTTPError, type Next } from 'volant'
import { deferred, eventually, type Kit, request, within, turns } from '../../kit.ts'
import { frameworkClock, passes } from '../../time-limit.ts'

/** Generators that a handler returned. */
export function returnedGenerators(kit: Kit): void {
  describe('streamed replies', () => {
    describe('of a generator that was returned', () => {
      const around: [name: string, layer: (ctx: Context, next: Next) => unknown][] = [
        ['alone', before(() => {})],
        ['behind a middleware', (_, next) => next()],
        ['behind one that waits', async (_, next) => await next()],
      ]
      for (const [name, layer] of around) {
        test(`what it sets and throws before its first chunk counts (${name})`, async () => {
          const app = kit.app()
          app.get('/async', layer, async function* (ctx) {
            await turns(1)
            ctx.header('x-rows', '2').header('content-type', 'text/csv').status(203)
            yield 'a\n'
            yield 'b\n'
          })
          app.get('/sync', layer, function* (ctx) {
            ctx.header('x-rows', '1')
            yield Buffer.from('a')
          })
          app.get('/inner', layer, (ctx) =>
            (async function* () {
              ctx.header('x-rows', '3')
              yield 'c'
            })(),
          )
          app.get('/empty', layer, async function* (ctx) {
            ctx.header('x-rows', '0')
            if (ctx.path === '/') yield 'x'
          })
          app.get('/gone', layer, async function* (ctx) {
            ctx.header('etag', '"x"')
            if (ctx.path === '/gone') throw new HTTPError(410, 'It is gone')
            yield 'x'
          })
          app.get('/broken', layer, function* (ctx) {
            if (ctx.path === '/broken') throw new Error('broken before it began')
            yield 'x'
          })
          app.get('/number', layer, function* () {
            yield 5 as never
          })
          app.get('/own', layer, async function* (ctx) {
            ctx.text('by itself')
            if (ctx.path === '/') yield 'x'
          })
          await kit.serve(app, async (live) => {
            const reported = kit.reports.length
            for (const [path, status, text, rows, type] of [
              ['/async', 203, 'a\nb\n', '2', 'text/csv'],
              ['/sync', 200, 'a', '1', 'application/octet-stream'],
              ['/inner', 200, 'c', '3', 'application/octet-stream'],
              ['/empty', 200, '', '0', 'application/octet-stream'],
              ['/own', 200, 'by itself', undefined, 'text/plain; charset=utf-8'],
            ] as const) {
              const reply = await live.ask(path)
              const injected = await app.inject(path)
              for (const { headers } of [reply, injected]) {
                assert.deepEqual([headers['x-rows'], headers['content-type']], [rows, type], path)
              }
              assert.deepEqual([reply.status, reply.text], [status, text])
              assert.deepEqual([injected.status, injected.text()], [status, text])
            }
            const gone = await live.ask('/gone')
            assert.deepEqual([gone.status, gone.headers['etag']], [410, undefined])
            assert.equal(kit.reports.length, reported)
            assert.equal((await live.ask('/broken')).status, 500)
            assert.match(String(kit.reports.pop()), /broken before it began/)
            assert.equal((await live.ask('/number')).status, 500)
            assert.match(
              String(kit.reports.pop()),
              /a chunk of the stream of GET \/number is a string or bytes, not 5/,
            )
            assert.equal(kit.reports.length, reported)
          })
        })
      }

      test('middleware sees its status after next(), and may answer its error', async () => {
        const app = kit.app()
        const seen: unknown[] = []
        app.use(async (ctx, next) => {
          try {
            await next()
            seen.push([ctx.replied, ctx.status()])
          } catch (error) {
            ctx.text(`caught ${(error as Error).message}`, 409)
          }
        })
        app.get('/a', async function* (ctx) {
          ctx.status(202)
          yield 'a'
        })
        app.get('/b', async function* (ctx) {
          if (ctx.path === '/b') throw new Error('early')
          yield 'b'
        })
        await kit.serve(app, async (live) => {
          assert.deepEqual([(await live.ask('/a')).text, seen], ['a', [[true, 202]]])
          const caught = await live.ask('/b')
          assert.deepEqual([caught.status, caught.text], [409, 'caught early'])
        })
        const plain = kit.app()
        plain.get('/c', () => {
          throw new HTTPError(418)
        })
        plain.onError(async function* (_, ctx) {
          ctx.header('x-error', 'yes')
          yield 'an error'
        })
        await kit.serve(plain, async (live) => {
          const reply = await live.ask('/c')
          assert.deepEqual([reply.status, reply.text, reply.headers['x-error']], [418, 'an error', 'yes'])
        })
      })

      test('for HEAD none of its code runs, and what it sets after a chunk is dropped', async () => {
        const app = kit.app()
        let ran = 0
        app.get('/s', async function* (ctx) {
          ran++
          yield 'a'
          ctx.header('x-late', '1')
          yield 'b'
        })
        await kit.serve(app, async (live) => {
          const head = await live.ask('/s', { method: 'HEAD' })
          assert.deepEqual([head.status, ran], [200, 0])
          const reply = await live.ask('/s')
          assert.deepEqual([reply.text, reply.headers['x-late']], ['ab', undefined])
          assert.match(String(kit.reports.pop()), /the header x-late was set after GET \/s had its reply/)
        })
      })

      for (const end of ['the client leaves', 'its time is over'] as const) {
        test(`${end} before its first chunk: it runs its finally, and nothing is sent`, async (t) => {
          const clock = frameworkClock(t)
          const app = kit.app({ limits: { handlerTimeout: 30_000 } })
          const started = deferred()
          const done = deferred()
          const go = deferred()
          app.get('/s', async function* () {
            try {
              started.resolve()
              await go.promise
              yield 'late'
              yield 'never'
            } finally {
              done.resolve()
            }
          })
          await kit.serve(app, async (live) => {
            const reported = kit.reports.length
            const wire = (await live.connect()).send(request('GET', '/s'))
            await started.promise
            if (end === 'its time is over') {
              await passes(clock, 30_000, () => wire.received.length > 0, 'the reply')
              assert.equal((await wire.reply()).status, 503)
            } else {
              wire.reset()
              await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
            }
            go.resolve()
            await within(done.promise, 'the end of the generator')
            assert.equal(kit.reports.length, reported)
          })
        })
      }
    })
  })
}
