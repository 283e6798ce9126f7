/** Middleware of connect and Express: order, errors, mistakes, what is refused. Bytes are in the adapters' cases. */
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import {
  type Connected,
  type ConnectErrorMiddleware,
  type ConnectMiddleware,
  connectOf,
  fromConnect,
} from '../src/connect/index.ts'
import { createApp, HTTPError, middleware, type VolantError } from '../src/index.ts'

type Loose = Record<string, (...args: unknown[]) => unknown>

function appWithReports(): { app: ReturnType<typeof createApp>; reports: unknown[]; codes: () => unknown[] } {
  const reports: unknown[] = []
  const app = createApp({ signals: false, errorDetails: false, report: (error) => void reports.push(error) })
  return { app, reports, codes: () => reports.map((each) => (each as { code?: unknown }).code) }
}

describe('order', () => {
  test('of lists, layers of this framework and handlers', async () => {
    const { app } = appWithReports()
    const seen: string[] = []
    const step =
      (name: string) =>
      (_req: IncomingMessage, _res: ServerResponse, next: () => void): void => {
        seen.push(name)
        next()
      }
    app.use(fromConnect(step('a'), [step('b'), [step('c')]]))
    app.use(async (_, next) => {
      seen.push('ours')
      await next()
      seen.push('after')
    })
    app.use(fromConnect(async (_req, _res, next) => setImmediate(step('d'), _req, _res, next)))
    app.get('/', () => {
      seen.push('handler')
      return 'x'
    })
    assert.equal((await app.inject('/')).text(), 'x')
    await eventually(() => seen.length === 7, 'the way back')
    assert.deepEqual(seen, ['a', 'b', 'c', 'ours', 'd', 'handler', 'after'])
  })

  test('one pair for a request, of the classes of node:http', async () => {
    const { app } = appWithReports()
    const pairs = new Set<object>()
    app.use(fromConnect((req, res, next) => (pairs.add(req).add(res), next())))
    app.use(fromConnect((req, res, next) => (pairs.add(req).add(res), next())))
    app.get('/', (ctx) => {
      const { req, res } = connectOf(ctx)
      pairs.add(req).add(res)
      return [req instanceof IncomingMessage, res instanceof ServerResponse]
    })
    assert.deepEqual((await app.inject('/')).json(), [true, true])
    assert.equal(pairs.size, 2)
  })

  test("next('route') and next('router') leave the list", async () => {
    for (const word of ['route', 'router']) {
      const { app } = appWithReports()
      app.get(
        '/',
        fromConnect(
          (_req, _res, next) => next(word),
          (_req, res) => res.end('not this'),
        ),
        () => 'handler',
      )
      assert.equal((await app.inject('/')).text(), 'handler')
    }
  })

  test('a status is handed on both ways, and one that does not exist is 500', async () => {
    const { app } = appWithReports()
    const seen: unknown[] = []
    const sets = (status: number): Connected =>
      fromConnect((_req, res, next) => {
        seen.push(res.statusCode)
        res.statusCode = status
        next()
      })
    app.get(
      '/',
      sets(203),
      (ctx, next) => (ctx.status(201), next()),
      sets(202),
      (ctx) => `${ctx.status()}`,
    )
    app.get(
      '/kept',
      sets(203),
      (ctx, next) => (ctx.status(201), next()),
      sets(201),
      (ctx) => `${ctx.status()}`,
    )
    app.get('/bad', sets(999), () => 'not this')
    assert.equal((await app.inject('/')).text(), '202')
    assert.equal((await app.inject('/kept')).text(), '201')
    assert.equal((await app.inject('/bad')).status, 500)
    assert.deepEqual(seen, [200, 201, 200, 201, 200])
  })

  test('a middleware may begin a reply that the next one goes on with', async () => {
    const { app, reports } = appWithReports()
    const begins = fromConnect((_req, res, next) => {
      res.writeHead(200, { 'content-type': 'text/plain' })
      res.flushHeaders()
      next()
    })
    app.get(
      '/',
      begins,
      fromConnect((_req, res) => {
        res.write('one ')
        setImmediate(() => res.end('two'))
      }),
    )
    assert.equal((await app.inject('/')).text(), 'one two')
    assert.deepEqual(reports, [])
  })

  test('callbacks of write say that a chunk is on its way, and HEAD takes what is written', async () => {
    const { app, reports } = appWithReports()
    const seen: unknown[] = []
    app.get(
      '/',
      fromConnect((_req, res) => {
        res.setHeader('content-length', 6)
        res.write('abc', (error) => {
          seen.push(error ?? 'taken')
          res.write('def', () => res.end(() => seen.push('finished')))
        })
      }),
    )
    for (const method of ['GET', 'HEAD'] as const) {
      const reply = await app.inject({ url: '/', method })
      assert.deepEqual(
        [reply.text(), reply.headers['content-length'], seen.splice(0)],
        [method === 'GET' ? 'abcdef' : '', '6', ['taken', 'finished']],
      )
    }
    assert.deepEqual(reports, [])
  })

  test('where it is the handler, next() is 404', async () => {
    const { app } = appWithReports()
    app.get(
      '/',
      fromConnect((_req, _res, next) => next()),
    )
    assert.equal((await app.inject('/')).status, 404)
  })
})

