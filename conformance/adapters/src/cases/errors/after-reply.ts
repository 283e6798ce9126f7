import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually, type Kit, request, turns, untilAborted } from '../../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errorsAfterReplies(kit: Kit): void {
  describe('errors', () => {
    test('headers and status after the reply are a reported mistake', async () => {
      const app = kit.app()
      app.use(async (ctx, next) => {
        await next()
        ctx.header('x-time', '1')
      })
      app.get('/header', () => 'reply')
      app.get('/status', (ctx) => {
        ctx.text('reply')
        ctx.status(201)
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/header', '/status']) {
          const reports = kit.reports.length
          assert.equal((await live.ask(path)).text, 'reply')
          await eventually(() => kit.reports.length > reports, 'the report')
          assert.match(String(kit.reports[reports]), /was set after GET .* had its reply/)
        }
      })
    })

    test('a value returned after a reply is reported and ignored', async () => {
      const app = kit.app()
      app.get('/x', async (ctx) => {
        ctx.text('first')
        return { second: true }
      })
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        assert.equal((await live.ask('/x')).text, 'first')
        await eventually(() => kit.reports.length === before + 1, 'a report')
        assert.equal((kit.reports[before] as { code: string }).code, 'E_ALREADY_REPLIED')
      })
    })

    test('an error after the reply is reported; the reply and the connection stand', async () => {
      const app = kit.app()
      const late = new Error('late')
      app.get('/sync', (ctx) => {
        ctx.text('ok')
        throw late
      })
      app.get('/async', async (ctx) => {
        ctx.text('ok')
        await turns()
        throw late
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async']) {
          const before = kit.reports.length
          const wire = await live.connect()
          assert.equal((await wire.send(request('GET', path)).reply()).text, 'ok')
          await eventually(() => kit.reports.length === before + 1, 'a report')
          assert.equal(kit.reports[before], late)
          assert.equal((await wire.send(request('GET', path)).reply()).text, 'ok')
        }
      })
    })

    test('a stream that fails after it began resets the connection', async () => {
      const app = kit.app()
      app.get('/gen', async function* () {
        yield 'a'
        await turns()
        throw new Error('mid-stream')
      })
      app.get('/throws', async (ctx) => {
        ctx.stream(
          (async function* () {
            yield 'a'
            await untilAborted(ctx.signal)
          })(),
        )
        await turns()
        throw new Error('after streaming began')
      })
      app.get('/bad', function* () {
        yield 'a'
        yield 5
      })
      app.get('/short', (ctx) => ctx.stream(['ab'], { length: 3 }))
      app.get('/long', (ctx) => ctx.stream(['abcd'], { length: 3 }))
      await kit.serve(app, async (live) => {
        for (const path of ['/gen', '/throws', '/bad', '/short', '/long']) {
          const wire = await live.connect()
          wire.send(request('GET', path))
          await assert.rejects(wire.reply(), /ended in a reply|not a/, path)
          await assert.rejects(app.inject(path), { code: 'E_RESET' }, path)
        }
        assert.equal((await live.ask('/none')).status, 404)
      })
    })
  })
}
