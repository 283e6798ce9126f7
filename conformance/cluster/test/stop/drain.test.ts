/** What is in flight and what waits is answered before the end. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { appOf, askOnce, Connection, isFree, left, Load, oneEach, withCluster } from '../../src/index.ts'
import { soon } from './kit.ts'

describe('stop', { concurrency: 5 }, () => {
  test('SIGTERM: what is in flight is answered, idle connections close, and the exit code is 0', () =>
    withCluster({ workers: 2, files: { 'main.js': appOf({ drainIdle: 1_000 }) } }, async (cluster) => {
      const { port } = cluster
      const pids = await cluster.pids()
      const idle = await oneEach(port, 2)
      const names = ['1', '2', '3', '4']
      const busy = await Promise.all(names.map(() => Connection.open(port)))
      const replies = busy.map((each, at) => each.ask(`/hold?name=${names[at]}`))
      await cluster.held(...names)
      cluster.signal('SIGTERM')
      await eventually(() => idle.every(({ isClosed }) => isClosed), 'the idle connections close')
      cluster.release(...names)
      for (const { status, closes } of await Promise.all(replies)) {
        assert.equal(status, 200)
        assert.ok(closes)
      }
      assert.equal(await cluster.exit(), 0)
      assert.deepEqual(left(pids), [])
      assert.ok(await isFree(port))
      assert.ok(!existsSync(join(cluster.folder, 'control')), 'the control socket is removed')
      for (const each of [...idle, ...busy]) each.close()
    }))

  test('--drain-delay: /ready says 503 at once, new connections are served meanwhile, and nothing is lost', () =>
    // No machine is so slow that the delay ends before the test.
    withCluster({ workers: 2, args: ['--drain-delay', '10m'] }, async (cluster) => {
      assert.equal((await cluster.ask('/ready')).status, 200)
      const load = new Load(cluster.port)
      await load.goOn(20)
      await cluster.stop()
      await load.goOn(50)
      assert.equal((await cluster.ask('/health')).status, 200)
      assert.deepEqual(load.failures, [])
      assert.equal((await askOnce(cluster.port)).status, 200)
      await load.end()
      assert.deepEqual(load.failures, [])
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 143, 'the second signal does not wait for the delay')
    }))

  test('--drain-delay: workers end when it is over, and what is in flight is answered', () =>
    withCluster(
      { workers: 2, files: soon, args: ['--drain-delay', '2s'], holdsClock: true },
      async (cluster) => {
        const connection = await Connection.open(cluster.port)
        await connection.json('/')
        const reply = connection.ask('/hold?name=it')
        await cluster.held('it')
        await cluster.stop()
        await cluster.advance(1_999)
        const states = async (): Promise<string[]> => (await cluster.workers()).map(({ state }) => state)
        assert.deepEqual(await states(), ['ready', 'ready'])
        assert.equal((await askOnce(cluster.port)).status, 200)
        await cluster.advance(1)
        assert.ok((await states()).every((state) => state === 'draining'))
        cluster.release('it')
        assert.equal((await reply).status, 200)
        assert.equal(await cluster.exit(), 0)
        connection.close()
      },
    ))

  for (const adapter of ['native', 'node-http'] as const) {
    test(`${adapter}: connections that wait when SIGTERM comes are served`, () =>
      withCluster({ workers: 2, files: { 'main.js': appOf({ adapter }) } }, async (cluster) => {
        const pids = await cluster.pids()
        for (const pid of [cluster.pid, ...pids]) process.kill(pid, 'SIGSTOP')
        // The system accepts them: they wait in the queue of the listening socket.
        const waiting = await Promise.all(Array.from({ length: 30 }, () => Connection.open(cluster.port)))
        const replies = waiting.map((each) => each.ask('/', { close: true }))
        cluster.signal('SIGTERM')
        for (const pid of [...pids, cluster.pid]) process.kill(pid, 'SIGCONT')
        for (const { status } of await Promise.all(replies)) assert.equal(status, 200)
        assert.equal(await cluster.exit(), 0)
        for (const each of waiting) each.close()
      }))
  }
})
