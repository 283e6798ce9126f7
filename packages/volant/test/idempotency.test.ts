import assert from 'node:assert/strict'
import { request as httpRequest } from 'node:http'
import { describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { apiKey, authenticate, bearer } from 'volant/auth'
import {
  type IdempotencyOptions,
  idempotency,
  type KeyStore,
  memoryKeys,
  type SetOptions,
} from 'volant/idempotency'
import { session } from 'volant/session'
import { type App, HTTPError } from '../src/index.ts'
import { FakeSupervisor } from './fake-supervision.ts'
import { deferred, eventually, Kit, type Live, type Reply, stderrLines } from './kit.ts'

const kit = new Kit()

/** An app that counts how often its handlers run. */
function counting(options: Partial<IdempotencyOptions> = {}, build: (app: App) => void = () => {}) {
  const app = kit.app()
  const runs = { count: 0 }
  app.use(idempotency({ store: memoryKeys(), ...options }))
  app.post('/pay', (ctx) => {
    runs.count++
    ctx.status(201).header('location', `/payments/${runs.count}`).append('x-two', 'a').append('x-two', 'b')
    return { payment: runs.count, got: ctx.body }
  })
  build(app)
  return Object.assign(app, { runs })
}

const pay = (
  live: Live,
  key: string | null,
  body = '{"cents":5}',
  headers: Record<string, string> = {},
): Promise<Reply> =>
  live.ask('/pay', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      ...(key === null ? {} : { 'idempotency-key': key }),
      ...headers,
    },
    body,
  })

/** Asks until the answer is yes. */
async function becomes(condition: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `never: ${what}`)
    await sleep(5)
  }
}

const codeOf = (reply: Reply): [number, unknown] => [reply.status, (reply.json() as { code: unknown }).code]

