import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Kit } from '../../kit.ts'

/** Content type, body, and the parsed value or the status of the refusal. */
const table: [string, string | null, string | Buffer, unknown][] = [
  ['JSON', 'application/json', '{"a":[1,"é"]}', { a: [1, 'é'] }],
  ['JSON null', 'application/json', 'null', null],
  ['JSON with charset', 'application/json; charset=utf-8', '1', 1],
  ['JSON with quoted charset', 'application/json; charset="UTF-8"', '1', 1],
  ['JSON with us-ascii', 'application/json;charset=us-ascii', '1', 1],
  ['JSON in capitals', 'Application/JSON', '1', 1],
  ['JSON with a tab before the parameter', 'application/json\t; charset=utf-8', '1', 1],
  ['+json', 'application/vnd.api+json', '{"b":2}', { b: 2 }],
  ['a form', 'application/x-www-form-urlencoded', 'a=1&b=x+y&b=%C3%A9', { a: '1', b: ['x y', 'é'] }],
  [
    'a form with the name of a prototype',
    'application/x-www-form-urlencoded',
    '__proto__=1',
    JSON.parse('{"__proto__":"1"}'),
  ],
  ['text', 'text/plain', 'hé', 'hé'],
  ['text of another kind', 'text/csv', 'a,b', 'a,b'],
  ['U+FFFD itself', 'text/plain', '\ufffd', '\ufffd'],
  ['bytes', 'application/octet-stream', 'ab', { bytes: '6162' }],
  ['no content type', null, 'ab', { bytes: '6162' }],
  ['malformed JSON', 'application/json', '{"a":', 400],
  ['JSON with a byte order mark', 'application/json', '\ufeff{}', 400],
  ['JSON that is not UTF-8', 'application/json', Buffer.from([0x22, 0xff, 0x22]), 400],
  ['__proto__ in JSON', 'application/json', '{"__proto__":{"x":1}}', 400],
  ['__proto__ nested in JSON', 'application/json', '[{"a":{"__proto__":null}}]', 400],
  ['an escaped __proto__ in JSON', 'application/json', '{"\\u005f_proto__":1}', 400],
  ['__proto__ as a value', 'application/json', '{"a":"__proto__"}', { a: '__proto__' }],
  ['a malformed escape in a form', 'application/x-www-form-urlencoded', 'a=%zz', 400],
  ['another type', 'image/png', 'x', 415],
  ['multipart', 'multipart/form-data; boundary=x', 'x', 415],
  ['latin-1', 'application/json; charset=iso-8859-1', '1', 415],
  ['utf-16 text', 'text/plain; charset=utf-16le', 'x', 415],
  ['two charsets', 'application/json; charset=utf-8; charset=utf-16', '1', 415],
  ['a type without subtype', 'json', '1', 415],
  ['a type with a space in it', 'application/ json', '1', 415],
  ['a type with something after it', 'application/json x', '1', 415],
  ['two types', 'application/json, text/plain', '1', 415],
  ['a tab in the type', 'application/js\ton', '1', 415],
]

