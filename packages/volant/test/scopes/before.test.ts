import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { before, type Context, HTTPError, middleware } from 'volant'
import { mark, kit } from './kit.ts'

describe('before', () => {
  test('goes on, replies, returns or throws; synchronously or not', async () => {
    const app = kit.app()
    const act = (ctx: Context): unknown => {
      switch (ctx.query['do']) {
        case 'reply':
          return ctx.text('replied', 403)
        case 'return':
          return { returned: true }
        case 'throw':
          throw new HTTPError(418, 'thrown')
      }
      ctx.header('x-seen', 'yes')
      return undefined
    }
    app.get('/sync', before(act), () => 'handler')
    app.get(
      '/async',
      before(async (ctx) => {
        await Promise.resolve()
        return act(ctx)
      }),
      () => 'handler',
    )
    app.get('/between', mark('outer'), before(act), mark('inner'), async () => 'handler')
    await kit.serve(app, async (live) => {
      for (const path of ['/sync', '/async', '/between']) {
        const passed = await live.ask(path)
        assert.equal(passed.text, 'handler')
        assert.equal(passed.headers['x-seen'], 'yes')
        assert.equal((await live.ask(`${path}?do=reply`)).status, 403)
        assert.deepEqual((await live.ask(`${path}?do=return`)).json(), { returned: true })
        assert.equal((await live.ask(`${path}?do=throw`)).status, 418)
      }
    })
  })

  test('a middleware around it sees the reply', async () => {
    const app = kit.app()
    const seen: unknown[] = []
    app.use(async (ctx, next) => {
      await next()
      seen.push(ctx.status(), ctx.replied)
    })
    app.get(
      '/x',
      before((ctx) => ctx.text('stop', 402)),
      () => 'handler',
    )
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/x')).status, 402)
    })
    assert.deepEqual(seen, [402, true])
  })

  test('declarations that make no sense are refused', () => {
    assert.throws(() => before('x' as never), { code: 'E_BAD_HANDLER', message: /before takes a function/ })
    assert.throws(() => middleware({} as never, null as never), { code: 'E_BAD_HANDLER' })
    assert.throws(() => middleware(5 as never, () => {}), { code: 'E_BAD_OPTION' })
    assert.throws(() => middleware({ error: {} } as never, () => {}), { message: /not error/ })
    assert.throws(() => middleware({ errors: { X: { status: 200 } } }, () => {}), { code: 'E_BAD_STATUS' })
    assert.throws(() => middleware({ onResponse: 1 } as never, () => {}), { code: 'E_BAD_HANDLER' })
    for (const [security, message] of [
      ['bearer', /security takes schemes by name.*not "bearer"/],
      [[], /security takes schemes by name.*not an empty array/],
      [['bearer'], /security takes schemes by name.*not "bearer"/],
      [[{ bearer: [] }], /security\.bearer takes a Security Scheme Object.*not an empty array/],
      [{ bearer: { scheme: 'bearer' } }, /security\.bearer takes a Security Scheme Object/],
      [{ 'my key': { type: 'http', scheme: 'bearer' } }, /not "my key"/],
    ] as const) {
      assert.throws(() => before({ security } as never, () => {}), { code: 'E_BAD_OPTION', message })
    }
  })
})
