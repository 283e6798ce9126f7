/** Workers that crash, hang and grow. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { WorkerInfo } from 'volant/cluster'
import { eventually, unchanging, within } from '@volant/test-kit'
import {
  appOf,
  askOnce,
  type Cluster,
  type Connection,
  Load,
  oneEach,
  pulses,
  stateOf,
  withCluster,
} from '../src/index.ts'

function pidOf(workers: readonly WorkerInfo[], slot: number): number {
  return workers.find(({ worker, state }) => worker === slot && state === 'ready')?.pid as number
}

describe('crash', { concurrency: 4 }, () => {
  test('others serve on, what is in flight there is answered, and another worker takes its place', () =>
    withCluster({ workers: 3 }, async (cluster) => {
      const connections = await oneEach(cluster.port, 3)
      const before = await cluster.workers()
      const slow = [1, 2].map((slot) => (connections[slot] as Connection).json(`/hold?name=${slot}`))
      const lost = assert.rejects((connections[0] as Connection).ask('/hold?name=0'))
      await cluster.held('0', '1', '2')
      const load = new Load(cluster.port, { keeping: 0, opening: 2 })
      process.kill(pidOf(before, 0), 'SIGKILL')
      await lost
      await cluster.until(
        ({ workers, restarts: { crash } }) =>
          crash === 1 && workers.length === 3 && workers.every(({ state }) => state === 'ready'),
        'three workers serve',
      )
      cluster.release('1', '2')
      const replies = await Promise.all(slow)
      assert.deepEqual(
        replies.map(({ pid }) => pid),
        [1, 2].map((slot) => pidOf(before, slot)),
      )
      await load.end()
      assert.deepEqual(load.failures, [])
      assert.match(cluster.output, /worker 0 \(pid \d+\) has ended, with SIGKILL/)
      for (const each of connections) each.close()
    }))

  test('connections that a killed worker had not taken are answered by others', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const stopped = pidOf(await cluster.workers(), 0)
      process.kill(stopped, 'SIGSTOP')
      let answered = 0
      const replies = Promise.all(
        Array.from({ length: 50 }, async () => {
          const { text } = await askOnce(cluster.port)
          answered++
          return JSON.parse(text) as { pid: number }
        }),
      )
      await unchanging(() => answered, 'those of the other worker are answered')
      assert.ok(answered < 50)
      process.kill(stopped, 'SIGKILL')
      for (const { pid } of await within(replies, 'all replies')) assert.notEqual(pid, stopped)
    }))

  test('a worker that ends again and again is started at once, then later and later', () =>
    withCluster({ workers: 1, holdsClock: true }, async (cluster) => {
      cluster.write('main.js', 'process.exit(8)')
      await assert.rejects(askOnce(cluster.port, '/exit'))
      for (const [index, nominal] of [100, 200, 400, 800, 1_000].entries()) {
        const said = await cluster.says(
          new RegExp(`(the next worker 0 starts in (\\d+) ms[^]*){${index + 1}}`),
        )
        const time = Number(said[2])
        const most = Math.min(nominal * 1.2, 1_000) + 1
        assert.ok(time >= nominal * 0.8 && time <= most, cluster.output)
        await cluster.advance(time - 2)
        assert.deepEqual(await cluster.workers(), [])
        if (nominal === 1_000) cluster.write('main.js', appOf({ version: '2' }))
        await cluster.advance(2)
      }
      await cluster.until(({ workers: [worker] }) => worker?.state === 'ready', 'the worker serves')
      assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '2')
      const [first = ''] = cluster.output.split(/(?<=has ended before it listened, with code 8)/)
      assert.match(first, /has ended, with code 7/)
      assert.doesNotMatch(first, /starts in/, 'the first one is started at once')
    }))

  test('a worker that serves for less than a second each time does not start at once for long', () =>
    withCluster({ workers: 1, holdsClock: true }, async (cluster) => {
      const delays = (): number => cluster.output.match(/the next worker 0 starts in \d+ ms/g)?.length ?? 0
      const exit = async (): Promise<void> => {
        const before = cluster.output.length
        await assert.rejects(askOnce(cluster.port, '/exit'))
        await eventually(() => cluster.output.includes('has ended, with code 7', before), 'its end')
        // An answer comes when all is done that the end has caused.
        await cluster.info()
      }
      const serves = (): Promise<unknown> =>
        cluster.until(({ workers: [worker] }) => worker?.state === 'ready', 'the worker serves')
      await exit()
      await serves()
      assert.equal(delays(), 0)
      await cluster.advance(999)
      await exit()
      assert.equal(delays(), 1)
      await cluster.advance(121)
      await serves()
      // Each second makes up for one of the two.
      await cluster.advance(2_000)
      await exit()
      await serves()
      assert.equal(delays(), 1)
    }))

  test('the port stays while no worker is there: clients wait', () =>
    withCluster({ workers: 1 }, async (cluster) => {
      await assert.rejects(askOnce(cluster.port, '/exit'))
      assert.equal((await askOnce(cluster.port)).status, 200)
    }))

  test('a worker that ends after some have served does not end the supervisor, however often', () =>
    withCluster(
      {
        workers: 2,
        files: {
          'main.js': appOf({
            before: "if (worker.id === 1 && existsSync('broken')) throw new Error('broken')",
          }),
        },
      },
      async (cluster) => {
        cluster.write('broken', '')
        const [, second] = await cluster.workers()
        process.kill(second?.pid as number, 'SIGKILL')
        await cluster.says(/(Error: broken[^]*){4}/)
        assert.equal((await askOnce(cluster.port)).status, 200)
        assert.equal((await cluster.ask('/health')).status, 200)
      },
    ))
})

function isStuck(cluster: Cluster, of: number): Promise<boolean | undefined> {
  return cluster.workers().then((workers) => workers.find(({ pid }) => pid === of)?.isStuck)
}

/** Stops these processes for longer than a worker may be silent, and has them go on in the reverse order. */
async function pause(cluster: Cluster, pids: readonly number[]): Promise<void> {
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  // What a timer of the supervisor does then comes before what the workers have sent meanwhile.
  const paused = cluster.pauseFor(11_000)
  for (const pid of pids.toReversed()) process.kill(pid, 'SIGCONT')
  await paused
}

