/** In which order middleware of connect and Express runs. Bytes are in the adapters' cases. */
import assert from 'node:assert/strict'
import { IncomingMessage, ServerResponse } from 'node:http'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { type Connected, connectOf, fromConnect } from '../../src/connect/index.ts'
import { appWithReports } from './kit.ts'

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
