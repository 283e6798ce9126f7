/** How a supervisor and its workers end on signals. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import {
  appOf,
  askOnce,
  type Cluster,
  Connection,
  gone,
  isFree,
  left,
  Load,
  oneEach,
  runToEnd,
  withCluster,
} from '../src/index.ts'

async function pidsOf(cluster: Cluster): Promise<number[]> {
  return (await cluster.workers()).map(({ pid }) => pid)
}

/** Connections may be idle for half a second once their worker drains. */
const soon = { 'main.js': appOf({ drainIdle: 500 }) }

function drains(cluster: Cluster): Promise<unknown> {
  return cluster.until(({ workers }) => workers.some(({ state }) => state === 'draining'), 'the drain')
}

describe('stop', { concurrency: 5 }, () => {
  test('SIGTERM: what is in flight is answered, idle connections close, and the exit code is 0', () =>
    withCluster({ workers: 2, files: { 'main.js': appOf({ drainIdle: 1_000 }) } }, async (cluster) => {
      const { port } = cluster
      const pids = await pidsOf(cluster)
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
        const pids = await pidsOf(cluster)
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

  test('the second signal ends all at once', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const pids = await pidsOf(cluster)
      const connection = await Connection.open(cluster.port)
      const reply = assert.rejects(connection.ask('/hold?name=it'))
      await cluster.held('it')
      cluster.signal('SIGTERM')
      await drains(cluster)
      cluster.signal('SIGINT')
      assert.equal(await cluster.exit(), 130)
      await reply
      await gone(pids)
      connection.close()
    }))

  test('SIGTERM to every process of the service, as systemd sends it, drains once', () =>
    withCluster({ workers: 2, files: soon }, async (cluster) => {
      const pids = await pidsOf(cluster)
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      for (const pid of [...pids, cluster.pid]) process.kill(pid, 'SIGTERM')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      assert.equal(await cluster.exit(), 0)
      await gone(pids)
      connection.close()
    }))

  test('SIGTERM to a worker: another one serves before it leaves, and nothing is lost', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const load = new Load(cluster.port)
      await load.goOn(20)
      const pids = await pidsOf(cluster)
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
        const pids = await pidsOf(cluster)
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
        const pids = await pidsOf(cluster)
        await cluster.stop()
        await cluster.advance(0)
        await drains(cluster)
        // Its `shutdownTimeout`, and 5 s for its last hooks.
        await cluster.advance(5_499)
        assert.deepEqual(left(pids), pids)
        await cluster.advance(1)
        await cluster.exit()
        assert.match(cluster.output, /was killed: it had not ended 5500 ms after it should/)
        await gone(pids)
      },
    ))

  test('SIGTERM while workers start ends them', () =>
    withCluster({ workers: 1 }, async (cluster) => {
      cluster.write('main.js', 'setInterval(() => {}, 1000)')
      const [before] = await pidsOf(cluster)
      process.kill(before as number, 'SIGKILL')
      const { workers } = await cluster.until(
        ({ workers: [worker] }) => worker !== undefined && worker.pid !== before,
        'another worker starts',
      )
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
      await gone(workers.map(({ pid }) => pid))
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

/** Runs the command in a terminal of its own, which Python makes. */
const terminal = `
import os, pty, signal, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
def end(_a, _b):
    os.close(fd)
signal.signal(signal.SIGUSR1, lambda _a, _b: os.write(fd, b'\\x03'))
signal.signal(signal.SIGUSR2, end)
print('child', pid, flush=True)
while True:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    if not part:
        break
    os.write(1, part)
_, status = os.waitpid(pid, 0)
sys.exit(os.waitstatus_to_exitcode(status))
`

describe('in a terminal', { concurrency: 2, skip: process.platform === 'linux' ? false : 'Linux' }, () => {
  test('Ctrl-C, which reaches all processes, drains once', () =>
    withCluster({ workers: 2, files: soon, wrapper: ['python3', '-c', terminal] }, async (cluster) => {
      const pids = await pidsOf(cluster)
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      cluster.signal('SIGUSR1')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      assert.equal(await cluster.exit(), 0)
      await gone(pids)
      connection.close()
    }))

  test('a terminal that is closed stops the service, and what is in flight is answered', () =>
    withCluster({ workers: 2, files: soon, wrapper: ['python3', '-c', terminal] }, async (cluster) => {
      const pids = await pidsOf(cluster)
      const [, supervisor] = /child (\d+)/.exec(cluster.output) ?? []
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      cluster.signal('SIGUSR2')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      await gone([...pids, Number(supervisor)])
      connection.close()
    }))
})
