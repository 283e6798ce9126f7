import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { HTTPError, type ResponseInfo } from 'volant'
import { deferred, eventually, type Kit, readSlowly, request, within } from '../kit.ts'

const edges = (limit: number, past: number): [number, number][] => [
  [limit - 1, 200],
  [limit, 200],
  [limit + 1, past],
]

/** One below, at, and one above, for each limit an application can see. */
export function limits(kit: Kit): void {
  describe('limits', () => {
    for (const [size, status] of edges(1_048_576, 413)) {
      test(`a body of ${size} bytes is ${status}`, async () => {
        const app = kit.app()
        app.post('/b', (ctx) => ctx.bodyBytes.length)
        await kit.serve(app, async (live) => {
          const reply = await live.post('/b', null, Buffer.alloc(size))
          assert.equal(reply.status, status)
          if (status === 200) assert.equal(reply.text, String(size))
        })
      })
    }

    for (const [size, status] of edges(100, 413)) {
      test(`a route's maxBodySize of 100 with ${size} bytes is ${status}, with length and chunked`, async () => {
        const app = kit.app({ limits: { maxBodySize: 1_000 } })
        app.post('/small', { maxBodySize: 100 }, (ctx) => ctx.bodyBytes.length)
        app.post('/large', { maxBodySize: 5_000 }, (ctx) => ctx.bodyBytes.length)
        await kit.serve(app, async (live) => {
          assert.equal((await live.post('/small', null, 'x'.repeat(size))).status, status)
          const wire = await live.connect()
          wire.send(
            `POST /small HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`,
          )
          assert.equal((await wire.reply()).status, status)
          assert.equal((await live.post('/large', null, 'x'.repeat(4_000))).status, 200)
        })
      })
    }

    test('413 is said before the body is sent', async () => {
      const app = kit.app()
      app.post('/b', () => 1)
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1048577\r\n\r\n')
        const reply = await wire.reply()
        assert.equal(reply.status, 413)
        assert.equal((reply.json() as { code: string }).code, 'E_BODY_TOO_LARGE')
      })
    })

    test('maxBodySize 0 takes no body', async () => {
      const app = kit.app()
      app.post('/b', { maxBodySize: 0 }, () => 'ok')
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/b', { method: 'POST' })).status, 200)
        assert.equal((await live.post('/b', null, 'x')).status, 413)
      })
    })

    for (const [count, status] of edges(1_000, 400)) {
      test(`${count} query keys are ${status}`, async () => {
        const app = kit.app()
        app.get('/q', (ctx) => Object.keys(ctx.query).length)
        await kit.serve(app, async (live) => {
          const query = Array.from({ length: count }, (_, at) => at.toString(36)).join('&')
          assert.equal((await live.ask(`/q?${query}`)).status, status)
        })
      })

      test(`${count} form keys are ${status}`, async () => {
        const app = kit.app()
        app.post('/f', (ctx) => Object.keys(ctx.body as object).length)
        await kit.serve(app, async (live) => {
          const form = Array.from({ length: count }, (_, at) => `k${at}=1`).join('&')
          assert.equal((await live.post('/f', 'application/x-www-form-urlencoded', form)).status, status)
        })
      })
    }

    test('a reply larger than maxBufferedReplies is 500, and its report says what to do', async () => {
      const limit = 20_000
      const app = kit.app({ limits: { maxBufferedReplies: limit } })
      app.get('/bytes/:length', (ctx) => Buffer.alloc(Number(ctx.params.length), 'x'))
      app.get('/text/:length', (ctx) => 'x'.repeat(Number(ctx.params.length)))
      // The limit is in bytes, of which such a character takes three.
      app.get('/wide/:length', ({ params: { length } }) => '€'.repeat(+length / 3) + 'x'.repeat(+length % 3))
      app.get('/stream/:length', (ctx) => ctx.stream(['x'.repeat(Number(ctx.params.length))].values()))
      await kit.serve(app, async (live) => {
        for (const kind of ['bytes', 'text', 'wide']) {
          for (const [length, status] of [
            [limit - 1, 200],
            [limit, 200],
            [limit + 1, 500],
          ] as const) {
            kit.reports.length = 0
            const reply = await live.ask(`/${kind}/${length}`)
            assert.equal(reply.status, status, `${kind} of ${length}`)
            if (status === 200) {
              assert.equal(reply.body.length, length)
              continue
            }
            const [report] = kit.reports as [{ code: string; message: string }]
            assert.equal(report.code, 'E_REPLY_TOO_LARGE')
            assert.match(report.message, new RegExp(`GET /${kind}/:length is 20001 bytes long.*stream it`))
          }
        }
        assert.equal((await live.ask(`/stream/${limit + 1}`)).body.length, limit + 1)
      })
    })

    test('keys are counted, not only different ones', async () => {
      const app = kit.app({ limits: { maxQueryKeys: 3 } })
      app.get('/q', (ctx) => ({ query: ctx.query }))
      await kit.serve(app, async (live) => {
        assert.equal((await live.ask('/q?a&a&a')).status, 200)
        assert.equal((await live.ask('/q?a&a&a&a')).status, 400)
        assert.equal((await live.ask('/q?&&&&a&a&a&&')).status, 200)
      })
    })

    for (const [length, status] of edges(256, 414)) {
      test(`a parameter of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/p/:v', (ctx) => ctx.params.v.length)
        await kit.serve(app, async (live) =>
          assert.equal((await live.ask(`/p/${'x'.repeat(length)}`)).status, status),
        )
      })
    }

    test('the rest of a path is bounded as the target is; parameters before it as others are', async () => {
      const app = kit.app()
      app.get('/files/:kind/*rest', (ctx) => ctx.params.rest.length)
      await kit.serve(app, async (live) => {
        const long = await live.ask(`/files/a/${'x/'.repeat(2_000)}`)
        assert.deepEqual([long.status, long.text], [200, '4000'])
        assert.equal((await live.ask(`/files/${'x'.repeat(257)}/a`)).status, 414)
        assert.equal((await live.ask(`/files/a/${'x'.repeat(8_192)}`)).status, 414)
      })
    })

    for (const [length, status] of edges(8_192, 414)) {
      test(`a target of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/q', () => 'ok')
        await kit.serve(app, async (live) =>
          assert.equal((await live.ask(`/q?${'x'.repeat(length - 3)}`)).status, status),
        )
      })
    }

    for (const [count, status] of edges(100, 431)) {
      test(
        `${count} header fields are ${status}`,
        count > 100 ? {} : kit.needs('past-98-fields'),
        async () => {
          const app = kit.app()
          app.get('/h', (ctx) => Object.keys(ctx.headers).length)
          await kit.serve(app, async (live) => {
            // Host and Connection are two of them.
            const more = Object.fromEntries(Array.from({ length: count - 2 }, (_, at) => [`x-${at}`, 'v']))
            const reply = await live.ask('/h', { headers: more })
            assert.equal(reply.status, status)
            if (status === 200) assert.equal(reply.text, String(count))
          })
        },
      )
    }

    for (const [maxHeaders, count] of [
      [100, 101],
      [100, 1_000],
      [10, 11],
      [10, 40],
    ] as const) {
      test(
        `${count} header fields where ${maxHeaders} may be are E_TOO_MANY_FIELDS, and the connection ends`,
        count > 98 ? kit.needs('past-98-fields') : {},
        async () => {
          const app = kit.app({ limits: { maxHeaders } })
          app.get('/h', () => 'ok')
          await kit.serve(app, async (live) => {
            const wire = await live.connect()
            const fields = 'x: v\r\n'.repeat(count - 1)
            wire.send(request('GET', '/h')).send(`GET /h HTTP/1.1\r\nHost: h\r\n${fields}\r\n`)
            assert.equal((await wire.reply()).status, 200)
            const reply = await wire.reply()
            assert.equal((reply.json() as { code: string }).code, 'E_TOO_MANY_FIELDS')
            await wire.ended()
          })
        },
      )
    }

    for (const [length, status] of edges(8_192, 431)) {
      test(`a header line of ${length} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/h', () => 'ok')
        await kit.serve(app, async (live) => {
          const reply = await live.ask('/h', {
            headers: { 'x-long': 'v'.repeat(length - 'x-long: '.length) },
          })
          assert.equal(reply.status, status)
        })
      })
    }

    for (const [size, status] of [
      [12_000, 200],
      [20_000, 431],
    ] as const) {
      test(`a head of about ${size} bytes is ${status}`, async () => {
        const app = kit.app()
        app.get('/h', () => 'ok')
        await kit.serve(app, async (live) => {
          const more = Object.fromEntries(
            Array.from({ length: 10 }, (_, at) => [`x-${at}`, 'v'.repeat(size / 10)]),
          )
          assert.equal((await live.ask('/h', { headers: more })).status, status)
        })
      })
    }

    for (const [depth, status] of edges(3, 400)) {
      test(`maxJsonDepth 3 with ${depth} levels is ${status}`, async () => {
        const app = kit.app({ limits: { maxJsonDepth: 3 } })
        app.post('/j', (ctx) => ({ ok: ctx.body !== null }))
        await kit.serve(app, async (live) => {
          assert.equal(
            (await live.post('/j', 'application/json', '['.repeat(depth) + ']'.repeat(depth))).status,
            status,
          )
        })
      })
    }

    test('requests past maxInFlight are 503', async () => {
      const app = kit.app({ limits: { maxInFlight: 2 } })
      const gate = deferred()
      app.get('/wait', async () => {
        await gate.promise
        return 'done'
      })
      app.get('/now', () => 'now')
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        first.send(request('GET', '/wait'))
        second.send(request('GET', '/wait'))
        await eventually(() => app.stats().inFlight === 2, 'two in flight')
        const refused = await live.ask('/now')
        assert.equal(refused.status, 503)
        gate.resolve()
        assert.equal((await first.reply()).text, 'done')
        assert.equal((await second.reply()).text, 'done')
        assert.equal((await live.ask('/now')).text, 'now')
      })
    })

    test('connections past maxConnections are refused', async () => {
      const app = kit.app({ limits: { maxConnections: 2 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        assert.equal((await first.send(request('GET', '/x')).reply()).text, 'ok')
        assert.equal((await second.send(request('GET', '/x')).reply()).text, 'ok')
        // Over TLS the handshake of the third connection fails.
        const third = await live.connect().catch(() => null)
        assert.ok(kit.scheme === 'http' ? third : third === null)
        await third?.ended()
        first.close()
        await eventually(() => app.stats().connections === 1, 'one connection')
        assert.equal((await live.ask('/x')).text, 'ok')
      })
    })

    const counted = kit.needs('maxConnectionsPerAddress')
    test('maxConnectionsPerAddress leaves room for other addresses', counted, async () => {
      const app = kit.app({ limits: { maxConnectionsPerAddress: 2 } })
      app.get('/x', (ctx) => ctx.ip)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        const second = await live.connect()
        for (const each of [first, second])
          assert.equal((await each.send(request('GET', '/x')).reply()).text, '127.0.0.1')
        const third = await live.connect().catch(() => null)
        assert.ok(kit.scheme === 'http' ? third : third === null)
        await third?.ended()
        // Only Linux has a second loopback address without configuration.
        if (process.platform === 'linux') {
          const other = await live.connect('127.0.0.2')
          assert.equal((await other.send(request('GET', '/x')).reply()).text, '127.0.0.2')
          other.close()
        }
        first.close()
        await eventually(() => app.stats().connections === 1, 'one connection')
        assert.equal((await live.ask('/x')).text, '127.0.0.1')
      })
    })

    test('bodies past maxBufferedBodies are 503', async () => {
      const app = kit.app({ limits: { maxBodySize: 2_000_000, maxBufferedBodies: 3_000_000 } })
      app.post('/b', (ctx) => ctx.bodyBytes.length)
      await kit.serve(app, async (live) => {
        const first = await live.connect()
        first.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2000000\r\n\r\n')
        first.send(Buffer.alloc(1_999_999))
        // Nothing tells when the server has read them; had it not, the first body would be the one refused.
        await sleep(200)
        const second = await live.connect()
        second.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 1500000\r\n\r\n')
        second.send(Buffer.alloc(1_200_000))
        assert.equal((await second.reply()).status, 503)
        first.send('x')
        assert.equal((await first.reply()).text, '2000000')
        assert.equal((await live.post('/b', null, Buffer.alloc(1_500_000))).text, '1500000')
      })
    })

    test('a body refused for maxBufferedBodies is not counted while its rest is discarded', async () => {
      const app = kit.app({ limits: { maxBodySize: 2_000, maxBufferedBodies: 2_000, drainTimeout: 60_000 } })
      app.post('/b', (ctx) => ctx.bodyBytes.length)
      const head = 'POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: '
      await kit.serve(app, async (live) => {
        const refused = await live.connect()
        refused.send(`${head}1900\r\n\r\n`).send(Buffer.alloc(900))
        const held = await live.connect()
        held.send(`${head}1900\r\n\r\n`).send(Buffer.alloc(900))
        // Nothing tells when the server has read them.
        await sleep(100)
        refused.send(Buffer.alloc(500))
        assert.equal((await refused.reply()).status, 503)
        // The rest of it is awaited, and there is room for as much as it had.
        assert.equal((await live.post('/b', null, Buffer.alloc(1_000))).text, '1000')
        held.send(Buffer.alloc(1_000))
        assert.equal((await held.reply()).text, '1900')
      })
    })

    test('an idle connection is closed after keepAliveTimeout', kit.needs('keepAliveTimeout'), async () => {
      const app = kit.app({ limits: { keepAliveTimeout: 150 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const start = Date.now()
        await wire.send(request('GET', '/x')).reply()
        await wire.ended()
        const took = Date.now() - start
        assert.ok(took >= 100 && took < 8_000, `${took} ms`)
      })
    })

    test('a head that does not arrive is 408 after headersTimeout', kit.needs('headersTimeout'), async () => {
      const app = kit.app({ limits: { headersTimeout: 250 } })
      app.get('/x', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('GET /x HTTP/1.1\r\nHo')
        assert.equal((await wire.reply()).status, 408)
        await wire.ended()
      })
    })

    test('a body that does not arrive is 408 after requestTimeout', async () => {
      const app = kit.app({ limits: { requestTimeout: 300, headersTimeout: 300, drainTimeout: 300 } })
      app.post('/b', () => 'ok')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        assert.equal((await wire.reply()).status, 408)
        await wire.ended()
      })
    })

    test('a body that is read as a stream and does not arrive is 408 after requestTimeout', async () => {
      const app = kit.app({ limits: { requestTimeout: 700, headersTimeout: 500 } })
      const reports = kit.reports.length
      const failed = deferred<unknown>()
      const stopped = deferred()
      const heard = deferred<ResponseInfo>()
      app.onResponse((_, info) => heard.resolve(info))
      app.post('/s', { bodyMode: 'stream' }, async (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.resolve())
        try {
          for await (const _ of ctx.bodyStream);
        } catch (error) {
          failed.resolve(error)
          throw error
        }
        return 'whole'
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        const reply = await wire.reply()
        assert.deepEqual([reply.status, reply.headers['connection']], [408, 'close'])
        assert.equal((reply.json() as { code: string }).code, 'E_REQUEST_TIMEOUT')
        await wire.ended()
        const error = await within(failed.promise, 10_000, 'the failure of the body')
        assert.ok(error instanceof HTTPError)
        assert.deepEqual([error.status, error.code], [408, 'E_REQUEST_TIMEOUT'])
        await within(stopped.promise, 10_000, 'the abort of ctx.signal')
        const { status, aborted } = await within(heard.promise, 10_000, 'onResponse')
        assert.deepEqual([status, aborted], [408, true])
      })
      assert.deepEqual(kit.reports.slice(reports), [])
    })

    test('a body that does not arrive once its reply has begun ends that reply without its end', async () => {
      const app = kit.app({ limits: { requestTimeout: 700, headersTimeout: 500 } })
      const stopped = deferred()
      app.post('/s', { bodyMode: 'stream' }, (ctx) => {
        ctx.signal.addEventListener('abort', () => stopped.resolve())
        ctx.stream(ctx.bodyStream)
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.send('POST /s HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc')
        await within(wire.closed, 10_000, 'the end of the connection')
        assert.match(wire.received.toString('latin1'), /^HTTP\/1\.1 200 [^]*\r\nabc(\r\n)?$/)
        await within(stopped.promise, 10_000, 'the abort of ctx.signal')
      })
    })

    test('a client that does not read is reset after sendTimeout', async () => {
      const app = kit.app({ limits: { sendTimeout: 300 } })
      const left = deferred<number>()
      app.get('/big', (ctx) => {
        const start = Date.now()
        ctx.signal.addEventListener('abort', () => left.resolve(Date.now() - start))
        return (function* () {
          for (;;) yield Buffer.alloc(65_536)
        })()
      })
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        wire.socket.pause()
        wire.send(request('GET', '/big'))
        const took = await within(left.promise, 30_000, 'the reset')
        assert.ok(took >= 250, `${took} ms`)
      })
    })

    test('sendTimeout leaves a client alone that reads slowly but steadily', async () => {
      const long = Buffer.alloc(24_000_000)
      let isWhole = false
      // A client that stands still for once is late: then one that reads more slowly has a longer time.
      for (const sendTimeout of [1_000, 4_000, 16_000]) {
        const app = kit.app({ limits: { sendTimeout } })
        app.get('/long', () => long)
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          wire.send(request('GET', '/long'))
          isWhole = await readSlowly(wire.socket, long.length, sendTimeout / 100)
        })
        if (isWhole) break
      }
      assert.ok(isWhole, 'the whole reply')
    })

    test(
      'a connection past maxConnectionAge is closed with its next reply',
      kit.needs('maxConnectionAge'),
      async () => {
        // The server's clock may be up to a second behind, but shows no time before its start.
        const start = performance.now()
        const app = kit.app({ limits: { maxConnectionAge: 1_000 } })
        app.get('/x', () => 'ok')
        await kit.serve(app, async (live) => {
          const wire = await live.connect()
          const untilTheLast = async () => {
            while ((await wire.send(request('GET', '/x')).reply()).headers['connection'] !== 'close')
              await sleep(20)
          }
          await within(untilTheLast(), 30_000, 'the last reply')
          const took = performance.now() - start
          assert.ok(took >= 990, `${took} ms`)
          await wire.ended()
        })
      },
    )
  })
}