describe('a request with Idempotency-Key', () => {
  test('runs once, and its repetition has the same status, fields and body', async () => {
    const app = counting()
    await kit.serve(app, async (live) => {
      const first = await pay(live, '"8e03978e-40d5-43dd"')
      const again = await pay(live, '8e03978e-40d5-43dd')
      assert.deepEqual([first.status, app.runs.count], [201, 1])
      assert.equal(first.headers['idempotent-replayed'], undefined)
      assert.equal(again.headers['idempotent-replayed'], 'true')
      const { 'idempotent-replayed': _, date: __, ...fields } = again.headers
      const { date: ___, ...own } = first.headers
      assert.deepEqual([again.status, fields, again.text], [first.status, own, first.text])
      assert.equal(again.headers['x-two'], 'a, b')
      await pay(live, 'another')
      await pay(live, null)
      await pay(live, null)
      assert.equal(app.runs.count, 4)
    })
  })

  test('is refused where the key is missing, malformed, or that of another request', async () => {
    const app = counting({ required: true })
    app.get('/', () => 'x')
    await kit.serve(app, async (live) => {
      assert.deepEqual(codeOf(await pay(live, null)), [400, 'E_IDEMPOTENCY_KEY'])
      for (const key of ['', '""', '"a', 'a b', 'a, b', '"a";x=1', 'x'.repeat(256), 'ü', '"a\\b"']) {
        assert.deepEqual(codeOf(await pay(live, key)), [400, 'E_IDEMPOTENCY_KEY'], key)
      }
      assert.equal((await pay(live, 'x'.repeat(255))).status, 201)
      assert.equal((await pay(live, '"with \\"quotes\\" "')).status, 201)
      assert.equal(app.runs.count, 2)
      assert.deepEqual(codeOf(await pay(live, 'x'.repeat(255), '{"cents":6}')), [422, 'E_IDEMPOTENCY_REUSED'])
      assert.equal((await live.ask('/')).status, 200)
      assert.equal(app.runs.count, 2)
    })
  })

  test('is 409 while the first one is at work, whose key is held on meanwhile', async (t) => {
    let now = 0
    t.mock.method(performance, 'now', () => now)
    t.mock.timers.enable({ apis: ['setTimeout'] })
    const gate = deferred<void>()
    const app = counting({ lockTimeout: 1_000 }, (each) =>
      each.post('/slow', async () => {
        await gate.promise
        return 'done'
      }),
    )
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/slow', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      const first = ask()
      // Several times the time after which the key of a process that died would be free.
      for (let time = 0; time < 25; time++) {
        now += 100
        t.mock.timers.tick(100)
        await new Promise(setImmediate)
        const reply = await ask()
        assert.deepEqual(codeOf(reply), [409, 'E_IDEMPOTENCY_BUSY'])
        assert.equal(reply.headers['retry-after'], '1')
      }
      gate.resolve()
      assert.equal((await first).text, 'done')
      assert.equal((await ask()).headers['idempotent-replayed'], 'true')
    })
  })

  test('runs again where it failed, unless the reply says what is wrong with it', async () => {
    let status = 503
    let count = 0
    const app = counting({}, (each) => {
      each.post('/fails', () => {
        count++
        if (status === 500) throw new Error('broken')
        if (status >= 400) throw new HTTPError(status, 'no')
        return 'fine'
      })
    })
    await kit.serve(app, async (live) => {
      const ask = async (): Promise<number> =>
        (await live.ask('/fails', { method: 'POST', headers: { 'idempotency-key': 'k' } })).status
      for (status of [503, 500, 401, 408, 409, 425, 429]) assert.equal(await ask(), status)
      assert.equal(count, 7)
      status = 404
      assert.equal(await ask(), 404)
      status = 200
      assert.equal(await ask(), 404)
      assert.equal(count, 8)
    })
  })

  test('keeps what `keeps` says', async () => {
    const app = counting({ keeps: (ctx, status) => ctx.path === '/pay' && status !== 201 })
    await kit.serve(app, async (live) => {
      await pay(live, 'k')
      await pay(live, 'k')
      assert.equal(app.runs.count, 2)
    })
  })

  test('has bytes, no body, and no cookies in its repetition', async () => {
    const app = counting({}, (each) => {
      each.post('/bytes', (ctx) => {
        ctx.cookie('sid', 'secret')
        return ctx.bytes(new Uint8Array([0, 255, 128]))
      })
      each.post('/empty', (ctx) => void ctx.status(204))
    })
    await kit.serve(app, async (live) => {
      const ask = (path: string): Promise<Reply> =>
        live.ask(path, { method: 'POST', headers: { 'idempotency-key': path } })
      const [first, again] = [await ask('/bytes'), await ask('/bytes')]
      assert.deepEqual([first.setCookies.length, again.setCookies.length], [1, 0])
      assert.deepEqual([...again.body], [0, 255, 128])
      assert.equal(again.headers['content-type'], first.headers['content-type'])
      const [, empty] = [await ask('/empty'), await ask('/empty')]
      assert.deepEqual([empty.status, empty.text, empty.headers['content-type']], [204, '', undefined])
      assert.equal(empty.headers['idempotent-replayed'], 'true')
    })
  })

  test('never runs twice where its reply cannot be kept: it is 409 then', async () => {
    let count = 0
    const app = counting({ maxReplySize: 10 }, (each) => {
      each.post('/stream', (ctx) => {
        count++
        return ctx.stream(['a', 'b'])
      })
      each.post('/long', () => {
        count++
        return 'x'.repeat(11)
      })
      each.post('/short', () => 'x'.repeat(10))
    })
    await kit.serve(app, async (live) => {
      const ask = (path: string): Promise<Reply> =>
        live.ask(path, { method: 'POST', headers: { 'idempotency-key': path } })
      const lines = await stderrLines(async () => {
        assert.equal((await ask('/stream')).text, 'ab')
        assert.equal((await ask('/long')).text.length, 11)
        await ask('/short')
      })
      assert.equal(lines.length, 2)
      assert.match(
        lines.join(''),
        /POST \/stream is a stream.*POST \/long has 11 bytes, and maxReplySize is 10/s,
      )
      for (const path of ['/stream', '/long'])
        assert.deepEqual(codeOf(await ask(path)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal((await ask('/short')).headers['idempotent-replayed'], 'true')
      assert.equal(count, 2)
    })
  })

  test('passes send hooks once: those behind it changed what is kept, those in front see each reply', async () => {
    const app = kit.app()
    let id = 0
    app.use((ctx, next) => {
      ctx.header('x-request', String(++id))
      return next()
    })
    app.onSend((_, reply) => void reply.headers.set('x-outer', `${reply.headers.get('x-outer') ?? ''}o`))
    app.use(idempotency({ store: memoryKeys() }))
    app.group('/in', (group) => {
      group.onSend((_, reply) => {
        reply.body = `<${String(reply.body)}>`
        reply.headers.append('x-inner', 'i')
      })
      group.post('/', () => 'value')
    })
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/in', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      for (const request of ['1', '2']) {
        const { text, headers } = await ask()
        assert.equal(text, '<value>')
        assert.deepEqual([headers['x-request'], headers['x-outer'], headers['x-inner']], [request, 'o', 'i'])
      }
    })
  })

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

  test('is compared by what `fingerprint` gives; a streamed body needs one', async () => {
    const fingerprint = (): string => 'same'
    const app = counting({ fingerprint }, (each) => each.post('/up', { bodyMode: 'stream' }, () => 'up'))
    const without = counting({}, (each) => each.post('/up', { bodyMode: 'stream' }, () => 'up'))
    const up = (live: Live): Promise<Reply> =>
      live.ask('/up', { method: 'POST', headers: { 'idempotency-key': 'k' }, body: 'x' })
    await kit.serve(app, async (live) => {
      await pay(live, 'k')
      assert.equal((await pay(live, 'k', '{"cents":6}')).headers['idempotent-replayed'], 'true')
      assert.equal((await up(live)).text, (await pay(live, 'k')).text)
    })
    await kit.serve(without, async (live) => {
      assert.equal((await up(live)).status, 500)
      assert.match(
        String(kit.reports.at(-1)),
        /cannot compare the body of POST \/up, which the handler streams/,
      )
    })
  })

  test('is refused by a second middleware of the same kind', async () => {
    const app = counting({}, (each) => each.post('/two', idempotency({ store: memoryKeys() }), () => 'x'))
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/two', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      assert.equal(reply.status, 500)
      assert.match(String(kit.reports.at(-1)), /E_MIDDLEWARE_CONFLICT|two middlewares of idempotency/)
    })
  })
})

