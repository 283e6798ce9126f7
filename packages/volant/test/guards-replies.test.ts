/** What `volant/middleware` says in replies, and how long they may take. How it does over sockets: `conformance/adapters`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { etag, HTTPError, type VolantError } from 'volant'
import {
  cacheControl,
  type CacheControlOptions,
  cspReport,
  type CspReportOptions,
  type CspViolation,
  serverTiming,
  timeout,
} from 'volant/middleware'
import { deferred, Kit, stderrLines } from './kit.ts'

const kit = new Kit()

function refuses(rows: readonly (readonly [() => unknown, RegExp])[]): void {
  for (const [make, message] of rows) {
    assert.throws(make, (error: VolantError) => {
      assert.equal(error.code, 'E_BAD_OPTION')
      assert.match(error.message, message)
      return true
    })
  }
}

describe('cacheControl', () => {
  const serving = (options: CacheControlOptions, run: Parameters<Kit['serve']>[1]) => {
    const app = kit.app()
    app.use(etag())
    app.use(cacheControl(options))
    app.get('/x', () => 'x')
    app.post('/x', () => 'x')
    app.get('/own', (ctx) => ctx.header('Cache-Control', 'no-cache').text('x'))
    app.get('/expires', (ctx) => ctx.header('expires', 'Thu, 01 Jan 1970 00:00:00 GMT').text('x'))
    app.get('/cookie', (ctx) => ctx.cookie('a', 'b').text('x'))
    app.get('/stream', (ctx) => ctx.stream(['a', 'b']))
    app.get('/inner', cacheControl({ noStore: true }), () => 'x')
    app.get('/status/:code', (ctx) => ctx.text('x', Number(ctx.params.code)))
    app.get('/thrown', () => {
      throw new HTTPError(404)
    })
    app.get('/redirect/:code', (ctx) => ctx.redirect('/x', Number(ctx.params.code) as 308))
    return kit.serve(app, run)
  }

  test('every directive, in one order', async () => {
    const rows: [CacheControlOptions, string][] = [
      [{ maxAge: 0 }, 'max-age=0'],
      [{ maxAge: 31_536_000, immutable: true, public: true }, 'public, max-age=31536000, immutable'],
      [
        { sMaxAge: 60, maxAge: 5, staleWhileRevalidate: 30, staleIfError: 600 },
        'max-age=5, s-maxage=60, stale-while-revalidate=30, stale-if-error=600',
      ],
      [{ private: true, noCache: true, noTransform: true }, 'private, no-cache, no-transform'],
      [{ noStore: true }, 'no-store'],
      [
        { maxAge: 1, mustRevalidate: true, proxyRevalidate: true, mustUnderstand: true, private: false },
        'max-age=1, must-revalidate, proxy-revalidate, must-understand',
      ],
    ]
    await Promise.all(
      rows.map(([options, value]) =>
        serving(options, async (live) => {
          assert.equal((await live.ask('/x')).headers['cache-control'], value)
        }),
      ),
    )
  })

  test('what the handler or an inner scope says stays', () =>
    serving({ maxAge: 60 }, async (live) => {
      const said = async (path: string) => (await live.ask(path)).headers['cache-control']
      assert.equal(await said('/own'), 'no-cache')
      assert.equal(await said('/expires'), undefined)
      assert.equal(await said('/inner'), 'no-store')
      assert.equal(await said('/stream'), 'max-age=60')
    }))

  test('a reply with Set-Cookie is for its client alone', async () => {
    for (const [options, value] of [
      [{ public: true, maxAge: 60, sMaxAge: 600, proxyRevalidate: true }, 'private, max-age=60'],
      [{ noCache: true }, 'private, no-cache'],
      [{ private: true, maxAge: 60 }, 'private, max-age=60'],
      [{ noStore: true }, 'no-store'],
    ] as const) {
      await serving(options, async (live) => {
        assert.equal((await live.ask('/cookie')).headers['cache-control'], value)
      })
    }
  })

  test('methods and statuses', () =>
    serving({ maxAge: 60 }, async (live) => {
      const said = async (path: string, method = 'GET', headers = {}) =>
        (await live.ask(path, { method, headers })).headers['cache-control'] ?? 'nothing'
      assert.equal(await said('/x', 'HEAD'), 'max-age=60')
      assert.equal(await said('/x', 'POST'), 'nothing')
      assert.equal(await said('/x', 'OPTIONS'), 'nothing')
      for (const code of [200, 203, 206, 299]) assert.equal(await said(`/status/${code}`), 'max-age=60')
      for (const code of [400, 404, 410, 500, 503]) assert.equal(await said(`/status/${code}`), 'nothing')
      for (const path of ['/none', '/thrown']) assert.equal(await said(path), 'nothing')
      for (const code of [301, 308]) assert.equal(await said(`/redirect/${code}`), 'max-age=60')
      for (const code of [302, 303, 307]) assert.equal(await said(`/redirect/${code}`), 'nothing')
      const { headers } = await live.ask('/x')
      const again = await live.ask('/x', { headers: { 'if-none-match': headers['etag'] as string } })
      assert.deepEqual([again.status, again.headers['cache-control']], [304, 'max-age=60'])
    }))

  test('others by choice', async () => {
    await serving({ maxAge: 60, errors: true, methods: ['POST', 'GET'] }, async (live) => {
      for (const path of ['/none', '/thrown', '/status/500'])
        assert.equal((await live.ask(path)).headers['cache-control'], 'max-age=60')
      assert.equal((await live.ask('/x', { method: 'POST' })).headers['cache-control'], 'max-age=60')
      assert.equal((await live.ask('/x', { method: 'HEAD' })).headers['cache-control'], undefined)
    })
  })

  test('no-store stands for all replies, and there is no tag for what nobody keeps', () =>
    serving({ noStore: true }, async (live) => {
      for (const path of ['/x', '/none', '/thrown', '/redirect/302', '/status/500']) {
        const { headers } = await live.ask(path)
        assert.deepEqual([headers['cache-control'], headers['etag']], ['no-store', undefined], path)
      }
      assert.equal((await live.ask('/x', { method: 'POST' })).headers['cache-control'], 'no-store')
    }))

  test('options that make no sense', () => {
    const bad = (options: object) => () => cacheControl(options as CacheControlOptions)
    refuses([
      [bad({}), /cacheControl takes at least one directive/],
      [() => (cacheControl as Function)(), /cacheControl takes an object/],
      [bad({ maxAge: undefined }), /at least one directive/],
      ...[-1, 1.5, NaN, Infinity, '60', 1e12].map(
        (maxAge) => [bad({ maxAge }), /cacheControl: maxAge takes seconds from 0/] as const,
      ),
      [bad({ public: 1 }), /cacheControl: public takes true or false/],
      [bad({ public: true, private: true }), /public and private contradict each other/],
      [bad({ private: true, sMaxAge: 1 }), /private and sMaxAge contradict/],
      [bad({ noStore: true, maxAge: 0 }), /noStore and maxAge contradict/],
      [bad({ noCache: true, immutable: true }), /noCache and immutable contradict/],
      [
        bad({ maxAge: 1, mustRevalidate: true, staleIfError: 1 }),
        /mustRevalidate and staleIfError contradict/,
      ],
      [bad({ maxAge: 1, methods: ['get'] }), /cacheControl: methods takes methods in upper case/],
      [bad({ maxAge: 1, methods: 'GET' }), /cacheControl: methods takes a list/],
      [bad({ maxage: 1 }), /did you mean "maxAge"/],
    ])
  })
})

describe('timeout', () => {
  test('a handler that is too slow is answered with 503, and told', async () => {
    const app = kit.app()
    const outcomes: unknown[] = []
    app.onResponse((_, { status, error }) => void outcomes.push([status, (error as HTTPError).code]))
    app.use(timeout(20))
    const aborted = deferred<unknown>()
    app.get('/slow', async (ctx) => {
      await once(ctx.signal, 'abort')
      aborted.resolve(ctx.signal.reason)
      return 'too late'
    })
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/slow')
      assert.deepEqual([reply.status, (reply.json() as { code: string }).code], [503, 'E_HANDLER_TIMEOUT'])
      assert.equal(((await aborted.promise) as Error).name, 'AbortError')
      assert.deepEqual(outcomes, [[503, 'E_HANDLER_TIMEOUT']])
    })
    assert.deepEqual(kit.reports.splice(0), [])
  })

  test('the innermost counts, a route’s own before all, and 0 is none', async () => {
    const app = kit.app()
    app.use(timeout(20))
    const later = (ms: number) => () => new Promise((resolve) => setTimeout(resolve, ms, 'in time'))
    app.get('/scope', timeout(10_000), later(60))
    app.get('/none', timeout(0), later(60))
    app.get('/route', { handlerTimeout: 10_000 }, later(60))
    app.get('/shorter', { handlerTimeout: 20 }, timeout(10_000), later(1_000))
    app.use('/under/here', timeout(0))
    app.get('/under/*', later(60))
    await kit.serve(app, async (live) => {
      for (const path of ['/scope', '/none', '/route', '/under/here/x'])
        assert.equal((await live.ask(path)).text, 'in time', path)
      for (const path of ['/shorter', '/under/there']) assert.equal((await live.ask(path)).status, 503, path)
    })
  })

  test('an error handler answers in its place, and misses have it too', async () => {
    const app = kit.app()
    app.use(timeout(20))
    app.onError((error, ctx) => ctx.text(`sorry: ${(error as HTTPError).code}`, 504))
    app.onNotFound(() => new Promise(() => {}))
    await kit.serve(app, async (live) => {
      const { status, text } = await live.ask('/none')
      assert.deepEqual([status, text], [504, 'sorry: E_HANDLER_TIMEOUT'])
    })
  })

  test('options that make no sense', () => {
    refuses([
      ...[-1, 1.5, NaN, Infinity, '5', undefined, 1e9].map(
        (ms) => [() => timeout(ms as number), /timeout takes a whole number of milliseconds/] as const,
      ),
      [() => timeout(1, { streams: 1 as never }), /timeout: streams takes true or false/],
      [() => timeout(1, { respond: true } as never), /onError answers/],
    ])
  })
})

describe('serverTiming', () => {
  test('entries in their order, and the whole', async () => {
    const app = kit.app()
    const timed = app.with(serverTiming({ enabled: true }))
    timed.get('/x', async ({ state: { timing } }) => {
      timing.mark('hit')
      timing.mark('db', 12.3456, 'the "books"\\\r\nü')
      timing.mark('bad name, dur=1', NaN)
      timing.mark('', 1)
      timing.mark('minus', -1)
      const end = timing.start('clock')
      end()
      assert.equal(await timing.time('work', async () => 7), 7)
      assert.equal(
        timing.time('sync', () => 8, 'told'),
        8,
      )
      assert.throws(() =>
        timing.time('thrown', () => {
          throw new Error('its own')
        }),
      )
      await assert.rejects(timing.time('rejected', () => Promise.reject(new Error('its own'))))
      return 'x'
    })
    timed.get('/many', ({ state: { timing } }) => {
      for (let at = 0; at < 1_000; at++) timing.mark('x'.repeat(200))
      return 'x'
    })
    timed.get('/fails', () => {
      throw new HTTPError(409)
    })
    await kit.serve(app, async (live) => {
      const { headers } = await live.ask('/x')
      const number = String.raw`\d+(\.\d+)?`
      assert.match(
        headers['server-timing'] ?? '',
        new RegExp(
          String.raw`^hit, db;dur=12\.35;desc="the \\"books\\"\\\\\?\?\?", bad_name__dur_1, minus, clock;dur=${number}, work;dur=${number}, sync;dur=${number};desc="told", thrown;dur=${number}, rejected;dur=${number}, total;dur=${number}$`,
        ),
      )
      assert.ok(((await live.ask('/many')).headers['server-timing'] ?? '').length < 8_192)
      assert.match((await live.ask('/fails')).headers['server-timing'] ?? '', /^total;dur=/)
    })
  })

  test('nothing is sent in production, and handlers need not know', async () => {
    const before = process.env['NODE_ENV']
    process.env['NODE_ENV'] = 'production'
    try {
      const app = kit.app()
      app.with(serverTiming()).get('/x', ({ state: { timing } }) => {
        timing.mark('a')
        timing.start('b')()
        return timing.time('c', () => 'x')
      })
      await kit.serve(app, async (live) => {
        const { text, headers } = await live.ask('/x')
        assert.deepEqual([text, headers['server-timing']], ['x', undefined])
      })
    } finally {
      if (before === undefined) delete process.env['NODE_ENV']
      else process.env['NODE_ENV'] = before
    }
  })

  test('without the whole, and options that make no sense', async () => {
    const app = kit.app()
    app.use(serverTiming({ enabled: true, total: false }))
    app.get('/x', () => 'x')
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).headers['server-timing'], undefined)
    })
    refuses([
      [() => serverTiming({ enabled: 1 as never }), /serverTiming: enabled takes true or false/],
      [() => serverTiming({ total: 'a b' }), /serverTiming: total takes a name/],
      [() => serverTiming({ crossOrigin: true } as never), /timing-allow-origin/],
    ])
  })
})

describe('cspReport', () => {
  const serving = (options: CspReportOptions, run: Parameters<Kit['serve']>[1]) => {
    const app = kit.app()
    app.register(cspReport, options)
    return kit.serve(app, run)
  }
  const old = {
    'document-uri': 'https://shop.example/reset?token=secret#part',
    'blocked-uri': 'inline',
    'effective-directive': 'script-src-elem',
    'violated-directive': 'script-src-elem',
    disposition: 'enforce',
    'source-file': 'https://shop.example/a.js?v=1',
    'line-number': 7,
    'column-number': 3,
    'script-sample': 'alert(1)',
  }
  const expected: CspViolation = {
    documentUrl: 'https://shop.example/reset',
    blockedUrl: 'inline',
    directive: 'script-src-elem',
    disposition: 'enforce',
    sourceFile: 'https://shop.example/a.js',
    line: 7,
    column: 3,
    sample: 'alert(1)',
  }
  const report = {
    type: 'csp-violation',
    age: 1,
    url: 'https://shop.example/',
    user_agent: 'x',
    body: {
      documentURL: old['document-uri'],
      blockedURL: 'inline',
      effectiveDirective: 'script-src-elem',
      disposition: 'enforce',
      sourceFile: old['source-file'],
      lineNumber: 7,
      columnNumber: 3,
      sample: 'alert(1)',
    },
  }
  const csp = 'application/csp-report'
  const json = 'application/reports+json'

  test('both formats', async () => {
    const seen: CspViolation[] = []
    await serving({ path: '/r', onReport: (violation) => seen.push(violation) }, async (live) => {
      for (const [type, body] of [
        [csp, { 'csp-report': old }],
        [`${csp}; charset=utf-8`, { 'csp-report': old }],
        [json, [report, { type: 'deprecation', body: {} }, report]],
        [json, report],
      ] as const) {
        assert.equal((await live.post('/r', type, JSON.stringify(body))).status, 204)
      }
      assert.deepEqual(seen, Array(5).fill(expected))
    })
  })

  test('hostile reports', async () => {
    const seen: CspViolation[] = []
    await serving({ onReport: (violation) => seen.push(violation) }, async (live) => {
      const rows: [type: string | null, body: string, status: number, reports: number][] = [
        [csp, '', 400, 0],
        [csp, '{', 400, 0],
        [csp, 'null', 204, 0],
        [csp, '[]', 204, 0],
        [csp, '{"csp-report":null}', 204, 0],
        [csp, '{"csp-report":[]}', 204, 0],
        [csp, '{"csp-report":{}}', 204, 1],
        [csp, '{"csp-report":{"document-uri":{"a":1},"line-number":"7","disposition":7}}', 204, 1],
        [csp, '{"csp-report":{"line-number":-1,"column-number":1e999}}', 204, 1],
        [csp, '{"__proto__":{"csp-report":{}}}', 400, 0],
        [csp, `${'['.repeat(1_000)}${']'.repeat(1_000)}`, 400, 0],
        [json, '[null,1,"x",[],{},{"type":"csp-violation"},{"type":"csp-violation","body":1}]', 204, 0],
        ['application/json', '{"csp-report":{}}', 415, 0],
        ['text/plain', '{"csp-report":{}}', 415, 0],
        [null, '{"csp-report":{}}', 415, 0],
        [csp, `{"csp-report":{"script-sample":"${'x'.repeat(65_536)}"}}`, 413, 0],
      ]
      for (const [type, body, status, reports] of rows) {
        seen.length = 0
        assert.deepEqual(
          [(await live.post('/csp-reports', type, body)).status, seen.length],
          [status, reports],
          body.slice(0, 80),
        )
      }
      const text = 'a\u0000\r\nvolant: forged\u001b[31m\u202eb\u2028c'
      await live.post(
        '/csp-reports',
        csp,
        JSON.stringify({ 'csp-report': { 'script-sample': text, disposition: 'x'.repeat(9_999) } }),
      )
      assert.deepEqual([seen[0]?.sample, seen[0]?.disposition.length], ['avolant: forged[31mbc', 1_024])
      assert.equal((await live.ask('/csp-reports')).status, 405)
    })
  })

  test('a line for each, as many as are allowed', async () => {
    const lines = await stderrLines(() =>
      serving({ maxReports: 3 }, async (live) => {
        for (let at = 0; at < 10; at++)
          assert.equal((await live.post('/csp-reports', json, JSON.stringify([report, report]))).status, 204)
      }),
    )
    assert.deepEqual(
      lines.filter((line) => line.includes('CSP')),
      Array(3).fill(`volant: CSP violation ${JSON.stringify(expected)}`),
    )
  })

  test('an error of onReport is reported, and the browser not told', async () => {
    for (const onReport of [
      () => {
        throw new Error('own')
      },
      () => Promise.reject(new Error('own')),
    ]) {
      await serving({ onReport }, async (live) => {
        assert.equal(
          (await live.post('/csp-reports', csp, JSON.stringify({ 'csp-report': old }))).status,
          204,
        )
        assert.deepEqual(
          kit.reports.splice(0).map((error) => (error as Error).message),
          ['own'],
        )
      })
    }
  })

  test('options that make no sense', () => {
    const bad = (options: object) => () => kit.app().register(cspReport, options as CspReportOptions)
    refuses([
      [bad({ path: 'reports' }), /cspReport: path takes a path/],
      [bad({ onReport: 1 }), /cspReport: onReport takes a function/],
      [bad({ maxReports: 0 }), /cspReport: maxReports takes an integer/],
      [bad({ limit: 1 }), /64 KiB/],
    ])
  })
})
