import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { health, type HealthOptions, openapiOf, type OpenAPIResponse, type VolantError } from 'volant'
import { memoryBus } from 'volant/bus'
import { deferred, Kit } from './kit.ts'

const kit = new Kit()

const serving = (options: HealthOptions | void) => {
  const app = kit.app()
  app.register(health, options)
  return app
}

describe('health', () => {
  test('/health and /ready without any options', async () => {
    const app = kit.app()
    app.register(health)
    await kit.serve(app, async (live) => {
      for (const [path, body] of [
        ['/health', { status: 'ok' }],
        ['/ready', { status: 'ready', checks: {} }],
      ] as const) {
        const reply = await live.ask(path)
        assert.equal(reply.status, 200)
        assert.equal(reply.headers['cache-control'], 'no-store')
        assert.deepEqual(JSON.parse(reply.text), body)
        assert.equal((await live.ask(path, { method: 'HEAD' })).status, 200)
      }
      assert.equal((await live.ask('/api/health')).status, 404)
    })
  })

  test('/ready names the checks that failed and how, and nothing of why; /health is no part of it', async () => {
    const app = serving({
      timeout: 50,
      checks: {
        fine: () => undefined,
        good: async () => 'yes',
        throws: () => {
          throw new Error('the password is 1234')
        },
        rejects: () => Promise.reject(new Error('no')),
        says: () => false,
        hangs: () => new Promise(() => {}),
      },
    })
    kit.reports.length = 0
    await kit.serve(app, async (live) => {
      const reply = await live.ask('/ready')
      assert.equal(reply.status, 503)
      assert.deepEqual(JSON.parse(reply.text), {
        status: 'not ready',
        failed: ['throws', 'rejects', 'says', 'hangs'],
        checks: {
          fine: 'ok',
          good: 'ok',
          throws: 'failed',
          rejects: 'failed',
          says: 'failed',
          hangs: 'timed out',
        },
      })
      assert.equal((await live.ask('/health')).status, 200)
      await live.ask('/ready')
      assert.deepEqual(kit.reports.map((error) => (error as Error).message).toSorted(), [
        'no',
        'the health check hangs took longer than 50 ms',
        'the health check says gave false',
        'the password is 1234',
      ])
    })
  })

  test('a check that recovers is ready again', async () => {
    let up = false
    const app = serving({ checks: { database: () => up } })
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/ready')).status, 503)
      up = true
      assert.equal((await live.ask('/ready')).status, 200)
    })
  })

  test('a check runs once at a time, and its signal ends with its time', async () => {
    const finish = deferred<void>()
    let runs = 0
    let signal: AbortSignal | null = null
    const app = serving({
      timeout: 40,
      checks: {
        slow: (given) => {
          runs++
          signal ??= given
          return finish.promise
        },
      },
    })
    await kit.serve(app, async (live) => {
      const replies = await Promise.all([1, 2, 3].map(() => live.ask('/ready')))
      assert.deepEqual(
        replies.map(({ status }) => status),
        [503, 503, 503],
      )
      assert.equal((signal as unknown as AbortSignal).aborted, true)
      assert.equal((await live.ask('/ready')).status, 503)
      assert.equal(runs, 1)
      finish.resolve()
      await finish.promise
      assert.equal((await live.ask('/ready')).status, 200)
      assert.equal(runs, 2)
    })
  })

  test('details: uptime, memory, lag and counters', async () => {
    const app = kit.app({ bus: memoryBus() })
    app.register(health, { details: '/api/health', live: '/alive', ready: false })
    await kit.serve(app, async (live) => {
      const body = JSON.parse((await live.ask('/api/health')).text)
      assert.equal(body.status, 'ok')
      assert.deepEqual([body.sockets, body.bus.connected], [0, true])
      assert.ok(body.uptime > 0 && body.memory.rss > 1e6)
      for (const key of ['p50', 'p99', 'max']) assert.ok(body.eventLoopLag[key] >= 0, key)
      const said = openapiOf(app, { info: { title: 'Test', version: '1' } }).paths['/api/health']?.['get']
      const reply = said?.responses['200'] as OpenAPIResponse | undefined
      const content = reply?.content?.['application/json']
      const known = content?.schema?.['properties'] as object
      assert.deepEqual(
        Object.keys(body).filter((key) => !Object.hasOwn(known, key)),
        [],
      )
      assert.equal((await live.ask('/alive')).status, 200)
      for (const path of ['/health', '/ready']) assert.equal((await live.ask(path)).status, 404)
    })
  })

  test('in a group it is under its prefix', async () => {
    const app = kit.app()
    app.group('/internal', (group) => group.register(health))
    await kit.serve(app, async (live) => {
      assert.equal((await live.ask('/internal/ready')).status, 200)
      assert.equal((await live.ask('/ready')).status, 404)
    })
  })

  for (const timeout of [0, -1, 60_001, 1.5, NaN, '5']) {
    test(`a timeout of ${JSON.stringify(timeout)} is refused`, () => {
      assert.throws(
        () => serving({ timeout: timeout as number }),
        (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.startsWith('health.timeout'),
      )
    })
  }

  test('a check that is no function is refused with its name', () => {
    assert.throws(
      () => serving({ checks: { database: true as never } }),
      (error: VolantError) => error.code === 'E_BAD_HANDLER' && error.message.includes('the check database'),
    )
  })
})
