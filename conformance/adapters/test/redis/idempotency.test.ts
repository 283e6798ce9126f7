import assert from 'node:assert/strict'
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { after, before, describe, test } from 'node:test'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { createApp } from 'volant'
import { idempotency } from 'volant/idempotency'
import { redisKeys, type RedisClient } from 'volant/redis'
import { eventually, RedisServer, withoutRedis } from '@volant/test-kit'

describe('keys in Redis', { skip: withoutRedis }, () => {
  let server: RedisServer
  /** Looks at keys, and has their time be over. */
  let admin: Redis
  before(async () => {
    server = await (await RedisServer.make()).start()
    admin = new Redis({ port: server.port, host: '127.0.0.1' })
  })
  after(async () => {
    admin.disconnect()
    await server.end()
  })

  const clients = {
    redis: () => {
      const client = createClient({ url: `redis://127.0.0.1:${server.port}` })
      client.connect().catch(() => {})
      return {
        client,
        isReady: () => client.isReady,
        flush: () => client.sendCommand(['SCRIPT', 'FLUSH']),
        end: () => client.destroy(),
      }
    },
    ioredis: () => {
      const client = new Redis({ port: server.port, host: '127.0.0.1' })
      return {
        client,
        isReady: () => client.status === 'ready',
        flush: () => client.call('SCRIPT', 'FLUSH'),
        end: () => client.disconnect(),
      }
    },
  }

  for (const [name, connect] of Object.entries(clients)) {
    test(`are written and deleted under conditions, and forgotten in time, by a client of ${name}`, async () => {
      const { client, isReady, flush, end } = connect()
      try {
        const keys = redisKeys(client as RedisClient)
        await assert.rejects(keys.get('a'), /has no connection/)
        await eventually(isReady, 'the client is connected')
        assert.equal(await keys.get('a'), null)
        assert.equal(await keys.set('a', 'ü', { ifAbsent: true }), true)
        assert.equal(await keys.set('a', 'x', { ifAbsent: true }), false)
        assert.equal(await keys.set('a', 'x', { ifEqual: 'y' }), false)
        assert.equal(await keys.get('a'), 'ü')
        await flush()
        assert.equal(await keys.set('a', '2', { ifEqual: 'ü', expires: 20_000 }), true)
        const left = Number(await admin.pttl('a'))
        assert.ok(left > 10_000 && left <= 20_000, String(left))
        // As if its time were over.
        await admin.pexpireat('a', 1)
        assert.equal(await keys.get('a'), null)
        assert.equal(await keys.set('a', '3', { ifEqual: '2' }), false)
        assert.equal(await keys.set('a', '3'), true)
        assert.deepEqual(
          [await keys.del('a', { ifEqual: 'x' }), await keys.del('a', { ifEqual: '3' }), await keys.del('a')],
          [false, true, false],
        )
        const script = "return { redis.call('INCRBY', KEYS[1], ARGV[1]), #ARGV }"
        assert.deepEqual(await keys.run(script, [`n-${name}`], ['5']), [5, 1])
        await assert.rejects(keys.set('a', '', { expires: 0.5 }), { code: 'E_BAD_OPTION' })
        await assert.rejects(keys.set('a', '', { ifAbsent: true, ifEqual: '' }), { code: 'E_BAD_OPTION' })
      } finally {
        end()
      }
    })
  }

  test('are found while Redis has no room for others, however often it refuses', async () => {
    const { client, isReady, end } = clients.ioredis()
    const reports: string[] = []
    const app = createApp({ report: (error) => void reports.push(String(error)) })
    app.post(
      '/',
      idempotency({ store: redisKeys(client), nameSpace: 'full', storeTimeout: 20_000 }),
      () => 'done',
    )
    try {
      await eventually(isReady, 'the client is connected')
      const ask = (key: string): ReturnType<typeof app.inject> =>
        app.inject({ url: '/', method: 'POST', headers: { 'idempotency-key': key } })
      assert.equal((await ask('kept')).status, 200)
      await client.call('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
      await client.call('CONFIG', 'SET', 'maxmemory', '1')
      for (let each = 0; each < 10; each++) assert.equal((await ask(`new-${each}`)).status, 503)
      assert.equal((await ask('kept')).headers['idempotent-replayed'], 'true')
      await client.call('CONFIG', 'SET', 'maxmemory', '0')
      assert.equal((await ask('new-0')).status, 200)
      assert.equal(reports.length, 1)
      assert.match(String(reports), /has no room \(OOM command not allowed/)
    } finally {
      await client.call('CONFIG', 'SET', 'maxmemory', '0').catch(() => {})
      end()
    }
  })

  test('what is no client is refused', () => {
    assert.throws(() => redisKeys({} as never), { code: 'E_BAD_OPTION', message: /redisKeys takes a client/ })
  })

  test('a request runs once over processes, and again where the process that ran it was killed', async () => {
    const start = async (): Promise<{ child: ChildProcess; url: string; runs: () => number }> => {
      const child = fork(new URL('payer.js', import.meta.url), [String(server.port)])
      const [url] = (await once(child, 'message')) as [string]
      let runs = 0
      child.on('message', () => runs++)
      return { child, url, runs: () => runs }
    }
    const [one, other] = await Promise.all([start(), start()])
    try {
      const ask = (url: string, key: string): Promise<Response> =>
        fetch(`${url}/${key}`, { method: 'POST', headers: { 'idempotency-key': key, connection: 'close' } })
      const first = ask(one.url, 'kept')
      await eventually(() => one.runs() === 1, 'the first request runs')
      assert.equal((await ask(other.url, 'kept')).status, 409)
      one.child.send('go on')
      const text = await (await first).text()
      const again = await ask(other.url, 'kept')
      assert.deepEqual([await again.text(), again.headers.get('idempotent-replayed')], [text, 'true'])
      assert.equal(other.runs(), 0)

      const known = await admin.keys('*')
      const lost = ask(one.url, 'lost').catch(() => null)
      await eventually(() => one.runs() === 2, 'it runs')
      const exit = once(one.child, 'exit')
      one.child.kill('SIGKILL')
      await exit
      assert.equal(await lost, null)
      // Nobody frees the key before its time is over.
      assert.equal((await ask(other.url, 'lost')).status, 409)
      const [key, ...others] = (await admin.keys('*')).filter((each) => !known.includes(each))
      assert.deepEqual(others, [])
      const left = await admin.pttl(String(key))
      assert.ok(left > 30_000 && left <= 60_000, String(left))
      await admin.pexpireat(String(key), 1)
      const replied = ask(other.url, 'lost')
      await eventually(() => other.runs() === 1, 'it runs there')
      other.child.send('go on')
      const reply = await replied
      assert.deepEqual([reply.status, await reply.text(), other.runs()], [200, `by ${other.child.pid}`, 1])
    } finally {
      for (const { child } of [one, other]) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        const exit = once(child, 'exit')
        child.kill('SIGKILL')
        await exit
      }
    }
  })
})
