import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as z from 'zod'
import { before, type Context, HTTPError } from 'volant'
import { rateLimit } from 'volant/rate-limit'
import { deferred, type Kit } from '../../kit.ts'
import { handshake, Peer } from '../../peer.ts'
import { refused, codeOf } from './refused.ts'
import { frameworkClock, passes } from '../../time-limit.ts'

/** What refuses a WebSocket: each refusal is an ordinary reply, and HTTP goes on. */
export function socketRefusals(kit: Kit): void {
  describe('the upgrade to a WebSocket', () => {
    describe('refusals', () => {
      test('middleware in front answers', async () => {
        const app = kit.app()
        let asked = 0
        const guard = before((ctx) =>
          ctx.query['token'] === 'right' ? undefined : ctx.json({ no: true }, 401),
        )
        app.with(guard).ws('/a', { upgrade: () => void asked++ })
        const reply = await refused(kit, app, '/a')
        assert.deepEqual([reply.status, reply.json(), asked], [401, { no: true }, 0])
      })

      test('schemas', async () => {
        const app = kit.app()
        app.ws('/a/:id', {
          params: z.object({ id: z.coerce.number() }),
          query: z.object({ as: z.string() }),
          upgrade: (ctx) => ctx.params.id + 1,
          open: (ws) => ws.json(ws.data),
        })
        const reply = await refused(kit, app, '/a/x')
        const { code, errors } = reply.json() as { code: string; errors: { in: string }[] }
        assert.deepEqual(
          [reply.status, code, errors.map((each) => each.in)],
          [400, 'E_VALIDATION', ['params', 'query']],
        )
        const again = kit.app()
        again.ws('/a/:id', {
          params: z.object({ id: z.coerce.number() }),
          upgrade: (ctx) => ctx.params.id + 1,
          open: (ws) => ws.json(ws.data),
        })
        await kit.serve(again, async (live) =>
          assert.equal(await (await Peer.open(live, '/a/1')).text(), '2'),
        )
      })

      const ways: [string, { upgrade: (ctx: Context) => unknown }, number][] = [
        ['upgrade replies', { upgrade: (ctx) => ctx.text('no', 403) }, 403],
        [
          'upgrade replies later',
          { upgrade: async (ctx) => (await Promise.resolve(), ctx.json({}, 402)) },
          402,
        ],
        ['upgrade returns a Response', { upgrade: () => new Response('no', { status: 404 }) }, 404],
        ['upgrade redirects', { upgrade: (ctx) => ctx.redirect('/login') }, 302],
        [
          'upgrade throws an HTTPError',
          {
            upgrade: () => {
              throw new HTTPError(409)
            },
          },
          409,
        ],
        ['upgrade rejects', { upgrade: () => Promise.reject(new HTTPError(418)) }, 418],
        ['upgrade returns an error', { upgrade: () => new HTTPError(410) }, 410],
      ]
      for (const [name, options, status] of ways) {
        test(name, async () => {
          const app = kit.app()
          let opened = 0
          app.ws('/a', { ...options, open: () => void opened++ })
          const reply = await refused(kit, app, '/a')
          assert.deepEqual([reply.status, opened], [status, 0])
          assert.equal(reply.headers['upgrade'], undefined)
        })
      }

      test('a declared error, and an unexpected one', async () => {
        const app = kit.app()
        app.ws('/a', {
          errors: { FULL: { status: 409 } },
          upgrade(ctx) {
            throw ctx.fail('FULL')
          },
        })
        const reply = await refused(kit, app, '/a')
        assert.deepEqual([reply.status, codeOf(reply)], [409, 'FULL'])
        const broken = kit.app()
        const reports = kit.reports.length
        broken.ws('/a', {
          upgrade() {
            throw new Error('broken')
          },
        })
        assert.equal((await refused(kit, broken, '/a')).status, 500)
        assert.equal((kit.reports[reports] as Error).message, 'broken')
      })

      test('a send hook that sets another status', async () => {
        const app = kit.app()
        let opened = 0
        app.onSend((ctx, reply) => {
          if (reply.status !== 101) return
          reply.status = 403
          reply.body = `no ${ctx.path}`
        })
        app.ws('/a', { open: () => void opened++ })
        const reply = await refused(kit, app, '/a')
        assert.deepEqual([reply.status, reply.text, opened], [403, 'no /a', 0])
      })

      test('a send hook that fails, or sets a body alone, gives 500', async () => {
        for (const hook of ['throws', 'body']) {
          const app = kit.app()
          let opened = 0
          const reports = kit.reports.length
          app.onSend((_, reply) => {
            if (reply.status !== 101) return
            if (hook === 'throws') throw new Error('hook')
            reply.body = 'x'
          })
          app.ws('/a', { open: () => void opened++ })
          const reply = await refused(kit, app, '/a')
          assert.deepEqual([reply.status, opened], [500, 0])
          assert.equal(kit.reports.length, reports + 1)
        }
      })

      test('a rate limit counts upgrades as requests', async () => {
        const app = kit.app()
        app.use(rateLimit({ max: 1, timeWindow: '1 day' }))
        app.ws('/a', {})
        await kit.serve(app, async (live) => {
          await Peer.open(live, '/a')
          const reply = await live.ask('/a', { headers: { ...handshake, connection: 'upgrade, close' } })
          assert.equal(reply.status, 429)
        })
      })

      test('the time of the handler', async (t) => {
        const clock = frameworkClock(t)
        const app = kit.app()
        const entered = deferred<void>()
        app.ws('/a', {
          handlerTimeout: 30_000,
          upgrade: () => (entered.resolve(), new Promise(() => {})),
        })
        let status = 0
        const reply = refused(kit, app, '/a').then((refusal) => (status = refusal.status))
        await entered.promise
        await passes(clock, 30_000, () => status !== 0, 'the reply')
        await reply
        assert.equal(status, 503)
      })
    })
  })
}