export function parsedBodies(kit: Kit): void {
  describe('bodies', () => {
    for (const [name, type, body, expected] of table) {
      test(`${name}, over the socket and injected`, async () => {
        const app = kit.app()
        app.post('/b', (ctx) => {
          const value = ctx.body
          assert.equal(ctx.body, value)
          return {
            value: value instanceof Uint8Array ? { bytes: Buffer.from(value).toString('hex') } : value,
          }
        })
        await kit.serve(app, async (live) => {
          const reply = await live.post('/b', type, body)
          const injected = await app.inject({
            method: 'POST',
            url: '/b',
            headers: type === null ? {} : { 'content-type': type },
            body,
          })
          for (const { status, json } of [reply, injected]) {
            if (typeof expected === 'number' && expected >= 400) {
              assert.equal(status, expected)
              assert.equal((json() as { status: number }).status, expected)
            } else {
              assert.equal(status, 200)
              assert.deepEqual(json(), { value: expected })
            }
          }
        })
      })
    }

    test('no body is undefined, whatever the type says', async () => {
      const app = kit.app()
      app.all('/b', (ctx) => ({
        none: ctx.body === undefined,
        length: ctx.bodyBytes.length,
        text: ctx.bodyText,
      }))
      await kit.serve(app, async (live) => {
        const none = { none: true, length: 0, text: '' }
        assert.deepEqual((await live.ask('/b')).json(), none)
        assert.deepEqual((await live.ask('/b', { method: 'POST' })).json(), none)
        const headers = { 'content-type': 'application/json' }
        assert.deepEqual((await live.ask('/b', { headers })).json(), none)
        assert.deepEqual(
          (await live.ask('/b', { method: 'POST', headers: { ...headers, 'content-length': '0' } })).json(),
          none,
        )
      })
    })

    test('content encodings are not read', async () => {
      const app = kit.app()
      app.post('/b', (ctx) => ({ body: ctx.body }))
      await kit.serve(app, async (live) => {
        assert.equal(
          (await live.post('/b', 'application/json', '1', { 'content-encoding': 'gzip' })).status,
          415,
        )
        assert.equal(
          (await live.post('/b', 'application/json', '1', { 'content-encoding': 'identity' })).status,
          200,
        )
      })
    })

    test('bodyText, bodyBytes and request.json', async () => {
      const app = kit.app()
      app.post('/t', (ctx) => ctx.bodyText)
      app.post('/y', (ctx) => ctx.bodyBytes)
      app.post('/w', async (ctx) => (await ctx.request.json()) as unknown)
      app.post('/s', async (ctx) => {
        let size = 0
        for await (const chunk of ctx.bodyStream) size += chunk.length
        return size
      })
      await kit.serve(app, async (live) => {
        assert.equal((await live.post('/t', 'image/png', 'héé')).text, 'héé')
        assert.equal((await live.post('/y', 'image/png', 'abc')).text, 'abc')
        assert.deepEqual((await live.post('/w', 'application/json', '{"a":1}')).json(), { a: 1 })
        assert.equal((await live.post('/s', null, 'abcd')).text, '4')
      })
    })

    test('a chunked body is a body', async () => {
      const app = kit.app()
      app.post('/b', (ctx) => ({ got: ctx.body }))
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send(
          'POST /b HTTP/1.1\r\nHost: h\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n',
        )
        wire.send(`2${kit.can('chunk-extensions') ? ';x=y' : ''}\r\nde\r\n0\r\n\r\n`)
        assert.deepEqual((await wire.reply()).json(), { got: 'abcde' })
      })
    })

    for (const [depth, status] of [
      [63, 200],
      [64, 200],
      [65, 400],
    ] as const) {
      test(`JSON ${depth} levels deep is ${status}`, async () => {
        const app = kit.app()
        app.post('/b', (ctx) => ({ ok: ctx.body !== null }))
        await kit.serve(app, async (live) => {
          const text = '['.repeat(depth) + '"]]["' + ']'.repeat(depth)
          assert.equal((await live.post('/b', 'application/json', text)).status, status)
          const objects = '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)
          assert.equal((await live.post('/b', 'application/json', objects)).status, status)
        })
      })
    }

    test('many shallow records are not deep', async () => {
      const app = kit.app()
      app.post('/b', (ctx) => (ctx.body as unknown[]).length)
      await kit.serve(app, async (live) => {
        const text = JSON.stringify(
          Array.from({ length: 500 }, (_, id) => ({ id, tags: ['[', '{', '\\"{'] })),
        )
        assert.equal((await live.post('/b', 'application/json', text)).text, '500')
      })
    })

    test('a checked value can take the place of the body', async () => {
      const app = kit.app()
      app.post(
        '/b',
        (ctx, next) => {
          ctx.body = { checked: ctx.body }
          return next()
        },
        (ctx) => ctx.json(ctx.body),
      )
      await kit.serve(app, async (live) =>
        assert.deepEqual((await live.post('/b', 'text/plain', 'x')).json(), { checked: 'x' }),
      )
    })
  })
}
