import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { HTTPError, type VolantError } from 'volant'
import { deferred, eventually, type Kit, request, unchanging } from '../kit.ts'

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

export function bodies(kit: Kit): void {
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

    // What Node.js reads forms with takes boundaries from 27 characters on.
    const edge = 'boundary'.repeat(4)
    const boundary = `multipart/form-data; boundary=${edge}`
    const part = `--${edge}\r\nContent-Disposition: form-data; name="x"\r\n\r\nvalue`
    const forms: [name: string, type: string | null, body: string, status: number, code?: string][] = [
      ['a whole form', boundary, `${part}\r\n--${edge}--\r\n`, 200],
      ['a form of text', 'application/x-www-form-urlencoded', 'x=value', 200],
      ['an image', 'image/png', 'x', 415, 'E_BODY_TYPE'],
      ['JSON', 'application/json', '{"x":"value"}', 415, 'E_BODY_TYPE'],
      ['no type', null, 'x', 415, 'E_BODY_TYPE'],
      ['a broken type', 'multipart/form-data; =', part, 415, 'E_BODY_TYPE'],
      ['no body and no type', null, '', 415, 'E_BODY_TYPE'],
      ['no boundary', 'multipart/form-data', part, 400, 'E_BODY_MALFORMED'],
      ['another boundary', `${boundary}b`, part, 400, 'E_BODY_MALFORMED'],
      ['no end', boundary, part, 400, 'E_BODY_MALFORMED'],
      [
        'a part without a name',
        boundary,
        `--${edge}\r\n\r\nvalue\r\n--${edge}--\r\n`,
        400,
        'E_BODY_MALFORMED',
      ],
      ['nothing', boundary, '', 400, 'E_BODY_MALFORMED'],
    ]
    for (const bodyMode of ['buffer', 'stream'] as const) {
      for (const [name, type, body, status, code] of forms) {
        test(`ctx.request.formData() of ${name} is ${status} (${bodyMode})`, async () => {
          const app = kit.app()
          app.post('/f', { bodyMode }, async (ctx) => ({ x: (await ctx.request.formData()).get('x') }))
          app.post('/clone', { bodyMode }, async (ctx) => {
            await ctx.request.clone().formData()
            return { x: (await ctx.request.formData()).get('x') }
          })
          const headers: Record<string, string> = type === null ? {} : { 'content-type': type }
          const check = (given: number, json: unknown) => {
            assert.equal(given, status)
            if (code === undefined) assert.deepEqual(json, { x: 'value' })
            else assert.equal((json as { code: string }).code, code)
          }
          await kit.serve(app, async (live) => {
            const reports = kit.reports.length
            for (const path of ['/f', '/clone']) {
              const reply = await live.post(path, type, body)
              check(reply.status, reply.json())
            }
            const injected = await app.inject({ url: '/f', method: 'POST', headers, body: Buffer.from(body) })
            check(injected.status, injected.json())
            const init = { method: 'POST', headers, body: Buffer.from(body) }
            const fetched = await app.fetch(new Request('http://x/f', init))
            check(fetched.status, await fetched.json())
            assert.equal(kit.reports.length, reports)
          })
        })
      }
    }

    test('ctx.request: past the limit 413, compressed 415, malformed JSON 400, read twice 500', async () => {
      const app = kit.app()
      const options = { bodyMode: 'stream', maxBodySize: 1_000 } as const
      app.post('/form', options, async (ctx) => [...(await ctx.request.formData())].length)
      app.post('/json', options, (ctx) => ctx.request.json())
      app.post('/twice', options, async (ctx) => {
        await ctx.request.text()
        return [...(await ctx.request.formData())].length
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const chunked = { 'content-type': boundary, 'transfer-encoding': 'chunked' }
        const body = `3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`
        assert.equal((await wire.send(request('POST', '/form', chunked, body)).reply()).status, 413)
        const form = `${part}\r\n--${edge}--\r\n`
        assert.equal((await live.post('/form', boundary, form, { 'content-encoding': 'gzip' })).status, 415)
        assert.equal((await live.post('/json', 'text/plain', '[1]')).text, '[1]')
        const broken = await live.post('/json', 'text/plain', '[1')
        assert.deepEqual([broken.status, (broken.json() as { code: string }).code], [400, 'E_BODY_MALFORMED'])
        assert.equal((await live.post('/twice', boundary, form)).status, 500)
        assert.match(String(kit.reports.pop()), /TypeError: Body is unusable/)
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

    describe('streams', () => {
      test('chunks arrive as they are sent', async () => {
        const app = kit.app()
        const arrived: string[] = []
        app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
          for await (const chunk of ctx.bodyStream) arrived.push(Buffer.from(chunk).toString())
          return { all: arrived.join('') }
        })
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send('POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n')
          await eventually(() => arrived.length === 1, 'the first chunk')
          assert.deepEqual(arrived, ['abc'])
          wire.send('2\r\nde\r\n0\r\n\r\n')
          assert.deepEqual((await wire.reply()).json(), { all: 'abcde' })
        })
      })

      test('ctx.body of a stream route is an error', async () => {
        const app = kit.app()
        app.post('/s', { bodyMode: 'stream' }, (ctx) => ({ body: ctx.body }))
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/s', 'text/plain', 'x')).status, 500)
          assert.equal((kit.reports.at(-1) as { code: string }).code, 'E_BODY_STREAMED')
        })
      })

      test('20 MB arrive whole, and the client waits for a slow reader', async () => {
        const app = kit.app({ limits: { maxBodySize: 64_000_000 } })
        const total = 20_000_000
        let paused = 0
        app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
          const hash = createHash('sha256')
          let length = 0
          await unchanging(() => sent, 'the client waits')
          paused = sent
          for await (const chunk of ctx.bodyStream) {
            hash.update(chunk)
            length += chunk.length
          }
          return { length, hash: hash.digest('hex') }
        })
        let sent = 0
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const block = Buffer.alloc(100_000, 'abcdefghij')
          const hash = createHash('sha256')
          wire.send(`POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: ${total}\r\n\r\n`)
          for (; sent < total; sent += block.length) {
            hash.update(block)
            if (!wire.socket.write(block)) await new Promise((resolve) => wire.socket.once('drain', resolve))
          }
          assert.deepEqual((await wire.reply()).json(), { length: total, hash: hash.digest('hex') })
          assert.ok(paused < 16_000_000, `${paused} bytes were taken before anybody read`)
        })
      })

      test('past the limit the stream fails with 413', async () => {
        const app = kit.app()
        app.post('/s', { bodyMode: 'stream', maxBodySize: 1_000 }, async (ctx) => {
          let length = 0
          for await (const chunk of ctx.bodyStream) length += chunk.length
          return length
        })
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/s', null, 'x'.repeat(1_000))).text, '1000')
          assert.equal((await live.post('/s', null, 'x'.repeat(1_001))).status, 413)
          const wire = await live.connect()
          wire.send(
            `POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n${'x'.repeat(1_001)}\r\n0\r\n\r\n`,
          )
          assert.equal((await wire.reply()).status, 413)
        })
      })

      for (const wait of [0, 50])
        test(
          `a malformed chunk fails the stream with 400, ${wait} ms on`,
          kit.needs('malformed-body'),
          async () => {
            const app = kit.app()
            let failed: unknown
            app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
              try {
                if (wait > 0) await sleep(wait)
                for await (const chunk of ctx.bodyStream) assert.ok(chunk.length > 0)
              } catch (error) {
                failed = error
                throw error
              }
            })
            await kit.serve(app, async (live) => {
              const wire = await live.connect()
              wire.send('POST /s HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n')
              assert.equal((await wire.reply()).status, 400)
              await wire.ended()
              assert.equal((failed as { status: number }).status, 400)
            })
          },
        )

      test('it may be opened after the reply has begun', async () => {
        const app = kit.app()
        app.post('/late', { bodyMode: 'stream' }, (ctx) =>
          ctx.stream(
            (async function* () {
              yield 'begun '
              for await (const chunk of ctx.bodyStream) yield chunk
            })(),
          ),
        )
        await kit.serve(app, async (live) => {
          const reply = await live.post('/late', null, 'a'.repeat(100_000))
          assert.equal(reply.text, `begun ${'a'.repeat(100_000)}`)
        })
        const injected = await app.inject({ url: '/late', method: 'POST', body: 'b'.repeat(100_000) })
        assert.equal(injected.text(), `begun ${'b'.repeat(100_000)}`)
      })

      for (const opened of ['before', 'after'] as const) {
        test(`opened ${opened} the whole reply is given, it ends with it`, async () => {
          const app = kit.app()
          let ends: unknown[] = []
          app.onResponse((_, { status }) => void ends.push(status))
          app.post('/early', { bodyMode: 'stream' }, async (ctx) => {
            const early = opened === 'before' ? ctx.bodyStream.getReader() : null
            ctx.text('early')
            const reader = early ?? ctx.bodyStream.getReader()
            try {
              for (;;) if ((await reader.read()).done) break
            } catch (error) {
              ends.push((error as VolantError).code)
            }
          })
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            wire.send(request('POST', '/early', { 'content-length': '50000' }))
            assert.equal((await wire.reply()).text, 'early')
            await eventually(() => ends.length === 2, 'both ends')
            assert.deepEqual(ends, ['E_ABORTED', 200])
          })
          ends = []
          const cancelled = deferred()
          const body = new ReadableStream<Uint8Array>({ cancel: () => cancelled.resolve() })
          const injected = await app.inject({ url: '/early', method: 'POST', body })
          assert.equal(injected.text(), 'early')
          await cancelled.promise
          await eventually(() => ends.length === 2, 'both ends')
          assert.deepEqual(ends, ['E_ABORTED', 200])
        })
      }

      test('an echo of 5 MB flows both ways', async () => {
        const app = kit.app({ limits: { maxBodySize: 10_000_000 } })
        app.post('/echo', { bodyMode: 'stream' }, (ctx) => ctx.bodyStream)
        await kit.serve(app, async (live) => {
          const body = Buffer.alloc(5_000_000, 'echo!')
          const reply = await live.post('/echo', null, body)
          assert.equal(reply.status, 200)
          assert.ok(reply.body.equals(body))
        })
      })
    })
  })
}
