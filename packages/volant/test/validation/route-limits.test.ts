import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import type { Problem, Schema } from 'volant'
import { Kit } from '../kit.ts'
import { atLimit } from '../time-limit.ts'

const kit = new Kit()

describe('limits of a route', () => {
  test('its own query, form and JSON limits', async () => {
    const app = kit.app()
    app.get('/q', { maxQueryKeys: 2 }, (ctx) => Object.keys(ctx.query).length)
    app.post('/f', { maxFormKeys: 1, maxJsonDepth: 2 }, (ctx) => ctx.body as object)
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/q?a=1&b=2')).text, '2')
      assert.equal((await live.ask('/q?a=1&b=2&c=3')).status, 400)
      const form = 'application/x-www-form-urlencoded'
      assert.equal((await live.post('/f', form, 'a=1')).status, 200)
      assert.equal((await live.post('/f', form, 'a=1&b=2')).status, 400)
      assert.equal((await live.post('/f', 'application/json', '[[]]')).status, 200)
      assert.equal((await live.post('/f', 'application/json', '[[[]]]')).status, 400)
    })
  })

  test('its own handlerTimeout: 503, the signal, and a late reply that nobody sees', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    const late: { aborted?: boolean; threw?: unknown } = {}
    let done!: () => void
    const finished = new Promise<void>((resolve) => {
      done = resolve
    })
    app.get('/slow', { handlerTimeout: 30 }, async (ctx) => {
      await new Promise((resolve) => ctx.signal.addEventListener('abort', resolve))
      late.aborted = ctx.signal.aborted
      try {
        ctx.json({ late: true })
      } catch (error) {
        late.threw = error
      }
      done()
    })
    app.get('/quick', { handlerTimeout: 1_000 }, async () => 'quick')
    await kit.serve(app, async (live) => {
      const reports = kit.reports.length
      const reply = await atLimit(live.ask('/slow'), clock, 30)
      assert.equal(reply.status, 503)
      assert.equal((reply.json() as Problem).code, 'E_HANDLER_TIMEOUT')
      await finished
      assert.deepEqual(late, { aborted: true })
      assert.equal((await live.ask('/quick')).text, 'quick')
      assert.equal(kit.reports.length, reports)
    })
  })

  test('past its own handlerTimeout only the 503 is sent, and work that stops is no news', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    app.get('/replies', { handlerTimeout: 20 }, (ctx) => {
      ctx.signal.addEventListener('abort', () => ctx.text('mine'))
      return new Promise(() => {})
    })
    app.get(
      '/stops',
      { handlerTimeout: 20 },
      (ctx) =>
        new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason))),
    )
    await kit.serve(app, async (live) => {
      const reports = kit.reports.length
      for (const path of ['/replies', '/stops']) {
        const reply = await atLimit(live.ask(path), clock, 20)
        assert.equal(reply.status, 503)
        assert.equal((reply.json() as Problem).code, 'E_HANDLER_TIMEOUT')
      }
      assert.equal(kit.reports.length, reports)
    })
  })

  test('a result that is any thenable is waited for; issues without a member are a failure', async () => {
    const schema = (check: (value: unknown) => unknown): Schema =>
      ({ '~standard': { version: 1, vendor: 'test', validate: check } }) as Schema
    // oxlint-disable-next-line unicorn/no-thenable -- that is the case
    const later = (result: unknown) => ({ then: (go: (value: unknown) => void) => go(result) })
    const good = schema((value) => later({ value: { checked: value } }))
    const bad = schema(() => later({ issues: [{ message: 'no' }] }))
    const silent = schema(() => Promise.resolve({ issues: [] }))
    const app = kit.app()
    app.post('/good', { body: good }, (ctx) => ctx.json(ctx.body))
    app.post('/good/all', { query: good, body: good }, (ctx) => ctx.json(ctx.body))
    app.post('/bad', { body: bad }, () => 'passed')
    app.post('/bad/all', { query: good, body: bad }, () => 'passed')
    app.post('/silent', { body: silent }, () => 'passed')
    app.post('/silent/all', { query: good, body: silent }, () => 'passed')
    await kit.serve(app, async (live) => {
      for (const path of ['/good', '/good/all', '/bad', '/bad/all', '/silent', '/silent/all']) {
        const reply = await live.post(path, 'application/json', '{"a":1}')
        if (path.startsWith('/good')) assert.deepEqual(reply.json(), { checked: { a: 1 } })
        else assert.equal(reply.status, 400, path)
      }
    })
  })

  test('the 503 of its handlerTimeout goes through onError', async (t) => {
    const clock = testClock(t)
    const app = kit.app()
    app.onError((error, ctx) => ctx.json({ code: (error as { code?: string }).code }, 504))
    app.get('/slow', { handlerTimeout: 20 }, () => new Promise(() => {}))
    await kit.serve(app, async (live) => {
      const reply = await atLimit(live.ask('/slow'), clock, 20)
      assert.equal(reply.status, 504)
      assert.deepEqual(reply.json(), { code: 'E_HANDLER_TIMEOUT' })
    })
  })

  test('values that make no sense are refused', () => {
    const app = kit.app({ limits: { handlerTimeout: 1_000 } })
    for (const options of [
      { maxQueryKeys: -1 },
      { maxJsonDepth: Number.NaN },
      { handlerTimeout: '5' as never },
    ]) {
      assert.throws(() => app.get('/x', options, () => 1), {
        code: 'E_BAD_OPTION',
        message: new RegExp(Object.keys(options)[0] as string),
      })
    }
    assert.throws(() => app.get('/x', { handlerTimeout: 2_000 }, () => 1), {
      message: /limits\.handlerTimeout/,
    })
    assert.throws(() => app.get('/x', { handlerTimeout: 0 }, () => 1), {
      message: /limits\.handlerTimeout/,
    })
  })
})
