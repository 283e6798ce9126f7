import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { apiKey, authenticate, bearer } from 'volant/auth'
import { idempotency, memoryKeys } from 'volant/idempotency'
import { session } from 'volant/session'
import { type Reply, stderrLines } from '../kit.ts'
import { codeOf, counting, kit, pay } from './kit.ts'

describe('a request with Idempotency-Key', () => {
  test('belongs to its caller: the subject of a token, a session, Authorization, an address', async () => {
    const app = kit.app()
    const runs: string[] = []
    const tokens: Record<string, object> = { old: { id: 'ada' }, renewed: { id: 'ada' }, eve: { id: 'eve' } }
    app.group('/users', (group) => {
      group.use(bearer({ verify: (token) => (tokens[token] as { id: string }) ?? null }))
      group.use(idempotency({ store: memoryKeys() }))
      group.post('/', (ctx) => {
        runs.push('run')
        return String(ctx.headers['authorization'])
      })
    })
    const sessions = session({ keys: ['k'.repeat(32)], cookie: { secure: false } })
    const visitors = app.with(sessions)
    visitors.get('/visit', (ctx) => {
      ctx.state.session.set('a', 1)
      return 'hi'
    })
    visitors.post('/cart', idempotency({ store: memoryKeys() }), () => String(runs.push('run')))
    app.post('/raw', idempotency({ store: memoryKeys() }), () => String(runs.push('run')))
    app.post(
      '/own',
      idempotency({ store: memoryKeys(), scope: (ctx) => ctx.headers['x-tenant'] ?? '' }),
      () => String(runs.push('run')),
    )
    await kit.serve(app, async (live) => {
      const ask = async (path: string, headers: Record<string, string>): Promise<number> => {
        runs.length = 0
        const reply = await live.ask(path, {
          method: 'POST',
          headers: { 'idempotency-key': 'k', ...headers },
        })
        assert.equal(reply.status, 200)
        return runs.length
      }
      const tokensInTurn = ['old', 'renewed', 'eve', 'old']
      const ran: number[] = []
      for (const token of tokensInTurn) ran.push(await ask('/users', { authorization: `Bearer ${token}` }))
      assert.deepEqual(ran, [1, 0, 1, 0])
      const visit = async (): Promise<string> => (await live.ask('/visit')).setCookies[0]?.split(';')[0] ?? ''
      const [ada, eve] = [await visit(), await visit()]
      assert.deepEqual(
        [
          await ask('/cart', { cookie: ada }),
          await ask('/cart', { cookie: eve }),
          await ask('/cart', { cookie: ada }),
        ],
        [1, 1, 0],
      )
      const raw = ['Basic a', 'Basic b', 'Basic a']
      const counts: number[] = []
      for (const authorization of raw) counts.push(await ask('/raw', { authorization }))
      assert.deepEqual([...counts, await ask('/raw', {}), await ask('/raw', {})], [1, 1, 0, 1, 0])
      assert.deepEqual(
        [
          await ask('/own', { 'x-tenant': 'a' }),
          await ask('/own', { 'x-tenant': 'b' }),
          await ask('/own', { 'x-tenant': 'a' }),
        ],
        [1, 1, 0],
      )
    })
  })

  test('belongs to what passed an authentication whose user has no id, or to nobody', async () => {
    const app = kit.app()
    let runs = 0
    const once = (): ReturnType<typeof idempotency> => idempotency({ store: memoryKeys() })
    for (const place of ['header', 'query', 'cookie'] as const) {
      app.group(`/${place}`, (group) => {
        group.use(apiKey({ in: place, name: 'x-own', verify: (key) => ({ plan: key }) }))
        group.use(once())
        group.post('/', () => String(++runs))
      })
    }
    app.group('/unknown', (group) => {
      group.use(
        authenticate({
          schemeName: 'own',
          security: { type: 'http', scheme: 'own' },
          credentials: (ctx) => ctx.headers['x-own'],
          verify: () => ({ plan: 'a' }),
        }),
      )
      group.use(once())
      group.post('/', () => String(++runs))
    })
    await kit.serve(app, async (live) => {
      const ask = (path: string, headers: Record<string, string>): Promise<Reply> =>
        live.ask(path, { method: 'POST', headers: { 'idempotency-key': 'k', ...headers } })
      for (const [path, headers] of [
        [() => '/header', (key: string) => ({ 'x-own': key })],
        [(key: string) => `/query?x-own=${key}`, () => ({})],
        [() => '/cookie', (key: string) => ({ cookie: `x-own=${key}` })],
      ] as const) {
        const ran: number[] = []
        for (const key of ['a', 'b', 'a']) {
          const before = runs
          assert.equal((await ask(path(key), headers(key))).status, 200)
          ran.push(runs - before)
        }
        assert.deepEqual(ran, [1, 1, 0], path('a'))
      }
      const before = runs
      assert.equal((await ask('/unknown', { 'x-own': 'a' })).status, 500)
      assert.equal(runs, before)
      assert.match(String(kit.reports.at(-1)), /cannot tell whose key POST \/unknown has.*write scope/)
    })
  })

  test('is told apart by X-Api-Key, and refused with another host or other cookies', async () => {
    const app = counting()
    await kit.serve(app, async (live) => {
      const ask = (headers: Record<string, string>): Promise<Reply> => pay(live, 'k', '{}', headers)
      const ran: number[] = []
      for (const headers of [
        { host: 'a.test' },
        { host: 'A.test:8080' },
        { host: 'a.test', 'x-api-key': '1' },
        { host: 'a.test', 'x-api-key': '2' },
        { host: 'a.test', 'x-api-key': '1' },
      ] as Record<string, string>[]) {
        const before = app.runs.count
        assert.equal((await ask(headers)).status, 201)
        ran.push(app.runs.count - before)
      }
      assert.deepEqual(ran, [1, 0, 1, 1, 0])
      assert.deepEqual(codeOf(await ask({ host: 'b.test' })), [422, 'E_IDEMPOTENCY_REUSED'])
      const own = { 'x-api-key': '3', cookie: 'login=ada' }
      assert.equal((await ask(own)).status, 201)
      assert.equal((await ask(own)).headers['idempotent-replayed'], 'true')
      const eve = { ...own, cookie: 'login=eve' }
      assert.deepEqual(codeOf(await ask(eve)), [422, 'E_IDEMPOTENCY_REUSED'])
    })
  })

  test('by an address behind a proxy that is not named is warned of, once', async () => {
    const app = counting()
    await kit.serve(app, async (live) => {
      const lines = await stderrLines(async () => {
        for (const key of ['1', '2']) await pay(live, key, '{}', { 'x-forwarded-for': '192.0.2.1' })
      })
      assert.equal(lines.length, 1)
      assert.match(lines.join(''), /idempotency\(\) took address .* that has X-Forwarded-For.*trustProxy/)
    })
  })
})