describe('errors', () => {
  test('carry their status, message and headers', async () => {
    const { app, reports } = appWithReports()
    const cases: [unknown, number, string | undefined][] = [
      [Object.assign(new Error('tea'), { status: 418 }), 418, 'tea'],
      [Object.assign(new Error('secret'), { statusCode: 503 }), 503, undefined],
      [Object.assign(new Error('shown'), { status: 502, expose: true }), 502, 'shown'],
      [Object.assign(new Error('hidden'), { status: 400, expose: false }), 400, undefined],
      [new HTTPError(409, 'ours'), 409, 'ours'],
      [new Error('plain'), 500, undefined],
      ['text', 500, undefined],
      [{ odd: true }, 500, undefined],
    ]
    for (const [at, [error]] of cases.entries()) {
      app.get(
        `/next/${at}`,
        fromConnect((_req, _res, next) => next(error)),
      )
      app.get(
        `/throw/${at}`,
        fromConnect(() => {
          throw error
        }),
      )
      app.get(
        `/reject/${at}`,
        fromConnect(() => Promise.reject(error)),
      )
    }
    for (const [at, [, status, detail]] of cases.entries()) {
      for (const way of ['next', 'throw', 'reject']) {
        const reply = await app.inject(`/${way}/${at}`)
        assert.deepEqual(
          [reply.status, (reply.json() as { detail?: string }).detail],
          [status, detail],
          `${way} ${at}`,
        )
      }
    }
    // What is not shown to clients is reported, except the 400.
    assert.equal(reports.length, 5 * 3)
    const { app: other } = appWithReports()
    other.use(
      fromConnect((_req, _res, next) =>
        next(
          Object.assign(new Error('wait'), {
            status: 429,
            headers: { 'Retry-After': 7, Connection: 'close' },
          }),
        ),
      ),
    )
    other.get('/', () => 'x')
    const reply = await other.inject('/')
    assert.deepEqual([reply.status, reply.headers['retry-after']], [429, '7'])
  })

  test('are seen by middlewares with four parameters, of inner scopes first, and then by onError', async () => {
    const { app } = appWithReports()
    const seen: string[] = []
    const rescue =
      (name: string) =>
      (error: unknown, _req: IncomingMessage, res: ServerResponse, next: (e: unknown) => void) => {
        const { message, type } = error as Error & { type?: string }
        seen.push(`${name} ${message} ${type}`)
        if (message === name) res.end(`by ${name}`)
        else next(error)
      }
    app.onError((error, ctx) => ctx.text(`onError ${(error as Error).message}`))
    app.use(fromConnect(rescue('first')), fromConnect(rescue('second')))
    app.group('/in', (scope) => {
      scope.use(fromConnect(rescue('inner')))
      scope.get('/:message', ({ params }) => {
        throw Object.assign(new Error(params.message), { type: 'thrown' })
      })
      scope.get(
        '/next/:message',
        fromConnect((req, _res, next) =>
          next(Object.assign(new Error(req.url?.slice(9)), { status: 400, type: 'passed' })),
        ),
      )
    })
    assert.equal((await app.inject('/in/inner')).text(), 'by inner')
    assert.equal((await app.inject('/in/second')).text(), 'by second')
    assert.equal((await app.inject('/in/next/first')).text(), 'by first')
    const last = await app.inject('/in/next/none')
    assert.deepEqual([last.status, last.text()], [400, 'onError none'])
    assert.equal((await app.inject('/nowhere')).text(), 'onError No route has this path.')
    assert.deepEqual(seen.slice(0, 6), [
      'inner inner thrown',
      'inner second thrown',
      'first second thrown',
      'second second thrown',
      'inner first passed',
      'first first passed',
    ])
  })

  test('of a list reach its own middleware with four parameters, which may go on', async () => {
    const { app } = appWithReports()
    const fails: ConnectMiddleware = (_req, _res, next) => next(new Error('recovered'))
    const skipped: ConnectMiddleware = (_req, res) => res.end('not this')
    const rescue: ConnectErrorMiddleware = (error, req, _res, next) => {
      Object.assign(req, { failed: (error as Error).message })
      next()
    }
    const last: ConnectMiddleware = (req, res) => res.end((req as unknown as { failed: string }).failed)
    app.get('/', fromConnect(fails, skipped, rescue, last))
    assert.equal((await app.inject('/')).text(), 'recovered')
  })
})