describe('a client that leaves, or whose time is over,', () => {
  /** Listens, since a client leaves by a socket. */
  const listening = async (app: App, work: (url: string) => Promise<void>): Promise<void> => {
    const { url } = await app.listen({ port: 0, host: '127.0.0.1' })
    try {
      await work(url)
    } finally {
      await app.close({ drainIdle: 0 })
    }
  }

  for (const [name, hooks] of [
    ['', false],
    [' that a slow hook holds up', true],
  ] as const) {
    test(`gets the reply${name} when it asks again`, async () => {
      const entered = deferred<void>()
      const gate = deferred<void>()
      const app = kit.app()
      let count = 0
      app.use(idempotency({ store: memoryKeys() }))
      app.group('/', (group) => {
        group.onSend(async (_, reply) => {
          if (hooks && reply.status === 200) {
            entered.resolve()
            await gate.promise
          }
          reply.body = `<${String(reply.body)}>`
        })
        group.post('/', async () => {
          count++
          if (!hooks) {
            entered.resolve()
            await gate.promise
          }
          return 'done'
        })
      })
      await listening(app, async (url) => {
        const headers = { 'idempotency-key': 'k' }
        const first = httpRequest(url, { method: 'POST', headers })
        first.on('error', () => {})
        first.end()
        await entered.promise
        first.socket?.resetAndDestroy()
        await eventually(() => app.stats().connections === 0, 'the client has left')
        const busy = await fetch(url, { method: 'POST', headers })
        assert.equal(busy.status, 409)
        gate.resolve()
        let again = busy
        await becomes(async () => {
          again = await fetch(url, { method: 'POST', headers })
          return again.status !== 409
        }, 'the reply is there')
        assert.deepEqual([again.status, await again.text(), count], [200, '<done>', 1])
        assert.equal(again.headers.get('idempotent-replayed'), 'true')
      })
    })
  }

  for (const [name, fails, status, runs] of [
    ['is not run for again where the handler ended after its time', false, 409, 1],
    ['is run for again where the handler failed after its time', true, 410, 2],
  ] as const) {
    test(name, async () => {
      const gate = deferred<void>()
      const app = kit.app()
      let count = 0
      app.use(idempotency({ store: memoryKeys() }))
      app.post('/', { handlerTimeout: 20 }, async () => {
        if (++count > 1) throw new HTTPError(410, 'it runs again')
        await gate.promise
        if (fails) throw new Error('too late')
        return 'late'
      })
      await kit.serve(app, async (live) => {
        const ask = (): Promise<Reply> =>
          live.ask('/', { method: 'POST', headers: { 'idempotency-key': 'k' } })
        assert.deepEqual(codeOf(await ask()), [503, 'E_HANDLER_TIMEOUT'])
        assert.deepEqual(codeOf(await ask()), [409, 'E_IDEMPOTENCY_BUSY'])
        gate.resolve()
        let last = codeOf(await ask())
        await becomes(async () => (last = codeOf(await ask()))[1] !== 'E_IDEMPOTENCY_BUSY', 'it has ended')
        assert.deepEqual([last[0], count], [status, runs])
      })
    })
  }
})

