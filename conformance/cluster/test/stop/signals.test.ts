/** Signals to a supervisor, to its workers and to all of them. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  appOf,
  askOnce,
  Connection,
  gone,
  left,
  Load,
  patient,
  runToEnd,
  withCluster,
} from '../../src/index.ts'
import { soon, drains } from './kit.ts'

describe('stop', { concurrency: 5 }, () => {
  test('the second signal ends all at once', () =>
    withCluster(
      { ...patient, workers: 2, files: { 'main.js': appOf({ shutdownTimeout: 600_000 }) } },
      async (cluster) => {
        const pids = await cluster.pids()
        const connection = await Connection.open(cluster.port)
        const reply = assert.rejects(connection.ask('/hold?name=it'))
        await cluster.held('it')
        cluster.signal('SIGTERM')
        await drains(cluster)
        cluster.signal('SIGINT')
        assert.equal(await cluster.exit(), 130)
        await reply
        // The supervisor kills them, and does not wait for them.
        await gone(pids)
        connection.close()
      },
    ))

  test('SIGTERM to every process of the service, as systemd sends it, drains once', () =>
    withCluster({ workers: 2, files: soon }, async (cluster) => {
      const pids = await cluster.pids()
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      for (const pid of [...pids, cluster.pid]) process.kill(pid, 'SIGTERM')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      assert.equal(await cluster.exit(), 0)
      assert.deepEqual(left(pids), [])
      connection.close()
    }))

  test('SIGTERM to a worker: another one serves before it leaves, and nothing is lost', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const load = new Load(cluster.port)
      await load.goOn(20)
      const pids = await cluster.pids()
      process.kill(pids[0] as number, 'SIGTERM')
      const { restarts } = await cluster.until(({ workers }) => {
        assert.ok(workers.filter(({ state }) => state === 'ready').length >= 2)
        return workers.length === 2 && workers.every(({ pid }) => pid !== pids[0])
      }, 'it is replaced')
      await load.goOn(20)
      await load.end()
      assert.deepEqual(load.failures, [])
      assert.deepEqual(restarts, { ...restarts, signal: 1, crash: 0 })
    }))

  test('an app that closes itself while others serve: no connection is lost', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const load = new Load(cluster.port, { keeping: 2, opening: 4, pause: 0 })
      await load.goOn(50)
      const { pid } = JSON.parse((await askOnce(cluster.port, '/close')).text)
      await gone([pid]).catch(async (error: Error) => {
        throw new Error(`${error.message}: ${JSON.stringify(await cluster.info())}`)
      })
      await load.goOn(50)
      await load.end()
      assert.deepEqual(load.failures, [])
    }))

  test('an app with a SIGTERM handler of its own', () =>
    withCluster(
      {
        workers: 2,
        files: {
          'main.js': appOf({
            after: `process.once('SIGTERM', async () => {
  await app.close()
  console.log('closed by itself')
})`,
          }),
        },
      },
      async (cluster) => {
        const pids = await cluster.pids()
        cluster.signal('SIGTERM')
        assert.equal(await cluster.exit(), 0)
        assert.equal(cluster.output.match(/closed by itself/g)?.length, 2)
        assert.deepEqual(left(pids), [])
      },
    ))

  test('a worker that does not end is killed, and it is said', () =>
    withCluster(
      {
        workers: 1,
        files: {
          'main.js': appOf({
            before: 'app.onClose(() => new Promise(() => setInterval(() => {}, 1000)))',
            shutdownTimeout: 500,
            drainIdle: 100,
          }),
        },
        holdsClock: true,
      },
      async (cluster) => {
        const pids = await cluster.pids()
        await cluster.stop()
        await cluster.advance(0)
        await drains(cluster)
        // Its `shutdownTimeout`, and 5 s for its last hooks.
        await cluster.advance(5_499)
        assert.deepEqual(left(pids), pids)
        await cluster.advance(1)
        await cluster.exit()
        assert.match(cluster.output, /was killed: it had not ended 5500 ms after it should/)
        assert.deepEqual(left(pids), [])
      },
    ))

  test('SIGTERM while workers start ends them', () =>
    withCluster({ workers: 1 }, async (cluster) => {
      cluster.write('main.js', 'setInterval(() => {}, 1000)')
      const [before] = await cluster.pids()
      process.kill(before as number, 'SIGKILL')
      const { workers } = await cluster.until(
        ({ workers: [worker] }) => worker !== undefined && worker.pid !== before,
        'another worker starts',
      )
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
      assert.deepEqual(left(workers.map(({ pid }) => pid)), [])
    }))

  test('supervise() in a program: the process ends by itself, and its signals have their meaning again', async () => {
    const { code, output } = await runToEnd({
      module: 'absent.js',
      program: 'own.js',
      files: {
        'main.js': appOf(),
        'own.js': `
import { supervise } from 'volant/cluster'
const supervised = supervise({ module: './main.js', workers: 2, control: './control' })
const timer = setInterval(() => {
  if (supervised.info().workers.every(({ state }) => state === 'ready')) {
    clearInterval(timer)
    supervised.stop()
  }
}, 20)
console.log('code', await supervised.finished, process.listenerCount('SIGTERM'), process.listenerCount('SIGHUP'))
`,
      },
    })
    assert.equal(code, 0)
    assert.match(output, /code 0 0 0/)
  })
})