describe('mistakes', () => {
  test('next() twice counts once, and is reported', async () => {
    const { app, codes } = appWithReports()
    let handled = 0
    app.use(
      fromConnect(
        (_req, _res, next) => {
          next()
          next()
        },
        (_req, _res, next) => setImmediate(next),
      ),
    )
    app.get('/', () => ++handled)
    assert.equal((await app.inject('/')).text(), '1')
    assert.deepEqual([handled, codes()], [1, ['E_NEXT_TWICE']])
  })

  test('next() after the reply is reported, and its error as well', async () => {
    const { app, codes, reports } = appWithReports()
    const late = new Error('late')
    app.get(
      '/',
      fromConnect((_req, res, next) => {
        res.end('replied')
        next()
        setImmediate(next, late)
      }),
      () => 'not this',
    )
    assert.equal((await app.inject('/')).text(), 'replied')
    await eventually(() => reports.length === 2, 'both reports')
    assert.deepEqual([codes()[0], reports[1]], ['E_NEXT_LATE', late])
  })

  test('a reply after that of the context is reported and dropped', async () => {
    const { app, codes, reports } = appWithReports()
    app.use(
      fromConnect((_req, res, next) => {
        next()
        setImmediate(() => res.end('late'))
      }),
    )
    app.get('/', () => 'first')
    assert.equal((await app.inject('/')).text(), 'first')
    await eventually(() => reports.length === 1, 'the report')
    assert.deepEqual(codes(), ['E_ALREADY_REPLIED'])
  })

  test('writes after the end, statuses that do not exist, and headers that come too late', async () => {
    const { app, codes } = appWithReports()
    const thrown: unknown[] = []
    app.get(
      '/late',
      fromConnect((_req, res) => {
        res.end('a')
        res.write('b')
        res.end('c')
        try {
          res.setHeader('x', 'y')
        } catch (error) {
          thrown.push((error as VolantError).code)
        }
      }),
    )
    app.get(
      '/status',
      fromConnect((_req, res) => {
        res.statusCode = 999
        res.end('a')
      }),
    )
    app.get(
      '/chunk',
      fromConnect((_req, res) => {
        res.write({} as string)
      }),
    )
    assert.equal((await app.inject('/late')).text(), 'a')
    assert.deepEqual(codes(), ['ERR_STREAM_WRITE_AFTER_END', 'ERR_STREAM_WRITE_AFTER_END'])
    assert.deepEqual(thrown, ['ERR_HTTP_HEADERS_SENT'])
    assert.equal((await app.inject('/status')).status, 500)
    assert.equal((await app.inject('/chunk')).status, 500)
  })

  test('what cannot be supported throws by name', async () => {
    const { app } = appWithReports()
    const said: string[] = []
    app.get(
      '/',
      fromConnect((req, res) => {
        const { socket } = req as unknown as { socket: Loose }
        const out = res as unknown as Loose
        const calls: (() => unknown)[] = [
          ...['write', 'end', 'pipe'].map((name) => () => socket[name]?.()),
          ...['assignSocket', 'writeContinue', 'writeProcessing'].map((name) => () => out[name]?.()),
          () => res.writeHead(102),
        ]
        for (const call of calls) {
          try {
            call()
            said.push('nothing')
          } catch (error) {
            assert.equal((error as VolantError).code, 'E_CONNECT_UNSUPPORTED')
            said.push(/called (\S+)/.exec((error as Error).message)?.[1] ?? '')
          }
        }
        res.end()
      }),
    )
    assert.equal((await app.inject('/')).status, 200)
    assert.deepEqual(said, [
      'socket.write(),',
      'socket.end(),',
      'socket.pipe(),',
      'res.assignSocket(),',
      'res.writeContinue(),',
      'res.writeProcessing(),',
      'res.writeHead()',
    ])
  })
})

