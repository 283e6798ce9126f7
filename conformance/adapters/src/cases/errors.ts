/** What may go wrong in handlers and middleware. One long list, so that each kind of mistake is found in one place. */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, test } from 'node:test'
import { before, type Context, cors, health, HTTPError, logger, validate, type VolantError } from 'volant'
import { eventually, type Kit, request } from '../kit.ts'

/** L4: handlers that throw, reject, never settle or reply twice. */
export function errors(kit: Kit): void {
  describe('errors', () => {
    test('an HTTPError is a problem with its members', async () => {
      const app = kit.app()
      app.get('/x', () => {
        throw new HTTPError(409, 'taken', {
          code: 'NAME_TAKEN',
          data: { name: 'ann' },
          headers: { 'x-why': 'name' },
        })
      })
      await kit.serve(app, async (live) => {
        const reply = await live.ask('/x')
        assert.equal(reply.status, 409)
        assert.equal(reply.headers['x-why'], 'name')
        assert.equal(reply.headers['content-type'], 'application/problem+json; charset=utf-8')
        assert.deepEqual(reply.json(), {
          type: 'about:blank',
          title: 'Conflict',
          status: 409,
          detail: 'taken',
          code: 'NAME_TAKEN',
          data: { name: 'ann' },
        })
      })
    })

    const secrets: [string, () => unknown][] = [
      [
        'a thrown Error',
        () => {
          throw new Error('secret')
        },
      ],
      ['a rejection', () => Promise.reject(new Error('secret'))],
      [
        'a thrown string',
        () => {
          throw 'secret'
        },
      ],
      [
        'a thrown undefined',
        () => {
          throw undefined
        },
      ],
      ['a rejection with null', () => Promise.reject(null)],
      [
        'an HTTPError 500',
        () => {
          throw new HTTPError(500, 'secret', { code: 'SECRET', data: 'secret' })
        },
      ],
      [
        'an error with a status of its own',
        () => {
          throw Object.assign(new Error('secret'), { status: 404 })
        },
      ],
      [
        'a thenable that throws',
        () => ({
          // oxlint-disable-next-line unicorn/no-thenable -- that is the case
          get then(): never {
            throw new Error('secret')
          },
        }),
      ],
    ]
    for (const [name, handler] of secrets) {
      test(`${name} is 500 without detail`, async () => {
        const app = kit.app()
        app.get('/x', handler)
        app.get('/mw', (_ctx, next) => next(), handler)
        app.get(
          '/async-mw',
          async (_ctx, next) => {
            await next()
          },
          handler,
        )
        await kit.serve(app, async (live) => {
          for (const path of ['/x', '/mw', '/async-mw']) {
            const reply = await live.ask(path)
            assert.equal(reply.status, 500, path)
            assert.doesNotMatch(reply.text, /secret/i)
          }
        })
      })
    }

    test('5xx that is exposed, and 4xx that is not', async () => {
      const app = kit.app()
      app.get('/a', () => {
        throw new HTTPError(503, 'back at noon', { expose: true, headers: { 'retry-after': '60' } })
      })
      app.get('/b', () => {
        throw new HTTPError(403, 'secret', { expose: false })
      })
      await kit.serve(app, async (live) => {
        const shown = await live.ask('/a')
        assert.match(shown.text, /back at noon/)
        assert.equal(shown.headers['retry-after'], '60')
        assert.doesNotMatch((await live.ask('/b')).text, /secret/)
      })
    })

    test('unexpected errors are reported, expected ones are not', async () => {
      const app = kit.app()
      const boom = new Error('boom')
      app.get('/boom', () => {
        throw boom
      })
      app.get('/fine', () => {
        throw new HTTPError(404)
      })
      await kit.serve(app, async (live) => {
        const before = kit.reports.length
        await live.ask('/fine')
        assert.equal(kit.reports.length, before)
        await live.ask('/boom')
        assert.deepEqual(kit.reports.slice(before), [boom])
      })
    })

    test('onError replies: returned, imperative, async, with the status of the error', async () => {
      const app = kit.app()
      app.onError(async (error, ctx) => {
        await Promise.resolve()
        const message = error instanceof Error ? error.message : 'odd'
        if (message === 'imperative') return ctx.json({ imperative: true }, 409)
        if (message === 'undefined') return undefined
        if (message === 'again') throw new HTTPError(422, 'from the error handler')
        return { caught: message }
      })
      app.get('/:what', (ctx) => {
        throw ctx.params.what === 'odd'
          ? 'odd'
          : ctx.params.what === 'teapot'
            ? new HTTPError(418, 'teapot')
            : new Error(ctx.params.what)
      })
      await kit.serve(app, async (live) => {
        const teapot = await live.ask('/teapot')
        assert.equal(teapot.status, 418)
        assert.deepEqual(teapot.json(), { caught: 'teapot' })
        assert.equal((await live.ask('/plain')).status, 500)
        assert.deepEqual((await live.ask('/odd')).json(), { caught: 'odd' })
        assert.equal((await live.ask('/imperative')).status, 409)
        const undefinedReply = await live.ask('/undefined')
        assert.equal(undefinedReply.status, 500)
        assert.equal(undefinedReply.headers['content-type'], 'application/problem+json; charset=utf-8')
        assert.equal((await live.ask('/again')).status, 422)
      })
    })

    test('an error handler that fails is reported with what it was given, each once', async () => {
      const app = kit.app()
      const first = new Error('first')
      const second = new Error('second')
      app.onError((error, ctx) => {
        if (ctx.path.endsWith('again')) throw error
        if (ctx.path.endsWith('async')) return Promise.reject(second)
        throw second
      })
      for (const path of ['/again', '/async', '/sync']) {
        app.get(path, () => {
          throw first
        })
      }
      await kit.serve(app, async (live) => {
        for (const [path, reported] of [
          ['/again', [first]],
          ['/async', [first, second]],
          ['/sync', [first, second]],
          ['/nowhere', [second]],
        ] as const) {
          const before = kit.reports.length
          assert.equal((await live.ask(path)).status, 500)
          assert.deepEqual(kit.reports.slice(before), reported)
        }
      })
    })

    test('onError sees 404, 405 and body errors', async () => {
      const app = kit.app()
      app.onError((error) => ({ code: (error as HTTPError).code }))
      app.post('/b', (ctx) => ctx.json(ctx.body))
      await kit.serve(app, async (live) => {
        assert.deepEqual((await live.ask('/none')).json(), { code: 'E_NOT_FOUND' })
        const wrong = await live.ask('/b')
        assert.equal(wrong.status, 405)
        assert.deepEqual(wrong.json(), { code: 'E_METHOD_NOT_ALLOWED' })
        assert.equal(wrong.headers['allow'], 'POST, OPTIONS')
        assert.deepEqual((await live.post('/b', 'application/json', '{')).json(), {
          code: 'E_BODY_MALFORMED',
        })
      })
    })

    test('middleware can catch what the handler throws', async () => {
      const app = kit.app()
      app.use(async (ctx, next) => {
        try {
          await next()
        } catch {
          ctx.json({ caught: true }, 418)
        }
      })
      app.get('/sync', () => {
        throw new Error('x')
      })
      app.get('/async', async () => {
        throw new Error('x')
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async'])
          assert.deepEqual((await live.ask(path)).json(), { caught: true })
      })
    })

    test('middleware that swallows an error without replying gives 500', async () => {
      const app = kit.app()
      app.use(async (_ctx, next) => next().catch(() => {}))
      app.use(async (_ctx, next) => {
        try {
          await next()
        } catch {
          return
        }
      })
      app.get('/sync', () => {
        throw new Error('x')
      })
      app.get('/async', async () => {
        throw new Error('x')
      })
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async']) assert.equal((await live.ask(path)).status, 500)
      })
    })

    test('next() that comes too late is reported, and ends nothing', async () => {
      const app = kit.app()
      let ran = 0
      app.use((_, next) => void setTimeout(next, 20))
      app.get('/sync', () => ++ran)
      app.get('/async', async () => ++ran)
      await kit.serve(app, async (live) => {
        for (const path of ['/sync', '/async']) {
          const reports = kit.reports.length
          assert.equal((await live.ask(path)).status, 500)
          await eventually(() => kit.reports.length > reports + 1, 'the reports')
          const [missing, late] = kit.reports.slice(reports) as [VolantError, VolantError]
          assert.deepEqual([missing.code, late.code], ['E_NEXT_MISSING', 'E_NEXT_LATE'])
          assert.match(
            late.message,
            new RegExp(`^a middleware of GET ${path} called next\\(\\) after its chain had ended`),
          )
        }
      })
      assert.equal(ran, 0)
    })

    test('a middleware that neither replies nor calls next() is a mistake, not 204', async () => {
      const app = kit.app()
      app.get(
        '/stop',
        (_ctx, _next) => {},
        () => 'never',
      )
      app.get(
        '/async',
        async (_ctx, _next) => {},
        () => 'never',
      )
      app.get(
        '/context',
        (ctx, _next) => ctx.header('x-a', 'b'),
        () => 'never',
      )
      app.get(
        '/status',
        (ctx, _next) => void ctx.status(202),
        () => 'never',
      )
      app.get(
        '/empty',
        async (_ctx, next) => next(),
        () => {},
      )
      app.get(
        '/empty-async',
        (_ctx, next) => next(),
        async () => {},
      )
      app.get(
        '/express',
        (_ctx, next) => (next as (error: unknown) => unknown)(new HTTPError(401)),
        () => 'never',
      )
      await kit.serve(app, async (live) => {
        for (const path of ['/stop', '/async', '/context']) {
          const reports = kit.reports.length
          assert.equal((await live.ask(path)).status, 500, path)
          assert.equal(kit.reports.length, reports + 1)
          assert.match(String(kit.reports.at(-1)), new RegExp(`GET ${path} neither called next`))
        }
        assert.equal((await live.ask('/status')).status, 202)
        assert.equal((await live.ask('/empty')).status, 204)
        assert.equal((await live.ask('/empty-async')).status, 204)
        // Of those who write `next(error)` nobody is let through.
        assert.equal((await live.ask('/express')).status, 401)
      })
    })

    test('a context that is returned is no value', async () => {
      const app = kit.app()
      app.use(before((ctx) => ctx.header('x-before', '1')))
      app.use(before(async (ctx) => ctx.header('x-later', '1')))
      app.use(async (ctx, next) => {
        await next()
        return ctx
      })
      app.get('/value', () => 'value')
      app.get('/status', (ctx) => ctx.status(202))
      app.get('/async', async (ctx) => ctx.header('x-handler', '1'))
      app.onError((_, ctx) => ctx.header('x-error', '1'))
      app.get('/error', () => {
        throw new HTTPError(418)
      })
      app.get('/inside', (ctx) => ({ ctx }))
      await kit.serve(app, async (live) => {
        const value = await live.ask('/value')
        assert.equal(value.text, 'value')
        assert.equal(value.headers['x-before'], '1')
        assert.equal(value.headers['x-later'], '1')
        const status = await live.ask('/status')
        assert.deepEqual([status.status, status.text], [202, ''])
        assert.equal((await live.ask('/async')).headers['x-handler'], '1')
        const error = await live.ask('/error')
        assert.deepEqual([error.status, error.headers['x-error']], [418, '1'])
        const inside = await live.ask('/inside')
        assert.equal(inside.status, 500)
        assert.ok(!inside.text.includes('limits'))
      })
    })

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

    test('what is no middleware by itself says how it is written', () => {
      const app = kit.app()
      const wrong: [unknown, RegExp][] = [
        [cors, /app\.use\(cors\(\)\)/],
        [logger, /app\.use\(logger\(\)\)/],
        [validate, /validate\(\{ body: schema \}\)/],
        [health, /app\.register\(health\)/],
        [before, /before\(\(ctx\) => …\)/],
      ]
      for (const [value, message] of wrong) {
        assert.throws(() => app.use(value as never), { code: 'E_BAD_HANDLER', message })
        assert.throws(() => app.with(value as never), { code: 'E_BAD_HANDLER', message })
        assert.throws(() => app.get('/x', value as never, () => 1), { code: 'E_BAD_HANDLER', message })
      }
      assert.throws(() => app.use(), { code: 'E_BAD_HANDLER', message: /at least one/ })
      assert.throws(() => app.use('/x'), { code: 'E_BAD_HANDLER', message: /at least one/ })
      assert.throws(() => app.get('', () => 1), { code: 'E_ROUTE_PATTERN' })
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
        await sleep(5)
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

    test('handlerTimeout: 503, the signal aborts, a late reply is dropped, the connection lives', async () => {
      const app = kit.app({ limits: { handlerTimeout: 100 } })
      const fired: unknown[] = []
      let lateError: unknown = 'none'
      app.get('/slow', async (ctx) => {
        ctx.signal.addEventListener('abort', () => fired.push(ctx.signal.reason))
        await eventually(() => fired.length > 0, 'the handler has no more time')
        try {
          ctx.json({ late: true })
          lateError = undefined
        } catch (error) {
          lateError = error
        }
      })
      app.get('/never', () => new Promise(() => {}))
      app.get('/fast', () => 'fast')
      await kit.serve(app, async (live) => {
        const wire = await live.connect()
        const reply = await wire.send(request('GET', '/slow')).reply()
        assert.equal(reply.status, 503)
        assert.equal((reply.json() as { code: string }).code, 'E_HANDLER_TIMEOUT')
        assert.equal(fired.length, 1)
        await eventually(() => lateError === undefined, 'the late reply dropped silently')
        assert.equal(fired.length, 1)
        assert.equal((await live.ask('/never')).status, 503)
        assert.equal((await live.ask('/fast')).text, 'fast')
        assert.equal((await app.inject('/never')).status, 503)
      })
    })

    test('a stream that fails after it began resets the connection', async () => {
      const app = kit.app()
      app.get('/gen', async function* () {
        yield 'a'
        await sleep(20)
        throw new Error('mid-stream')
      })
      app.get('/throws', async (ctx) => {
        ctx.stream(
          (async function* () {
            yield 'a'
            await sleep(10_000, undefined, { signal: ctx.signal })
          })(),
        )
        await sleep(20)
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

    test('2,000 random handlers: one reply each, of the right status, in order', async () => {
      await randomHandlers(kit)
    })
  })
}

type Behaviour = { name: string; status: number; run: (ctx: Context) => unknown }

const behaviours: Behaviour[] = [
  { name: 'returns', status: 200, run: () => ({ ok: true }) },
  { name: 'returns nothing', status: 204, run: () => undefined },
  { name: 'replies', status: 201, run: (ctx) => ctx.json({}, 201) },
  {
    name: 'throws',
    status: 500,
    run: () => {
      throw new Error('x')
    },
  },
  {
    name: 'throws HTTPError',
    status: 422,
    run: () => {
      throw new HTTPError(422)
    },
  },
  {
    name: 'rejects',
    status: 500,
    run: async () => {
      throw new Error('x')
    },
  },
  {
    name: 'rejects later',
    status: 409,
    run: async () => {
      await sleep(1)
      throw new HTTPError(409)
    },
  },
  {
    name: 'replies twice',
    status: 200,
    run: (ctx) => {
      ctx.text('1')
      ctx.text('2')
    },
  },
  {
    name: 'replies and returns',
    status: 200,
    run: async (ctx) => {
      ctx.text('1')
      return 2
    },
  },
  {
    name: 'replies and throws',
    status: 200,
    run: (ctx) => {
      ctx.text('1')
      throw new Error('x')
    },
  },
  {
    name: 'replies and rejects',
    status: 200,
    run: async (ctx) => {
      ctx.text('1')
      await Promise.resolve()
      throw new Error('x')
    },
  },
  {
    name: 'circular',
    status: 500,
    run: async () => {
      const c: unknown[] = []
      c.push(c)
      return c
    },
  },
  { name: 'bad header', status: 500, run: (ctx) => ctx.header('a b', 'c').text('') },
  {
    name: 'streams',
    status: 200,
    run: function* () {
      yield 'a'
    },
  },
  { name: 'never settles', status: 503, run: () => new Promise(() => {}) },
  {
    name: 'waits',
    status: 200,
    run: async () => {
      await sleep(2)
      return 'late'
    },
  },
  { name: 'reads a body that is not there', status: 204, run: (ctx) => ctx.body },
]

async function randomHandlers(kit: Kit): Promise<void> {
  const app = kit.app()
  const rejections: unknown[] = []
  const onRejection = (error: unknown) => void rejections.push(error)
  process.on('unhandledRejection', onRejection)
  behaviours.forEach(({ name, run }, at) => {
    // The other cases keep the default time limit, because a busy machine may need long for any of them.
    const options = { handlerTimeout: name === 'never settles' ? 400 : undefined }
    app.all(`/plain/${at}`, options, run)
    app.all(`/sync/${at}`, options, (_ctx, next) => next(), run)
    app.all(
      `/async/${at}`,
      options,
      async (_ctx, next) => {
        await next()
      },
      async (_ctx, next) => next(),
      run,
    )
    app.all(
      `/float/${at}`,
      options,
      (_ctx, next) => {
        void next()
      },
      run,
    )
  })
  let seed = 0x5eed
  const random = (below: number) => {
    seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((seed / 2 ** 32) * below)
  }
  let answered = 0
  try {
    await kit.serve(app, async (live) => {
      // 20 connections with 20 requests in flight at most, 5 times.
      for (let round = 0; round < 5; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const wire = await live.connect()
            const expected = Array.from({ length: 20 }, () => {
              // The slow one rarely: it takes its whole time, and the others of its connection wait.
              let at = random(behaviours.length)
              if (behaviours[at]?.name === 'never settles' && random(10) > 0) at = 0
              return {
                method: ['GET', 'POST', 'DELETE'][random(3)] as string,
                path: `/${['plain', 'sync', 'async', 'float'][random(4)]}/${at}`,
                at,
              }
            })
            const sent = expected.map(({ method, path }) => request(method, path))
            for await (const reply of kit.replies(wire, sent)) {
              const { method, path, at } = expected.shift() as (typeof expected)[number]
              assert.equal(
                reply.status,
                behaviours[at]?.status,
                `${method} ${path} (${behaviours[at]?.name})`,
              )
              answered++
            }
            assert.equal(wire.received.length, 0)
            wire.close()
          }),
        )
      }
      assert.equal(answered, 2_000)
      await eventually(() => app.stats().inFlight === 0, 'nothing in flight')
    })
    // Time for a rejection that nobody handles.
    await sleep(20)
    assert.deepEqual(rejections, [])
  } finally {
    process.off('unhandledRejection', onRejection)
  }
}