describe('a store that fails', () => {
  const failing = (from: { isDown: boolean }): KeyStore => {
    const keys = memoryKeys()
    const guard = <T>(work: () => Promise<T>): Promise<T> =>
      from.isDown ? Promise.reject(new Error('away')) : work()
    return {
      get: (key) => guard(() => keys.get(key)),
      set: (...values) => guard(() => keys.set(...values)),
      del: (...values) => guard(() => keys.del(...values)),
    }
  }

  test('has requests with a key refused, or let through, and others are not concerned', async () => {
    for (const [onStoreError, status, runs] of [
      ['deny', 503, 1],
      ['allow', 201, 3],
    ] as const) {
      const app = counting({ store: failing({ isDown: true }), onStoreError })
      await kit.serve(app, async (live) => {
        for (let each = 0; each < 2; each++) {
          const reply = await pay(live, 'k')
          assert.equal(reply.status, status)
          assert.equal(reply.headers['retry-after'], status === 503 ? '1' : undefined)
        }
        assert.equal((await pay(live, null)).status, 201)
        assert.equal(app.runs.count, runs)
      })
    }
  })

  test('is offered a reply again that it did not take', async () => {
    const from = { isDown: false }
    const app = counting({ store: failing(from) }, (each) =>
      each.post('/then-away', () => {
        from.isDown = true
        return 'kept later'
      }),
    )
    await kit.serve(app, async (live) => {
      const ask = (): Promise<Reply> =>
        live.ask('/then-away', { method: 'POST', headers: { 'idempotency-key': 'k' } })
      assert.equal((await ask()).text, 'kept later')
      assert.equal((await ask()).status, 503)
      from.isDown = false
      let again = await ask()
      assert.equal(again.status, 409)
      await becomes(async () => (again = await ask()).status !== 409, 'the reply is there')
      assert.deepEqual([again.status, again.text], [200, 'kept later'])
    })
  })

  test('has values of others: they are no replies', async () => {
    const other: KeyStore = {
      get: async () => '{"status":200,"headers":[],"text":"of somebody"}',
      set: async () => false,
      del: async () => false,
    }
    await kit.serve(counting({ store: other }), async (live) => {
      assert.deepEqual(codeOf(await pay(live, 'k')), [503, 'E_IDEMPOTENCY_STORE'])
    })
  })
})

describe('options of idempotency', () => {
  test('that make no sense are refused', () => {
    const store = memoryKeys()
    for (const [options, message] of [
      [{}, /idempotency takes a store: redisKeys\(client\)/],
      [{ store: {} }, /idempotency: store takes/],
      [{ store, ttl: 5 }, /idempotency has no option "ttl".*keepFor/],
      [{ store, methods: ['GET'] }, /idempotency: methods/],
      [{ store, keepFor: 0 }, /idempotency: keepFor/],
      [{ store, lockTimeout: '1 week' }, /idempotency: lockTimeout/],
      [{ store, maxReplySize: -1 }, /idempotency: maxReplySize/],
      [{ store, onStoreError: 'local' }, /idempotency: onStoreError/],
      [{ store, scope: 'a' }, /idempotency: scope/],
    ] as const) {
      assert.throws(() => idempotency(options as never), { code: 'E_BAD_OPTION', message })
    }
  })

  test('stores in memory are refused where there are several workers', async () => {
    const { memorySessions } = await import('volant/session')
    const [several, one] = [new FakeSupervisor(2).start(0), new FakeSupervisor(1).start(0)]
    for (const make of [(): object => memoryKeys(), (): object => memorySessions()]) {
      assert.throws(() => several.run(make), {
        code: 'E_BAD_OPTION',
        message: /in one process, and there are 2 workers/,
      })
      one.run(make)
    }
  })
})

