import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { middleware } from '../../src/index.ts'
import { deferred, eventually } from '../kit.ts'
import { atLimit } from '../time-limit.ts'
import { kit, reported, source } from './kit.ts'

describe('onSend hooks', () => {
  test('that wait let nobody reply twice', async () => {
    const app = kit.app()
    const go = deferred()
    app.onSend(() => go.promise)
    app.get('/x', async (ctx) => {
      ctx.text('first')
      ctx.json({ second: true })
      ctx.header('x-late', 'in time: the head has not left')
      go.resolve()
      throw new Error('after the reply')
    })
    const { status, headers } = await app.inject('/x')
    assert.deepEqual([status, headers['x-late']], [200, 'in time: the head has not left'])
    assert.deepEqual(reported(), [
      'ctx.json was called after GET /x had its reply, and was dropped: an onSend hook sets reply.body',
      'after the reply',
    ])
  })

  test('that never end are ended by the time of the route', async (t) => {
    const clock = testClock(t)
    for (const handler of [undefined, async () => 'handled'] as const) {
      const app = kit.app()
      const go = deferred()
      const { stream, ended } = source(['a'])
      const told: unknown[] = []
      app.onSend(() => go.promise)
      app.onResponse((_, { status, aborted }) => void told.push([status, aborted]))
      if (handler !== undefined) app.onError(handler)
      app.get('/x', { handlerTimeout: 20 }, (ctx) => ctx.stream(stream))
      const { status, body } = await atLimit(app.inject('/x'), clock, 20)
      assert.equal(status, 503)
      if (handler !== undefined) assert.equal(body.toString(), 'handled')
      go.resolve()
      await eventually(() => ended() > 0 && told.length > 0, 'the source is cancelled')
      assert.deepEqual([told, reported()], [[[503, false]], []])
    }
  })

  test('that never settle do not hold up the 503 of handlerTimeout, nor does an error handler', async (t) => {
    const clock = testClock(t)
    const never = () => new Promise<never>(() => {})
    // The time of the handler, and as much for each that answers in place of what did not settle.
    for (const [onError, ms] of [
      [undefined, 40],
      [never, 60],
      [() => 'handled', 40],
    ] as const) {
      const app = kit.app()
      const told: number[] = []
      app.onSend(never)
      app.onResponse((_, { status }) => void told.push(status))
      if (onError !== undefined) app.onError(onError)
      app.get('/x', { handlerTimeout: 20 }, never)
      const { status, body } = await atLimit(app.inject('/x'), clock, ms)
      assert.deepEqual([status, JSON.parse(body.toString()).code], [503, 'E_HANDLER_TIMEOUT'])
      assert.deepEqual(told, [503])
    }
  })

  test('that fail are answered by the error handler, which may wait; the handler does not reply again', async () => {
    for (const wait of [false, true]) {
      const app = kit.app()
      const ran: string[] = []
      app.onSend(async () => {
        if (wait) await Promise.resolve()
        throw new Error('hook')
      })
      app.onSend(() => {
        if (!wait) throw new Error('hook')
      })
      app.onError(async (error, ctx) => {
        await new Promise((resolve) => setImmediate(resolve))
        ctx.text((error as Error).message, 502)
      })
      app.use(
        middleware(async (ctx, next) => {
          await next()
          ran.push(`after ${ctx.status()}`)
        }),
      )
      app.get(
        '/gate',
        middleware((ctx) => void ctx.text('gate', 401)),
        () => void ran.push('handler'),
      )
      app.get('/x', (ctx) => void ctx.text('x'))
      app.get('/value', async () => ({ a: 1 }))
      for (const path of ['/gate', '/x', '/value']) {
        const reply = await app.inject(path)
        assert.deepEqual([reply.status, reply.text()], [502, 'hook'], path)
      }
      assert.ok(!ran.includes('handler'))
      assert.deepEqual(reported(), [])
    }
  })
})
