/** Where the errors of middleware of connect and Express go. */
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { type ConnectErrorMiddleware, type ConnectMiddleware, fromConnect } from '../../src/connect/index.ts'
import { HTTPError } from '../../src/index.ts'
import { appWithReports } from './kit.ts'

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