describe('memoryKeys', () => {
  test('writes and deletes under conditions, and forgets in time', async () => {
    const keys = memoryKeys()
    assert.equal(await keys.set('a', '1', { ifAbsent: true }), true)
    assert.equal(await keys.set('a', '2', { ifAbsent: true }), false)
    assert.equal(await keys.set('a', '2', { ifEqual: 'x' }), false)
    assert.equal(await keys.set('a', '2', { ifEqual: '1', expires: 60_000 }), true)
    assert.equal(await keys.get('a'), '2')
    assert.equal(await keys.set('a', '2', { ifEqual: '2', expires: 30 }), true)
    await becomes(async () => (await keys.get('a')) === null, 'its time is over')
    assert.equal(await keys.set('a', '3', { ifEqual: '2' }), false)
    assert.equal(await keys.set('a', '3'), true)
    assert.deepEqual(
      [await keys.del('a', { ifEqual: 'x' }), await keys.del('a'), await keys.del('a')],
      [false, true, false],
    )
    await assert.rejects(keys.set('a', '', { ifAbsent: true, ifEqual: '' }), { code: 'E_BAD_OPTION' })
    await assert.rejects(keys.set('a', '', { expires: 0 }), { code: 'E_BAD_OPTION' })
  })

  test('drops nothing but replies before its time, and is full at last', async () => {
    const keys = memoryKeys({ maxSize: 65_536 })
    const value = 'x'.repeat(65_536 - 201)
    await keys.set('a', value.slice(1), { expires: 1_000_000 })
    await assert.rejects(keys.set('b', ''), {
      code: 'E_IDEMPOTENCY_STORE',
      message: /memoryKeys\(\) is full/,
    })
    assert.equal(await keys.set('a', value), true)
    await assert.rejects(keys.set('a', `${value}x`), { code: 'E_IDEMPOTENCY_STORE' })
    assert.equal(await keys.get('a'), value)
    await keys.del('a')
    await keys.set('b', value, { expires: 10 })
    await becomes(async () => keys.set('c', value).catch(() => false), 'there is room again')
    assert.equal(await keys.get('b'), null)
  })

  test('says whose room is used up, also where most of the store is', async () => {
    const keys = memoryKeys({ maxSize: 65_536 })
    const ofEve = { owner: 'eve' } as SetOptions
    await keys.set('a', 'x'.repeat(12_000), ofEve)
    await keys.set('b', 'x'.repeat(40_000))
    await assert.rejects(keys.set('c', 'x'.repeat(6_000), ofEve), { message: /another key of a caller/ })
    await assert.rejects(keys.set('c', 'x'.repeat(20_000)), { message: /memoryKeys\(\) is full/ })
  })
})

test('a reply that is written after its lock ran out is counted for its caller', async () => {
  const app = kit.app()
  const store = memoryKeys()
  const owners: unknown[] = []
  let isFirst = true
  const lossy: KeyStore = {
    get: (key) => store.get(key),
    del: (key, options) => store.del(key, options),
    async set(key, value, options) {
      owners.push((options as { owner?: string }).owner)
      // The time of the key is over when its reply comes.
      if (isFirst && options?.ifEqual !== undefined) {
        isFirst = false
        await store.del(key)
      }
      return store.set(key, value, options)
    },
  }
  app.use(idempotency({ store: lossy, scope: () => 'Ann' }))
  app.post('/', () => 'done')
  await kit.serve(app, async (live) => {
    const ask = () => live.ask('/', { method: 'POST', headers: { 'idempotency-key': 'k' } })
    assert.deepEqual([(await ask()).text, (await ask()).headers['idempotent-replayed']], ['done', 'true'])
  })
  const [taken, , late] = owners
  assert.equal(typeof taken, 'string')
  assert.equal(late, taken)
})