const patient = { workers: 2, args: ['--hang-timeout', '10s'], holdsClock: true }

describe('hang', { concurrency: 4 }, () => {
  test('a worker whose event loop is blocked gets no connections, and serves again when it has recovered', () =>
    withCluster({ workers: 2, holdsClock: true }, async (cluster) => {
      const [first, second] = await oneEach(cluster.port, 2)
      const blocked = pidOf(await cluster.workers(), 0)
      const reply = (first as Connection).json('/block')
      await cluster.held('block')
      await pulses(cluster, 2, [second])
      assert.equal(await isStuck(cluster, blocked), false)
      await pulses(cluster, 1, [second])
      assert.equal(await isStuck(cluster, blocked), true, 'two beats are missing: it is avoided')
      const answers = await Promise.all(Array.from({ length: 10 }, () => askOnce(cluster.port)))
      for (const { text } of answers) assert.notEqual(JSON.parse(text).pid, blocked)
      cluster.release('block')
      assert.equal((await reply).pid, blocked)
      await cluster.until(({ workers }) => workers.every(({ isStuck }) => !isStuck), 'it has recovered')
      const pids = new Set<number>()
      for (let count = 0; count < 20; count++) pids.add(JSON.parse((await askOnce(cluster.port)).text).pid)
      assert.ok(pids.has(blocked))
      first?.close()
      second?.close()
    }))

  test('after hangTimeout it is killed and replaced', () =>
    withCluster({ workers: 2, args: ['--hang-timeout', '4s'], holdsClock: true }, async (cluster) => {
      const [first, second] = await oneEach(cluster.port, 2)
      const blocked = pidOf(await cluster.workers(), 0)
      const reply = assert.rejects((first as Connection).ask('/block'))
      await cluster.held('block')
      await pulses(cluster, 3, [second])
      assert.equal(await isStuck(cluster, blocked), true)
      assert.equal((await cluster.info()).restarts.hang, 0)
      await pulses(cluster, 1, [second])
      const { restarts } = await cluster.until(
        ({ workers }) =>
          workers.length === 2 && workers.every(({ pid, state }) => state === 'ready' && pid !== blocked),
        'it is replaced',
      )
      await reply
      assert.deepEqual(restarts, { ...restarts, hang: 1, crash: 0 })
      assert.match(
        cluster.output,
        /has not beaten for 4 s \(hangTimeout\): its event loop is blocked, and it is killed/,
      )
      first?.close()
      second?.close()
    }))

  test('a pause of the supervisor kills nobody', () =>
    withCluster(patient, async (cluster) => {
      const connections = await oneEach(cluster.port, 2)
      const before = (await cluster.workers()).map(({ pid }) => pid)
      await pause(cluster, [cluster.pid])
      assert.equal((await askOnce(cluster.port)).status, 200)
      await pulses(cluster, 2, connections)
      const { workers, restarts } = await cluster.until(
        (info) => info.workers.every(({ isStuck }) => !isStuck),
        'none is avoided',
      )
      assert.deepEqual(
        workers.map(({ pid }) => pid),
        before,
      )
      assert.equal(restarts.hang, 0)
      for (const each of connections) each.close()
    }))

  test('a pause of everything kills nobody', () =>
    withCluster(patient, async (cluster) => {
      const connections = await oneEach(cluster.port, 2)
      const pids = (await cluster.workers()).map(({ pid }) => pid)
      await pause(cluster, [...pids, cluster.pid])
      await pulses(cluster, 2, connections)
      assert.deepEqual(
        (await cluster.workers()).map(({ pid }) => pid),
        pids,
      )
      for (const each of connections) each.close()
    }))
})

test('a worker with more than maxMemory is replaced: the other serves first, and one goes at a time', () =>
  withCluster({ workers: 2, args: ['--max-memory', '160mb'] }, async (cluster) => {
    const connections = await oneEach(cluster.port, 2)
    const before = (await cluster.workers()).map(({ pid }) => pid)
    const load = new Load(cluster.port)
    for (const each of connections) {
      await each.json('/grow?bytes=200000000')
      each.close()
    }
    let most = 0
    const { restarts } = await cluster.until(({ workers }) => {
      const draining = workers.filter(({ state }) => state === 'draining').length
      most = Math.max(most, draining)
      assert.ok(workers.filter(({ state }) => state === 'ready').length >= 2, JSON.stringify(workers))
      return (
        workers.length === 2 && workers.every(({ pid, state }) => state === 'ready' && !before.includes(pid))
      )
    }, 'both are replaced')
    assert.deepEqual(restarts, { ...restarts, memory: 2, crash: 0 })
    assert.equal(most, 1)
    await load.end()
    assert.deepEqual(load.failures, [])
    for (const pid of before) assert.equal(stateOf(pid), null)
  }))
