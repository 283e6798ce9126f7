import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { HTTPError } from 'volant'
import { type Kit, request } from '../../kit.ts'

export function bodiesBeforeTheyAreRead(kit: Kit): void {
  describe('bodies', () => {
    describe('beforeBody', () => {
      const build = () => {
        const app = kit.app()
        const seen: string[] = []
        app.use((ctx, next) => {
          ctx.header('x-global', '1')
          return next()
        })
        app.post(
          '/up',
          {
            beforeBody: async (ctx) => {
              seen.push('check')
              await Promise.resolve()
              if (ctx.headers['authorization'] === 'json') return { refused: true }
              if (ctx.headers['authorization'] === 'body') return { body: ctx.body }
              if (ctx.headers['authorization'] === undefined) throw new HTTPError(401, 'who are you?')
              return undefined
            },
            maxBodySize: 100_000,
          },
          (ctx) => {
            seen.push('handler')
            return { length: ctx.bodyBytes.length, body: ctx.bodyText.length < 10 ? ctx.body : null }
          },
        )
        return { app, seen }
      }

      test('refuses without the body; 100 Continue is never sent', kit.needs('late-100'), async () => {
        const { app, seen } = build()
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 50000\r\nExpect: 100-continue\r\n\r\n')
          const reply = await wire.interim()
          assert.equal(reply.status, 401)
          assert.equal(reply.headers['x-global'], '1')
          assert.deepEqual(seen, ['check'])
        })
      })

      test('an empty one puts the check of the scope before the body', kit.needs('late-100'), async () => {
        const app = kit.app()
        const members = app.with(() => {
          throw new HTTPError(401)
        })
        members.post('/up', { beforeBody() {}, maxBodySize: 5_000_000 }, () => 'never')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('POST /up HTTP/1.1\r\nHost: h\r\nContent-Length: 5000000\r\n\r\n')
          assert.equal((await wire.reply()).status, 401)
        })
      })

      test('passes, and the handler has the whole body', async () => {
        const { app, seen } = build()
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(
            'POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: ok\r\nContent-Length: 50000\r\nExpect: 100-continue\r\n\r\n',
          )
          assert.equal((await wire.interim()).status, 100)
          wire.send('x'.repeat(50_000))
          assert.deepEqual((await wire.reply()).json(), { length: 50_000, body: null })
          assert.deepEqual(seen, ['check', 'handler'])
          const small = await live.post('/up', 'application/json', '{"a":1}', { authorization: 'ok' })
          assert.deepEqual(small.json(), { length: 7, body: { a: 1 } })
          const none = await live.ask('/up', { method: 'POST', headers: { authorization: 'ok' } })
          assert.deepEqual(none.json(), { length: 0 })
        })
      })

      test('may return the reply, and cannot have the body', async () => {
        const { app } = build()
        await kit.serve(app, async (live) => {
          assert.deepEqual((await live.post('/up', null, 'abc', { authorization: 'json' })).json(), {
            refused: true,
          })
          assert.equal((await live.post('/up', null, 'abc', { authorization: 'body' })).status, 500)
          assert.equal((kit.reports.at(-1) as { code: string }).code, 'E_BODY_UNREAD')
        })
      })

      test('a chunked body past the limit is 413', async () => {
        const { app, seen } = build()
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('POST /up HTTP/1.1\r\nHost: h\r\nAuthorization: ok\r\nTransfer-Encoding: chunked\r\n\r\n')
          wire.send(`${(100_001).toString(16)}\r\n${'x'.repeat(100_001)}\r\n0\r\n\r\n`)
          assert.equal((await wire.reply()).status, 413)
          assert.deepEqual(seen, ['check'])
        })
      })
    })

    test('Expect: 100-continue is answered once the limits are checked', kit.needs('late-100'), async () => {
      const app = kit.app({ limits: { maxBodySize: 10 } })
      app.post('/b', (ctx) => ctx.bodyText)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n')
        assert.equal((await wire.interim()).status, 100)
        wire.send('abc')
        assert.equal((await wire.reply()).text, 'abc')
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n')
        assert.equal((await wire.interim()).status, 413)
      })
    })

    test('another Expect is 417', async () => {
      const app = kit.app()
      app.post('/b', () => 1)
      await kit.serve(app, async (live) => {
        assert.equal((await live.post('/b', null, 'x', { expect: 'magic' })).status, 417)
      })
    })

    test('a body without a route or for a handler that ignores it does not become a request', async () => {
      const app = kit.app()
      app.get('/x', () => 'x')
      app.post('/early', { bodyMode: 'stream' }, () => 'early')
      await kit.serve(app, async (live) => {
        for (const path of ['/none', '/x', '/early']) {
          const wire = await live.connect()
          const inner = 'GET /x HTTP/1.1\r\nHost: h\r\n\r\n'
          wire.send(request('POST', path, {}, inner))
          const reply = await wire.reply()
          assert.notEqual(reply.text, 'x')
          wire.send('GET /x HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n')
          if (reply.headers['connection'] !== 'close') assert.equal((await wire.reply()).text, 'x')
          await wire.ended()
        }
      })
    })
  })
}
