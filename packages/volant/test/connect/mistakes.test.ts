/** Mistakes in middleware of connect and Express, and what is refused. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { fromConnect } from '../../src/connect/index.ts'
import { createApp, middleware, type VolantError } from '../../src/index.ts'
import { appWithReports } from './kit.ts'

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

type Loose = Record<string, (...args: unknown[]) => unknown>
