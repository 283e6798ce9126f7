/** A supervisor that is killed leaves nothing behind, whatever its workers do. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { eventually } from '@volant/test-kit'
import {
  appOf,
  childrenOf,
  type Cluster,
  Connection,
  gone,
  isFree,
  orphanTimes,
  patient,
  runs,
  withCluster,
} from '../src/index.ts'

/** Ends workers that block. */
const hurried = orphanTimes({ follow: 0.01 })

/** The app says that it starts, as `Cluster.held` waits for it. */
const starts = `import { writeFileSync } from 'node:fs'\nwriteFileSync('held-' + process.pid, '')\n`
const startsForever = `${starts}await new Promise((resolve) => setTimeout(resolve, 600000))`
const blocksForever = `${starts}for (;;);`

/** Kills the supervisor, and waits until its workers are gone. */
async function kill(cluster: Cluster, pids: readonly number[]): Promise<void> {
  const { port } = cluster
  assert.ok(pids.length > 0)
  cluster.signal('SIGKILL')
  assert.equal(await cluster.exit(), 'SIGKILL')
  await gone(pids)
  assert.ok(await isFree(port))
}

/** Connections may be idle for half a second once their worker drains. */
const soon = { 'main.js': appOf({ drainIdle: 500 }) }

function lastTimes(cluster: Cluster): string {
  return readFileSync(join(cluster.folder, 'last-times'), 'utf8')
}

/** The app waits for the supervisor as long as it does, which passes at once. */
const closesUnanswered = `
import { install } from '@sinonjs/fake-timers'
app.get('/close-unanswered', () => {
  setImmediate(async () => {
    const clock = install({ toFake: ['setTimeout', 'clearTimeout'] })
    app.close()
    await clock.tickAsync(10_000)
    clock.uninstall()
  })
  return { pid: process.pid }
})
`

