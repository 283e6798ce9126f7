import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { type Context, HTTPError } from '../../src/index.ts'
import { kit, reported } from './kit.ts'

describe('onSend in four lines', () => {
  test('a response-time header', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    const begun = new WeakMap<Context, number>()
    app.use((ctx, next) => (begun.set(ctx, performance.now()), next()))
    app.onSend((ctx, { headers }) =>
      headers.set('x-response-time', (performance.now() - (begun.get(ctx) ?? 0)).toFixed(3)),
    )
    app.get('/x', () => clock.advance(5).then(() => 'late'))
    const { headers, body } = await app.inject('/x')
    assert.equal(headers['x-response-time'], '5.000')
    assert.equal(body.toString(), 'late')
    assert.equal((await app.inject('/none')).headers['x-response-time'], '0.000')
  })

  test('cache-control by status', async () => {
    const app = kit.app()
    app.onSend((_, { status, headers }) =>
      headers.set('cache-control', status < 300 ? 'max-age=60' : 'no-store'),
    )
    app.get('/x', () => 'x')
    app.get('/bad', () => {
      throw new HTTPError(409, 'conflict')
    })
    const seen = async (url: string) => (await app.inject(url)).headers['cache-control']
    assert.deepEqual(await Promise.all(['/x', '/bad', '/none'].map(seen)), [
      'max-age=60',
      'no-store',
      'no-store',
    ])
  })

  test('an envelope around the body', async () => {
    const app = kit.app()
    app.onSend((_, reply) => {
      if (reply.headers.get('content-type')?.startsWith('application/json') !== true) return
      reply.body = `{"status":${reply.status},"data":${String(reply.body)}}`
    })
    app.get('/x', () => ({ a: 1 }))
    app.get('/text', () => 'text')
    assert.deepEqual((await app.inject('/x')).json(), { status: 200, data: { a: 1 } })
    assert.equal((await app.inject('/text')).text(), 'text')
    assert.equal(
      (await app.inject('/none')).headers['content-type'],
      'application/problem+json; charset=utf-8',
    )
  })

  test('a 500 when it throws, which no hook sees', async () => {
    const app = kit.app()
    let seen = 0
    app.onSend(() => void seen++)
    app.onSend((ctx) => {
      if (ctx.path === '/teapot') throw new HTTPError(418, 'short', { headers: { 'x-tea': 'yes' } })
      throw new Error('hook')
    })
    app.get('/x', (ctx) => ctx.header('etag', '"a"').text('x'))
    app.get('/teapot', () => 'x')
    const reply = await app.inject('/x')
    assert.deepEqual([reply.status, reply.headers['etag']], [500, undefined])
    assert.deepEqual(reported(), ['hook'])
    const teapot = await app.inject('/teapot')
    assert.deepEqual([teapot.status, teapot.headers['x-tea']], [418, 'yes'])
    assert.equal((await app.inject('/none')).status, 500)
    assert.deepEqual([seen, reported()], [0, ['hook']])
  })
})
