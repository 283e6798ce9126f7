import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { procedure } from '../../src/procedures/index.ts'
import { type App, HTTPError, middleware, type SendHook } from '../../src/index.ts'
import { kit } from './kit.ts'

describe('onSend hooks', () => {
  /** Adds the name of each hook that a reply passes. */
  const mark =
    (name: string): SendHook =>
    (_, { headers }) => {
      headers.append('x-order', name)
    }

  const marking = (name: string) => middleware({ onSend: mark(name) }, (_, next) => next())

  const orderOf = async (app: App, url: string, method = 'GET') =>
    (await app.inject({ url, method })).headers['x-order']

  test('run from the inside out, the last registered of a scope first', async () => {
    const app = kit.app()
    app.onSend(mark('1'))
    app.use(marking('2'))
    app.onSend(mark('3'))
    app.group('/g', (group) => {
      group.onSend(mark('g'))
      group.get('/x', marking('r1'), marking('r2'), () => 'x')
    })
    app.register((scope) => {
      scope.onSend(mark('p'))
      scope.get('/p', () => 'x')
    })
    app.with(marking('w')).get('/w', () => 'x')
    const inner = kit.app()
    inner.use('/only', marking('only'))
    inner.onSend(mark('m'))
    inner.get('/only/x', () => 'x')
    inner.get('/y', () => 'x')
    app.mount('/m', inner)
    app.get('/x', () => 'x')
    const rows = [
      ['/x', '3, 2, 1'],
      ['/g/x', 'r2, r1, g, 3, 2, 1'],
      ['/g/none', 'g, 3, 2, 1'],
      ['/p', 'p, 3, 2, 1'],
      ['/w', 'w, 3, 2, 1'],
      ['/m/only/x', 'm, only, 3, 2, 1'],
      ['/m/y', 'm, 3, 2, 1'],
      ['/m/only/none', 'm, only, 3, 2, 1'],
      ['/none', '3, 2, 1'],
    ] as const
    for (const [path, order] of rows) assert.equal(await orderOf(app, path), order, path)
    assert.equal(await orderOf(app, '/g/x', 'DELETE'), 'g, 3, 2, 1')
    assert.equal(await orderOf(app, '/g/x', 'OPTIONS'), 'g, 3, 2, 1')
  })

  test('under a path run for requests under it alone', async () => {
    const app = kit.app()
    app.use('/a', marking('a'))
    app.get('/:x/y', () => 'x')
    app.get('/b', () => 'x')
    assert.equal(await orderOf(app, '/a/y'), 'a')
    assert.equal(await orderOf(app, '/b/y'), undefined)
    assert.equal(await orderOf(app, '/b'), undefined)
    assert.equal(await orderOf(app, '/a/none/x'), 'a')
  })

  test('see errors, those of an error handler, and what outer middleware replies', async () => {
    const app = kit.app()
    app.onSend((_, { status, headers }) => headers.set('x-seen', status))
    app.use('/guard', (ctx) => ctx.text('no', 401))
    app.get('/guard/x', () => 'x')
    app.get('/error', () => {
      throw new HTTPError(409)
    })
    app.group('/own', (own) => {
      own.onError((_, ctx) => ctx.text('handled', 422))
      own.get('/x', () => {
        throw new Error('own')
      })
    })
    for (const [path, status] of [
      ['/guard/x', '401'],
      ['/error', '409'],
      ['/own/x', '422'],
      ['/none', '404'],
    ] as const) {
      assert.equal((await app.inject(path)).headers['x-seen'], status, path)
    }
    assert.equal((await app.inject({ url: '/error', method: 'PUT' })).headers['x-seen'], '405')
  })

  test('are awaited in order, and the listeners of the reply wait as well', async () => {
    const app = kit.app()
    const order: string[] = []
    const slow =
      (name: string): SendHook =>
      async () => {
        await new Promise((resolve) => setImmediate(resolve))
        order.push(name)
      }
    app
      .onSend(slow('outer'))
      .onSend(() => void order.push('sync'))
      .onSend(slow('inner'))
    app.onResponse(() => void order.push('response'))
    app.get('/x', (ctx) => ctx.text('x'))
    app.get('/error', () => {
      throw new HTTPError(409)
    })
    for (const [path, status] of [
      ['/x', 200],
      ['/error', 409],
    ] as const) {
      assert.equal((await app.inject(path)).status, status)
      assert.deepEqual(order.splice(0), ['inner', 'sync', 'outer', 'response'])
    }
  })

  test('of a procedure are refused', () => {
    assert.throws(
      () => procedure().use(marking('x')),
      /a middleware with onResponse or onSend, or a rate limit, belongs to an app/,
    )
    assert.throws(() => kit.app().onSend(5 as never), { code: 'E_BAD_HANDLER' })
    assert.throws(
      () => middleware({ onSend: 5 as never }, () => {}),
      /middleware: onSend takes a function, not 5/,
    )
  })
})
