import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { VolantError } from 'volant'
import type { Kit } from '../../kit.ts'

/** Status, header fields and cookies of replies. */
export function replyHeads(kit: Kit): void {
  describe('replies', () => {
    test('a Response with two cookies and headers of its old connection', async () => {
      const app = kit.app()
      app.get('/x', () => {
        const headers = new Headers({
          'x-a': '1',
          'content-length': '99',
          connection: 'close',
          date: 'never',
        })
        headers.append('set-cookie', 'a=1')
        headers.append('set-cookie', 'b=2')
        return new Response('ok', { headers })
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.text, 'ok')
        assert.equal(reply.headers['x-a'], '1')
        assert.deepEqual(
          reply.raw.filter(([name]) => name.toLowerCase() === 'set-cookie').map(([, value]) => value),
          ['a=1', 'b=2'],
        )
        assert.equal(reply.raw.filter(([name]) => name.toLowerCase() === 'date').length, 1)
        assert.notEqual(reply.headers['date'], 'never')
      })
    })

    test('redirects', async () => {
      const app = kit.app()
      app.get('/a', (ctx) => ctx.redirect('/b'))
      app.get('/c', (ctx) => ctx.redirect('https://x.test/ü ?q=1', 308))
      app.get('/d', (ctx) => ctx.redirect('/x\r\nset-cookie: a=1'))
      app.get('/e', (ctx) => ctx.redirect('/x', 200 as 302))
      app.get('/f', (ctx) => ctx.redirect(new URL('http://x.test/') as unknown as string))
      await kit.serve(app, async (live) => {
        const first = await live.ask('/a')
        assert.equal(first.status, 302)
        assert.equal(first.headers['location'], '/b')
        assert.equal(first.headers['content-length'], '0')
        const second = await live.ask('/c')
        assert.equal(second.status, 308)
        assert.equal(second.headers['location'], 'https://x.test/%C3%BC%20?q=1')
        const third = await live.ask('/d')
        assert.equal(third.status, 500)
        assert.equal(third.headers['set-cookie'], undefined)
        for (const [path, code] of [
          ['/e', 'E_BAD_STATUS'],
          ['/f', 'E_BAD_OPTION'],
        ] as const) {
          const refused = await live.ask(path)
          assert.deepEqual([refused.status, refused.headers['location']], [500, undefined])
          assert.equal((kit.reports.pop() as VolantError).code, code)
        }
      })
    })

    test('header replaces, append adds, names in any case', async () => {
      const app = kit.app()
      app.get('/x', (ctx) =>
        ctx
          .header('X-A', 'old')
          .header('x-a', 'new')
          .append('Set-Cookie', 'a=1')
          .append('set-cookie', 'b=2')
          .header('x-n', 5)
          .text(''),
      )
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.headers['x-a'], 'new')
        assert.equal(reply.headers['x-n'], '5')
        assert.equal(reply.headers['set-cookie'], 'a=1, b=2')
      })
    })

    const statuses: [unknown, boolean][] = [
      [200, true],
      [299, true],
      [599, true],
      [199, false],
      [600, false],
      [100, false],
      [NaN, false],
      ['200', false],
      [200.5, false],
      [Infinity, false],
    ]

    for (const [status, good] of statuses) {
      test(`status ${JSON.stringify(status)} is ${good ? 'sent' : 'refused'}`, async () => {
        const app = kit.app()
        app.get('/x', (ctx) => ctx.text('', status as number))
        await kit.serve(app, async (live) => assert.equal((await live.ask('/x')).status, good ? status : 500))
      })
    }
  })
}
