import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, type Context, type Next, type VolantError } from 'volant'
import { deferred, eventually, type Kit, request, within, turns } from '../kit.ts'

const circle: Record<string, unknown> = {}
circle['self'] = circle

/** Calls that belong before the end of the handler, also with what none of them takes. An uncaught error fails the case. */
const calls: [method: string, call: (ctx: Context) => unknown][] = [
  ['ctx.json', (ctx) => ctx.json({})],
  ['ctx.json', (ctx) => ctx.json(circle)],
  ['ctx.text', (ctx) => ctx.text('')],
  ['ctx.text', (ctx) => ctx.text('', 99)],
  ['ctx.html', (ctx) => ctx.html('')],
  ['ctx.bytes', (ctx) => ctx.bytes(new Uint8Array(1))],
  ['ctx.bytes', (ctx) => ctx.bytes('x' as never)],
  ['ctx.stream', (ctx) => ctx.stream(['x'])],
  ['ctx.stream', (ctx) => ctx.stream(5 as never)],
  ['ctx.reply', (ctx) => ctx.reply(200, {})],
  ['ctx.reply', (ctx) => ctx.reply(99)],
  ['ctx.redirect', (ctx) => ctx.redirect('/')],
  ['ctx.redirect', (ctx) => ctx.redirect('/\n')],
  ['ctx.file', async (ctx) => await ctx.file('package.json')],
  ['ctx.file', async (ctx) => await ctx.file('none')],
  ['ctx.earlyHints', (ctx) => ctx.earlyHints({ link: '</a.css>; rel=preload' })],
  ['ctx.earlyHints', (ctx) => ctx.earlyHints(5 as never)],
  ['the status', (ctx) => ctx.status(99)],
  ['the header X-A', (ctx) => ctx.header('X-A', '\n')],
  ['the header x-a', (ctx) => ctx.append('x-a', '1')],
  ['the cookie a', (ctx) => ctx.cookie('a', '1')],
  ['the cookie ;', (ctx) => ctx.cookie(';', '1')],
  ['the cookie a', (ctx) => ctx.clearCookie('a')],
]

export function lateReplies(kit: Kit): void {
  describe('what comes after the reply', () => {
    const routes: [path: string, around: (ctx: Context, next: Next) => unknown][] = [
      ['/plain/:n', before(() => {})],
      ['/behind/:n', (_, next) => next()],
    ]

    test('of a handler that returned nothing it is reported and dropped: nobody could catch an error', async () => {
      for (const [path, around] of routes) {
        const told: VolantError[] = []
        const app = kit.app({ report: (error) => void told.push(error as VolantError) })
        const done = calls.map(() => deferred())
        const go = calls.map(() => deferred())
        app.get(path, around, (ctx) => {
          const n = Number(ctx.params.n)
          void go[n]?.promise.then(() => {
            // A callback calls it like this: an error thrown here would be uncaught.
            setImmediate(() => {
              void calls[n]?.[1](ctx as unknown as Context)
              setImmediate(() => done[n]?.resolve())
            })
          })
        })
        await kit.serve(app, async (live) => {
          for (const [n, [what]] of calls.entries()) {
            const reply = await live.ask(path.replace(':n', String(n)))
            assert.deepEqual([reply.status, reply.text], [204, ''])
            go[n]?.resolve()
            await within(done[n]?.promise as Promise<void>, 'the callback')
            const kind = what.startsWith('ctx.') ? 'called' : 'set'
            assert.deepEqual(
              told.splice(0).map(({ code, message }) => [code, message]),
              [
                [
                  'E_ALREADY_REPLIED',
                  `${what} was ${kind} after GET ${path} had its reply, and was dropped: the handler had returned nothing, so 204 was sent. Return or await what it starts`,
                ],
              ],
            )
          }
        })
      }
    })

    test('while the handler runs it is reported and dropped, and the handler goes on', async () => {
      const app = kit.app()
      const ran: string[] = []
      app.get('/:n', async (ctx) => {
        ctx.text('first', 202)
        const call = calls[Number(ctx.params.n)]?.[1]
        await call?.(ctx as unknown as Context)
        // A callback calls it like this.
        await new Promise<void>((resolve) =>
          setImmediate(() => {
            void call?.(ctx as unknown as Context)
            resolve()
          }),
        )
        ran.push(`${ctx.status()} ${ctx.params.n}`)
      })
      await kit.serve(app, async (live) => {
        for (const [n, [what]] of calls.entries()) {
          const reported = kit.reports.length
          const reply = await live.ask(`/${n}`)
          assert.deepEqual([reply.status, reply.text], [202, 'first'], what)
          await eventually(() => ran.pop() === `202 ${n}`, 'the end of the handler')
          const told = kit.reports.splice(reported) as VolantError[]
          assert.deepEqual(
            told.map(({ code }) => code),
            ['E_ALREADY_REPLIED', 'E_ALREADY_REPLIED'],
          )
          for (const { message } of told) {
            assert.ok(message.startsWith(`${what} was `), message)
            assert.match(
              message,
              / after GET \/:n had its reply, and was dropped: (return after replying|set it before, or in an onSend hook \(docs\/guide\/06-middleware\.md#onsend\))$/,
            )
          }
        }
      })
    })

    test('a stream goes on', async () => {
      const app = kit.app()
      app.get('/s', (ctx) => {
        ctx.stream(
          (async function* () {
            yield 'a'
            ctx.header('x-late', '1')
            ctx.json({})
            yield 'b'
          })(),
        )
      })
      await kit.serve(app, async (live) => {
        const reported = kit.reports.length
        assert.equal((await live.ask('/s')).text, 'ab')
        assert.deepEqual(
          kit.reports.splice(reported).map((error) => (error as VolantError).message),
          [
            'the header x-late was set after GET /s had its reply, and was dropped: set it before, or in an onSend hook (docs/guide/06-middleware.md#onsend)',
            'ctx.json was called after GET /s had its reply, and was dropped: return after replying',
          ],
        )
      })
    })

    test('it never reaches the request that follows', async () => {
      const app = kit.app()
      const go = deferred()
      const late: Promise<unknown>[] = []
      app.get('/cb', (ctx) => {
        late.push(go.promise.then(() => ctx.json({ of: 'another' })))
      })
      app.get('/next', async () => {
        go.resolve()
        await Promise.all(late)
        // Meanwhile what came late would be written.
        await turns()
        return 'mine'
      })
      await kit.serve(app, async (live) => {
        const reported = kit.reports.length
        const wires = await Promise.all(Array.from({ length: 8 }, () => live.connect()))
        for (const wire of wires) assert.equal((await wire.send(request('GET', '/cb')).reply()).status, 204)
        for (const wire of wires) wire.send(request('GET', '/next'))
        for (const wire of wires) assert.equal((await wire.reply()).text, 'mine')
        assert.equal(kit.reports.splice(reported).length, 8)
      })
    })

    test('onResponse is told of a second reply', async () => {
      const app = kit.app()
      const told = deferred<unknown>()
      app.onResponse((_, { error }) => told.resolve(error))
      app.get('/x', async (ctx) => {
        ctx.text('first')
        ctx.text('second')
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/x')).text, 'first')
        assert.equal(((await told.promise) as VolantError).code, 'E_ALREADY_REPLIED')
        assert.equal((kit.reports.pop() as VolantError).code, 'E_ALREADY_REPLIED')
      })
    })
  })
}