test('what is no such middleware is refused when it is registered', () => {
  const bad: [unknown[], RegExp][] = [
    [[], /takes at least one/],
    [[[]], /takes at least one/],
    [[undefined], /not undefined/],
    [['x'], /not "x"/],
    [[{ handle() {} }], /pass its handle method/],
    [
      [function hsts(_options: object) {}],
      /hsts, which takes one parameter.*: if it makes one, write fromConnect\(hsts\(\)\)/,
    ],
    [[middleware({ errors: {} }, (_, next) => next())], /is a middleware of Volant/],
  ]
  for (const [given, message] of bad) {
    assert.throws(() => fromConnect(...(given as never[])), { code: 'E_BAD_HANDLER', message })
  }
  assert.throws(() => createApp({ signals: false }).use(fromConnect as never), {
    code: 'E_BAD_HANDLER',
    message: 'fromConnect is not a middleware by itself: write app.use(fromConnect(middleware))',
  })
})

test('what middlewares look for before they set it is not there', async () => {
  const { app } = appWithReports()
  app.get(
    '/',
    fromConnect((req, res) => {
      res.end(
        ['body', 'cookies', 'signedCookies', 'session', 'user', 'files'].filter((name) => name in req).join(),
      )
    }),
  )
  assert.equal((await app.inject('/')).text(), '')
})

test('what middlewares assign stays assigned', async () => {
  const { app } = appWithReports()
  app.use(
    fromConnect((req, _res, next) => {
      Object.assign(req, { id: 'own', query: { a: [1] }, ip: '::1', url: '/other?x', method: 'PUT' })
      req.headers['x-added'] = 'yes'
      next()
    }),
  )
  app.get(
    '/',
    fromConnect((req, res) => {
      const { id, query, ip, url, method, headers, originalUrl } = req as unknown as Record<string, unknown>
      res.end(
        JSON.stringify([
          id,
          query,
          ip,
          url,
          method,
          (headers as Record<string, string>)['x-added'],
          originalUrl,
        ]),
      )
    }),
  )
  assert.equal((await app.inject('/?q')).text(), '["own",{"a":[1]},"::1","/other?x","PUT","yes","/?q"]')
})