describe('memoryKeys without room', () => {
  /** An app whose callers are named by a field, and whose replies have as many bytes as the request asks for. */
  const crowded = (options: Partial<IdempotencyOptions> = {}) => {
    const app = kit.app()
    const runs = { count: 0 }
    const scope: IdempotencyOptions['scope'] = (ctx) => ctx.headers['x-caller'] ?? ''
    app.use(idempotency({ store: memoryKeys({ maxSize: 65_536 }), scope, ...options }))
    app.post('/', (ctx) => {
      runs.count++
      return 'x'.repeat(Number(ctx.headers['x-size']))
    })
    const ask = (live: Live, caller: string, key: string, size: number): Promise<Reply> =>
      live.ask('/', {
        method: 'POST',
        headers: { 'idempotency-key': key, 'x-caller': caller, 'x-size': String(size) },
      })
    return Object.assign(app, { runs, from: ask })
  }

  test('forgets the oldest replies, and their requests do not run again', async () => {
    const app = crowded()
    await kit.serve(app, async (live) => {
      const lines = await stderrLines(async () => {
        for (let each = 0; each < 100; each++) {
          assert.equal((await app.from(live, `caller ${each}`, 'k', 1_000)).status, 200)
        }
      })
      assert.match(
        lines.join(''),
        /memoryKeys\(\) has no room for all replies.*maxSize, which is 65536 bytes/,
      )
      assert.equal(lines.length, 1)
      assert.deepEqual(codeOf(await app.from(live, 'caller 0', 'k', 1_000)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal((await app.from(live, 'caller 99', 'k', 1_000)).headers['idempotent-replayed'], 'true')
      assert.equal(app.runs.count, 100)
    })
  })

  test('gives one caller a sixteenth for replies and a quarter for keys; others keep theirs', async () => {
    const app = crowded()
    await kit.serve(app, async (live) => {
      await app.from(live, 'ada', 'k', 2_000)
      const statuses: number[] = []
      await stderrLines(async () => {
        // It never fits, and is not kept from the beginning.
        await app.from(live, 'eve', 'long', 5_000)
        for (let each = 0; each < 100; each++) {
          statuses.push((await app.from(live, 'eve', `k${each}`, 1_000)).status)
        }
      })
      assert.deepEqual(codeOf(await app.from(live, 'eve', 'long', 5_000)), [409, 'E_IDEMPOTENCY_LOST'])
      // Each of her keys has 345 bytes or so: 16,384 bytes are full of them at last.
      const served = statuses.filter((status) => status === 200).length
      assert.ok(served > 20 && served < 80, `${served} requests`)
      assert.deepEqual(
        [statuses.slice(0, served), new Set(statuses.slice(served))],
        [Array.from({ length: served }, () => 200), new Set([503])],
      )
      assert.match(String(kit.reports.at(-1)), /no room.*for another key of a caller.*This is said once/s)
      assert.equal((await app.from(live, 'ada', 'k', 2_000)).headers['idempotent-replayed'], 'true')
      assert.equal((await app.from(live, 'bob', 'k', 2_000)).status, 200)
      assert.equal((await app.from(live, 'bob', 'k', 2_000)).headers['idempotent-replayed'], 'true')
      assert.deepEqual(codeOf(await app.from(live, 'eve', 'k0', 1_000)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal(app.runs.count, served + 3)
    })
  })

  test('is no store that is down: what it has is found, however often it refuses', async () => {
    const store = memoryKeys({ maxSize: 65_536 })
    const app = crowded({ store })
    await kit.serve(app, async (live) => {
      assert.equal((await app.from(live, 'ada', 'k', 10)).status, 200)
      // What is no reply is never forgotten.
      await stderrLines(async () => {
        for (let size = 32_768, each = 0; size > 0; each++) {
          const isSet = await store.set(`other ${each}`, 'x'.repeat(size)).catch(() => false)
          if (!isSet) size >>= 1
        }
      })
      for (let each = 0; each < 10; each++) {
        const reply = await app.from(live, 'ada', `another-${each}`, 10)
        assert.deepEqual(codeOf(reply), [503, 'E_IDEMPOTENCY_STORE'])
      }
      assert.deepEqual(codeOf(await app.from(live, 'ada', 'k', 10)), [409, 'E_IDEMPOTENCY_LOST'])
      assert.equal(app.runs.count, 1)
    })
  })
})