describe(
  'supervisor killed',
  { concurrency: 4, skip: process.platform === 'linux' ? false : '/proc' },
  () => {
    test('workers that wait, with idle connections', () =>
      withCluster(patient, async (cluster) => {
        const connections = await Promise.all([0, 1, 2, 3].map(() => Connection.open(cluster.port)))
        for (const each of connections) await each.json('/')
        await kill(cluster, await cluster.pids())
        for (const each of connections) each.close()
      }))

    test('a worker that closes while its supervisor is stopped ends, since nobody answers it', () =>
      withCluster(
        { workers: 1, files: { 'main.js': appOf({ before: closesUnanswered, drainIdle: 500 }) } },
        async (cluster) => {
          const connection = await Connection.open(cluster.port)
          const { pid } = await connection.json('/')
          cluster.signal('SIGSTOP')
          await connection.json('/close-unanswered')
          // It is a zombie until its supervisor goes on.
          const ends = eventually(() => !runs(pid), 'its end')
          await ends.finally(() => cluster.signal('SIGCONT'))
          connection.close()
        },
      ))

    test('requests in flight are answered', () =>
      withCluster(patient, async (cluster) => {
        const connections = await Promise.all([0, 1, 2, 3].map(() => Connection.open(cluster.port)))
        const names = ['1', '2', '3', '4']
        const replies = connections.map((each, at) => each.ask(`/hold?name=${names[at]}`))
        await cluster.held(...names)
        const killed = kill(cluster, await cluster.pids())
        cluster.release(...names)
        await killed
        for (const { status } of await Promise.all(replies)) assert.equal(status, 200)
        for (const each of connections) each.close()
      }))

    test('workers that start', () =>
      withCluster(patient, async (cluster) => {
        const before = await cluster.pids()
        cluster.write('main.js', startsForever)
        for (const pid of before) process.kill(pid, 'SIGKILL')
        const { workers } = await cluster.until(
          ({ workers: now }) => now.length === 2 && now.every(({ pid }) => !before.includes(pid)),
          'two workers that start',
        )
        await cluster.held(...workers.map(({ pid }) => String(pid)))
        await kill(
          cluster,
          workers.map(({ pid }) => pid),
        )
      }))

    // They may find their channel closed when they load: then the thread ends them.
    test('workers that have not loaded anything yet', () =>
      withCluster({}, async (cluster) => {
        const before = await cluster.pids()
        for (const pid of before) process.kill(pid, 'SIGKILL')
        await eventually(() => childrenOf(cluster.pid).some((pid) => !before.includes(pid)), 'a new process')
        const children = childrenOf(cluster.pid)
        await kill(cluster, children)
      }))

    test('workers that block while they start', () =>
      withCluster(hurried, async (cluster) => {
        const before = await cluster.pids()
        cluster.write('main.js', blocksForever)
        for (const pid of before) process.kill(pid, 'SIGKILL')
        const { workers } = await cluster.until(
          ({ workers: now }) => now.length === 2 && now.every(({ pid }) => !before.includes(pid)),
          'two workers that start',
        )
        await cluster.held(...workers.map(({ pid }) => String(pid)))
        await kill(
          cluster,
          workers.map(({ pid }) => pid),
        )
      }))

    test('workers that drain', () =>
      withCluster({ ...patient, files: soon }, async (cluster) => {
        const connection = await Connection.open(cluster.port)
        const reply = connection.ask('/hold?name=it')
        await cluster.held('it')
        const pids = await cluster.pids()
        cluster.signal('SIGTERM')
        await cluster.until(({ workers }) => workers.some(({ state }) => state === 'draining'), 'the drain')
        const killed = kill(cluster, pids)
        cluster.release('it')
        await killed
        assert.equal((await reply).status, 200)
        connection.close()
      }))

    test('a worker that is blocked', () =>
      withCluster(hurried, async (cluster) => {
        const connection = await Connection.open(cluster.port)
        const reply = assert.rejects(connection.ask('/block'))
        await cluster.held('block')
        await kill(cluster, await cluster.pids())
        await reply
        // The other one, which is idle, may know that it has to end.
        assert.match(lastTimes(cluster), /^(?:follow 3000\n){2}(?:goOnFor 15000\n)?$/)
        connection.close()
      }))

    test('a worker whose last hook never ends', () =>
      withCluster(
        {
          ...orphanTimes({ goOnFor: 0.01 }),
          workers: 1,
          files: {
            'main.js': appOf({ before: 'app.onClose(() => new Promise(() => setInterval(() => {}, 1000)))' }),
          },
        },
        async (cluster) => {
          const pids = await cluster.pids()
          cluster.signal('SIGKILL')
          await cluster.exit()
          await gone(pids)
          assert.equal(lastTimes(cluster), 'follow 3000\ngoOnFor 15000\n')
        },
      ))

    test('during a roll', () =>
      withCluster(patient, async (cluster) => {
        const before = await cluster.pids()
        cluster.write('main.js', startsForever)
        cluster.signal('SIGHUP')
        const { workers } = await cluster.until(
          ({ workers: now }) => now.length > 2,
          'a worker that replaces another',
        )
        const pids = workers.map(({ pid }) => pid)
        await cluster.held(...pids.filter((pid) => !before.includes(pid)).map(String))
        await kill(cluster, [...new Set([...before, ...pids])])
      }))

    test('node-http', () =>
      withCluster({ ...patient, files: { 'main.js': appOf({ adapter: 'node-http' }) } }, async (cluster) => {
        const connection = await Connection.open(cluster.port)
        const reply = connection.ask('/hold?name=it')
        await cluster.held('it')
        const killed = kill(cluster, await cluster.pids())
        cluster.release('it')
        await killed
        assert.equal((await reply).status, 200)
        connection.close()
      }))

    test('children of the app do not keep it', () =>
      withCluster(
        {
          ...patient,
          workers: 1,
          files: {
            'main.js': appOf({
              before: `
import { spawn } from 'node:child_process'
const child = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
child.unref()
app.get('/child', () => String(child.pid))`,
            }),
          },
        },
        async (cluster) => {
          const connection = await Connection.open(cluster.port)
          const child = Number((await connection.ask('/child')).text)
          try {
            await kill(cluster, await cluster.pids())
          } finally {
            process.kill(child, 'SIGKILL')
          }
          connection.close()
        },
      ))
  },
)
