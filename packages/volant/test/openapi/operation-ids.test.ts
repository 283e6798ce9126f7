/** The ids of operations. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createApp, openapiOf } from 'volant'
import { idsOf } from './everything.ts'

const info = { title: 'Test', version: '1.0.0' }

describe('openapiOf', () => {
  test('ids are those of routes, else made of method and path, and never twice', () => {
    const app = createApp({ signals: false })
    app.get('/users/:id/:part?', { operationId: 'users.get' }, () => 'ok')
    app.get('/users', () => 'ok')
    app.get('/get-users', { operationId: 'getBadgeByValueSvg' }, () => 'ok')
    app.get('/badge/:value.svg', () => 'ok')
    const inner = createApp({ signals: false })
    inner.get('/x', { operationId: 'x' }, () => 'ok')
    app.mount('/one', inner)
    app.mount('/two', inner)
    assert.deepEqual(idsOf(openapiOf(app, { info })), {
      'GET /badge/{value}.svg': 'getBadgeByValueSvg2',
      'GET /get-users': 'getBadgeByValueSvg',
      'GET /one/x': 'x',
      'GET /two/x': 'x2',
      'GET /users': 'getUsers',
      'GET /users/{id}': 'users.getWithoutPart',
      'GET /users/{id}/{part}': 'users.get',
    })
  })

  test('two routes of one operationId are refused by name, before the app starts', () => {
    const app = createApp({ signals: false })
    app.get('/a', { operationId: 'x' }, () => 'ok')
    app.post('/b', { operationId: 'x' }, () => 'ok')
    app.get('/internal', { operationId: 'y', hidden: true }, () => 'ok')
    app.get('/c', { operationId: 'y' }, () => 'ok')
    assert.throws(() => openapiOf(app, { info }), {
      code: 'E_OPERATION_ID',
      message: /GET \/a and POST \/b both have the operationId "x"/,
    })
    const { paths } = openapiOf(app, { info, include: ({ path }) => path !== '/b' })
    assert.deepEqual(Object.keys(paths), ['/a', '/c'])
  })

  test('two mounted apps may call a route the same', () => {
    const app = createApp({ signals: false })
    for (const prefix of ['/one', '/two']) {
      const inner = createApp({ signals: false })
      inner.expose({ list: inner.get('/list', () => 'ok') }, { path: false })
      app.mount(prefix, inner)
    }
    assert.deepEqual(idsOf(openapiOf(app, { info })), { 'GET /one/list': 'list', 'GET /two/list': 'list2' })
  })
})
