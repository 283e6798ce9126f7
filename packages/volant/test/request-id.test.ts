import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { requestId, type RequestIdOptions, type VolantError } from 'volant'
import { Kit } from './kit.ts'

const kit = new Kit()

describe('requestId', () => {
  const serving = (options: RequestIdOptions | undefined, run: Parameters<Kit['serve']>[1]) => {
    const app = kit.app()
    app.use(requestId(options))
    app.get('/id', (ctx) => ctx.id)
    app.get('/broken', () => {
      throw new Error('broken')
    })
    return kit.serve(app, run)
  }

  test('every reply has the id its handler saw, and no other request has it', async () => {
    await serving(undefined, async (live) => {
      const first = await live.ask('/id')
      const second = await live.ask('/id')
      assert.match(first.text, /^[\w-]{8,}$/)
      assert.equal(first.headers['x-request-id'], first.text)
      assert.notEqual(first.text, second.text)
      for (const path of ['/broken', '/none']) {
        assert.match((await live.ask(path)).headers['x-request-id'] ?? '', /^[\w-]{8,}$/)
      }
      assert.ok((await live.ask('/id', { method: 'POST' })).headers['x-request-id'])
    })
  })

  test('an id that comes with the request is not believed unless it is to be', async () => {
    const headers = { 'x-request-id': 'from-outside' }
    await serving(undefined, async (live) => {
      assert.notEqual((await live.ask('/id', { headers })).text, 'from-outside')
    })
    await serving({ trust: true }, async (live) => {
      const reply = await live.ask('/id', { headers })
      assert.equal(reply.text, 'from-outside')
      assert.equal(reply.headers['x-request-id'], 'from-outside')
    })
    await serving({ trust: (ctx) => ctx.headers['x-key'] === 'k' }, async (live) => {
      assert.notEqual((await live.ask('/id', { headers })).text, 'from-outside')
      assert.equal((await live.ask('/id', { headers: { ...headers, 'x-key': 'k' } })).text, 'from-outside')
    })
    const promising = { trust: () => Promise.resolve(false) } as unknown as RequestIdOptions
    await serving(promising, async (live) => {
      assert.notEqual((await live.ask('/id', { headers })).text, 'from-outside')
    })
  })

  test('an unsound id is replaced even where ids are believed', async () => {
    await serving({ trust: true }, async (live) => {
      for (const bad of ['', 'a b', 'a"b', 'a,b', '{}', 'a\tb', 'a\x80b', 'x'.repeat(129)]) {
        const reply = await live.ask('/id', { headers: { 'x-request-id': bad } })
        assert.equal(reply.status, 200)
        assert.notEqual(reply.text, bad)
        assert.match(reply.headers['x-request-id'] ?? '', /^[\w-]{8,}$/)
      }
      const most = 'x'.repeat(128)
      assert.equal((await live.ask('/id', { headers: { 'x-request-id': most } })).text, most)
    })
  })

  test('header and generator can be chosen', async () => {
    let made = 0
    const options = { header: 'X-Correlation-Id', generator: () => `mine-${++made}`, trust: true }
    await serving(options, async (live) => {
      const reply = await live.ask('/id')
      assert.equal(reply.text, 'mine-1')
      assert.equal(reply.headers['x-correlation-id'], 'mine-1')
      assert.equal(reply.headers['x-request-id'], undefined)
      const headers = { 'x-correlation-id': 'theirs', 'x-request-id': 'other' }
      assert.equal((await live.ask('/id', { headers })).text, 'theirs')
    })
    await serving({ header: false }, async (live) => {
      const reply = await live.ask('/id')
      assert.equal(reply.headers['x-request-id'], undefined)
      assert.match(reply.text, /^[\w-]{8,}$/)
    })
  })

  test('a generator that makes an unsound id fails the request', async () => {
    for (const id of ['a\r\nset-cookie: a=b', '', 5, undefined, 'x'.repeat(129)]) {
      await serving({ generator: () => id as string }, async (live) => {
        const reply = await live.ask('/id')
        assert.equal(reply.status, 500)
        assert.equal(reply.headers['set-cookie'], undefined)
      })
      const report = kit.reports.at(-1) as VolantError
      assert.equal(report.code, 'E_BAD_OPTION')
      assert.match(report.message, /requestId: .*generator/)
    }
  })

  test('in a scope of a scope the reply has one id', async () => {
    const app = kit.app()
    app.use(requestId())
    app.get('/id', requestId({ generator: () => 'inner' }), (ctx) => ctx.id)
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/id')
      assert.equal(reply.text, 'inner')
      assert.equal(reply.headers['x-request-id'], 'inner')
    })
  })

  const nonsense: [string, unknown][] = [
    ['requestId', null],
    ['requestId', 'x-request-id'],
    ['name', { name: 'x' }],
    ['trust', { trust: 'yes' }],
    ['generator', { generator: 'uuid' }],
    ['header', { header: 'a b' }],
    ['header', { header: true }],
    ['header', { header: 'connection' }],
  ]
  for (const [name, given] of nonsense) {
    test(`the option ${JSON.stringify(given)} is refused`, () => {
      assert.throws(
        () => requestId(given as RequestIdOptions),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes(name),
      )
    })
  }
})
