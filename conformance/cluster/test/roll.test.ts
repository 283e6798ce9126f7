/** Workers that are replaced one after the other while clients ask. */
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually, freePort } from '@volant/test-kit'
import {
  appOf,
  askOnce,
  type Cluster,
  Connection,
  isFree,
  Load,
  oneEach,
  pulses,
  runs,
  withCluster,
} from '../src/index.ts'

async function rolled(cluster: Cluster, before: readonly number[]): Promise<void> {
  await cluster.until(
    ({ workers, isRolling }) =>
      !isRolling &&
      workers.length === before.length &&
      workers.every(({ pid, state }) => state === 'ready' && !before.includes(pid)),
    'all workers are replaced',
  )
}

describe('roll', { concurrency: 4 }, () => {
  for (const adapter of ['native', 'node-http'] as const) {
    test(`${adapter}: SIGHUP under load loses nothing, and the new code serves`, () =>
      withCluster({ workers: 2, files: { 'main.js': appOf({ adapter }) } }, async (cluster) => {
        const load = new Load(cluster.port)
        await load.goOn(100)
        for (const version of ['2', '3']) {
          const before = await cluster.pids()
          cluster.write('main.js', appOf({ adapter, version }))
          cluster.signal('SIGHUP')
          await rolled(cluster, before)
          assert.ok(before.every((pid) => !runs(pid)))
          load.versions.clear()
          await load.goOn(60)
          assert.deepEqual([...load.versions], [version])
        }
        await load.end()
        assert.deepEqual(load.failures, [])
        const { restarts } = await cluster.info()
        assert.deepEqual(restarts, { ...restarts, roll: 4, crash: 0, hang: 0 })
        cluster.signal('SIGTERM')
        assert.equal(await cluster.exit(), 0)
      }))
  }

  test('a request that takes long is answered by the old worker, whose connection then closes', () =>
    withCluster({ workers: 1, files: { 'main.js': appOf({ drainIdle: 500 }) } }, async (cluster) => {
      const [connection, idle] = [await Connection.open(cluster.port), await Connection.open(cluster.port)]
      await idle.json('/')
      const [before] = await cluster.pids()
      const slow = connection.ask('/hold?name=it')
      await cluster.held('it')
      cluster.signal('SIGHUP')
      // The worker closes it, so it drains.
      await eventually(() => idle.isClosed, 'the end of the idle connection')
      cluster.release('it')
      const { text, closes } = await slow
      assert.equal(JSON.parse(text).pid, before)
      assert.ok(closes)
      await rolled(cluster, [before as number])
      connection.close()
      idle.close()
    }))

  test('a deployment that moves a link: the folder is the new one', () =>
    withCluster(
      {
        workers: 1,
        files: {},
        prepare: (folder) => deploy(folder, '1'),
        module: 'main.js',
        within: 'current',
      },
      async (cluster) => {
        assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '1')
        const before = await cluster.pids()
        deploy(cluster.folder, '2')
        cluster.signal('SIGHUP')
        await rolled(cluster, before)
        assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '2')
        // Nothing of the old release is needed any more.
        rmSync(join(cluster.folder, 'release-1'), { recursive: true })
        const [second] = await cluster.pids()
        process.kill(second as number, 'SIGKILL')
        await cluster.until(
          ({ workers }) => workers[0]?.state === 'ready' && workers[0].pid !== second,
          'another worker',
        )
        assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '2')
      },
    ))

  test('a version that throws ends the roll, and the old workers stay', () =>
    withCluster({ workers: 2 }, async (cluster) => {
      const load = new Load(cluster.port)
      const before = await cluster.pids()
      cluster.write('main.js', "throw new Error('of the new version')")
      cluster.signal('SIGHUP')
      await cluster.says(/Error: of the new version/)
      await cluster.says(/did not start: the old one stays/)
      await cluster.until(({ isRolling }) => !isRolling, 'the end of the roll')
      assert.deepEqual(await cluster.pids(), before)
      cluster.write('main.js', appOf({ version: '2' }))
      cluster.signal('SIGHUP')
      await rolled(cluster, before)
      await load.end()
      assert.deepEqual(load.failures, [])
      assert.equal(cluster.output.match(/Error: of the new version/g)?.length, 1)
    }))

  test('what workers give at their end counts, however soon they end then', () =>
    withCluster(
      {
        workers: 1,
        files: {
          'main.js': appOf({
            before: `
const supervision = globalThis[Symbol.for('volant.supervision')]
supervision.onGather('case', () => ({ sums: { count: 1 } }))
app.get('/gather', () => supervision.gather('case'))`,
          }),
        },
      },
      async (cluster) => {
        for (let round = 1; round <= 3; round++) {
          const [before = 0] = await cluster.pids()
          const connection = await Connection.open(cluster.port)
          const slow = connection.ask(`/hold?name=${round}`)
          await cluster.held(`${round}`)
          cluster.signal('SIGHUP')
          await cluster.until(({ workers }) => workers.some(({ state }) => state === 'draining'), 'the drain')
          // The supervisor finds the last words and the end of the worker at once.
          cluster.signal('SIGSTOP')
          cluster.release(`${round}`)
          await slow
          await eventually(() => !runs(before), 'the end of the worker')
          cluster.signal('SIGCONT')
          await rolled(cluster, [before])
          const { workers, ended } = JSON.parse((await askOnce(cluster.port, '/gather')).text)
          assert.equal(workers.length, 1)
          assert.deepEqual(ended, { count: round })
          connection.close()
        }
      },
    ))

  test('a second SIGHUP during a roll has one more follow', () =>
    withCluster({ workers: 2, holdsClock: true }, async (cluster) => {
      const before = await cluster.pids()
      cluster.write('main.js', appOf({ before: "await hold('start')" }))
      cluster.signal('SIGHUP')
      await cluster.held('start')
      cluster.write('main.js', appOf({ version: '2' }))
      cluster.signal('SIGHUP')
      // An answer comes when the signal has been handled: two that wait are one.
      await cluster.info()
      cluster.signal('SIGHUP')
      cluster.release('start')
      await cluster.until(({ restarts, isRolling }) => restarts.roll === 4 && !isRolling, 'two rolls')
      await rolled(cluster, before)
      assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '2')
      // It answers when it has run.
      await cluster.advance(1_000)
      const { restarts, isRolling } = await cluster.info()
      assert.deepEqual([restarts.roll, isRolling], [4, false])
    }))

  test('a port at which the new version does not listen any more is closed', async () => {
    const [port, other] = [await freePort(), await freePort()]
    const options = { workers: 2, env: { PORT: String(port) }, args: ['--start-timeout', '15s'] }
    await withCluster({ ...options, holdsClock: true }, async (cluster) => {
      const before = await cluster.pids()
      cluster.write('main.js', appOf({ before: `process.env.PORT = '${other}'` }))
      cluster.signal('SIGHUP')
      await rolled(cluster, before)
      assert.equal((await askOnce(other)).status, 200)
      // It is closed when nobody has listened there for as long as a start may take, from the next look on.
      await cluster.advance(1_000 + 14_000)
      assert.ok(!(await isFree(port)), 'the port is still bound')
      await cluster.advance(1_000)
      await eventually(() => isFree(port), 'the port is free')
    })
  })

  const faults = [
    ['crash', 'a worker that crashes', 'SIGKILL'],
    ['hang', 'a worker that hangs', 'SIGSTOP'],
  ] as const
  for (const [fault, what, signal] of faults) {
    test(`${what} during a roll is replaced, and the roll goes on`, () =>
      withCluster({ workers: 2, args: ['--hang-timeout', '4s'], holdsClock: true }, async (cluster) => {
        const [other, broken] = await oneEach(cluster.port, 2)
        const before = await cluster.pids()
        cluster.write('main.js', appOf({ version: '2', before: "await hold('start')" }))
        cluster.signal('SIGHUP')
        await cluster.held('start')
        process.kill(before[1] as number, signal)
        if (fault === 'hang') await pulses(cluster, 4, [other])
        // The old worker has no connection that it would let be idle.
        other?.close()
        broken?.close()
        await cluster.until(({ restarts }) => restarts[fault] === 1, `${what} is seen`)
        assert.ok((await cluster.info()).isRolling)
        cluster.release('start')
        await rolled(cluster, before)
        assert.ok(before.every((pid) => !runs(pid)))
        assert.equal(JSON.parse((await askOnce(cluster.port)).text).version, '2')
      }))
  }
})

/** Makes the folder of a version, and has the link lead there. */
function deploy(folder: string, version: string): void {
  mkdirSync(join(folder, `release-${version}`))
  writeFileSync(join(folder, `release-${version}/main.js`), appOf({ version }))
  // Each release has its own copy of what it needs.
  mkdirSync(join(folder, `release-${version}/node_modules`))
  const installed = dirname(createRequire(import.meta.url).resolve('volant/package.json'))
  symlinkSync(installed, join(folder, `release-${version}/node_modules/volant`))
  symlinkSync(`release-${version}`, join(folder, 'next'))
  renameSync(join(folder, 'next'), join(folder, 'current'))
}
