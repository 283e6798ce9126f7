import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { checkHeader, type VolantError } from 'volant'
import type { Kit } from '../kit.ts'

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]$/

/** S5: what a handler may put into a reply's head. */
export function headers(kit: Kit): void {
  describe('reply headers', () => {
    test('each of the 256 bytes in a value: sent as it is, or refused', async () => {
      const app = kit.app()
      app.get('/v', (ctx) => {
        const byte = String.fromCharCode(Number(ctx.query['byte']))
        return ctx.header('x-v', `a${byte}b`).header('x-after', 'yes').text('ok')
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let byte = 0; byte < 256; byte++) {
          wire.send(`GET /v?byte=${byte} HTTP/1.1\r\nHost: h\r\n\r\n`)
          const reply = await wire.reply()
          const good = byte === 9 || (byte >= 32 && byte !== 127)
          assert.equal(reply.status, good ? 200 : 500, `byte ${byte}`)
          assert.equal(
            reply.headers['x-v'],
            good ? `a${String.fromCharCode(byte)}b` : undefined,
            `byte ${byte}`,
          )
          if (good) assert.equal(reply.headers['x-after'], 'yes')
        }
      })
    })

    test('each of the 256 bytes in a name: sent as it is, or refused', async () => {
      const app = kit.app()
      app.get('/n', (ctx) =>
        ctx.header(`x${String.fromCharCode(Number(ctx.query['byte']))}y`, 'v').text('ok'),
      )
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        for (let byte = 0; byte < 256; byte++) {
          wire.send(`GET /n?byte=${byte} HTTP/1.1\r\nHost: h\r\n\r\n`)
          const reply = await wire.reply()
          const character = String.fromCharCode(byte)
          const good = token.test(character)
          assert.equal(reply.status, good ? 200 : 500, `byte ${byte}`)
          if (good) assert.equal(reply.headers[`x${character}y`.toLowerCase()], 'v', `byte ${byte}`)
        }
      })
    })

    test('characters past 0xFF are refused', () => {
      for (const value of ['\u0100', '\u010a', '\u{1f600}', 'a\u560d\u560ab']) {
        assert.throws(
          () => checkHeader('x', value),
          (error: VolantError) => error.code === 'E_BAD_HEADER',
        )
        assert.throws(
          () => checkHeader(`x${value}`, 'v'),
          (error: VolantError) => error.code === 'E_BAD_HEADER',
        )
      }
      assert.throws(() => checkHeader('', 'v'))
      checkHeader('x', '')
    })

    const framing = [
      'Content-Length',
      'Transfer-Encoding',
      'Connection',
      'Keep-Alive',
      'Upgrade',
      'Date',
      'Trailer',
      'TE',
    ]
    for (const name of framing) {
      test(`${name} is the server's own`, async () => {
        const app = kit.app()
        app.get('/x', (ctx) => ctx.header(name, '1').text('ok'))
        app.get('/y', (ctx) => ctx.append(name.toLowerCase(), '1').text('ok'))
        await kit.serve(app, async (live) => {
          for (const path of ['/x', '/y']) {
            const reply = await live.ask(path)
            assert.equal(reply.status, 500)
            assert.equal(reply.raw.filter(([key]) => key.toLowerCase() === 'content-length').length, 1)
          }
        })
      })
    }

    test('a bad header in an HTTPError does not reach the wire', async () => {
      const { HTTPError } = await import('volant')
      const app = kit.app()
      app.get('/x', () => {
        throw new HTTPError(400, 'x', { headers: { 'x-a': 'a\r\nx-b: c' } })
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['x-b'], undefined)
      })
    })

    test('a content type given to ctx.stream is checked', async () => {
      const app = kit.app()
      app.get('/x', (ctx) => ctx.stream(['a'], { type: 'text/x\r\nx-b: c' }))
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['x-b'], undefined)
      })
    })

    test('headers set before an error stay, those of the content do not', async () => {
      const app = kit.app()
      app.get('/x', (ctx) => {
        ctx
          .header('access-control-allow-origin', '*')
          .header('etag', '"1"')
          .header('content-type', 'text/csv')
          .status(201)
        throw new Error('late')
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['access-control-allow-origin'], '*')
        assert.equal(reply.headers['etag'], undefined)
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
      })
    })
  })
}
