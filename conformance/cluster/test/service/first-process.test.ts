/** The supervisor as the first process of a container. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import { eventually } from '@volant/test-kit'
import { appOf, askOnce, childrenOf, Cluster, runs } from '../../src/index.ts'

const container = ['unshare', '-pf', '--kill-child', '--mount-proc']
const skip =
  process.getuid?.() === 0 && existsSync('/usr/bin/unshare') ? false : 'root and unshare are needed'

test(
  'as the first process of a container: orphans of the app that have ended are reaped, and workers are replaced',
  { skip },
  async () => {
    const app = appOf({
      before: `
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
app.get('/orphan', async () => {
  await once(spawn('sh', ['-c', 'sleep 600 & exit 0'], { stdio: 'ignore' }), 'exit')
})
const stats = () => readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).flatMap((name) => {
  try { return [readFileSync('/proc/' + name + '/stat', 'utf8')] } catch { return [] }
})
const sleeping = () => stats().filter((stat) => stat.includes('(sleep)'))
app.get('/sleeping', sleeping)
app.get('/wake', () => {
  for (const stat of sleeping()) process.kill(parseInt(stat), 'SIGTERM')
})`,
    })
    const cluster = await Cluster.start({
      workers: 2,
      files: { 'main.js': app },
      wrapper: container,
      isIsolated: true,
    })
    try {
      assert.equal((await cluster.info()).pid, 1)
      const sleeping = async (count: number, what: string): Promise<string[]> => {
        let stats: string[] = []
        const isSo = async (): Promise<boolean> => {
          stats = JSON.parse((await askOnce(cluster.port, '/sleeping')).text) as string[]
          return stats.length === count
        }
        await eventually(isSo, what).catch((error: Error) => {
          assert.fail(`${error.message}, but\n${stats.join('')}${cluster.output}`)
        })
        return stats
      }
      for (let count = 0; count < 4; count++)
        assert.ok((await askOnce(cluster.port, '/orphan')).status < 300, cluster.output)
      for (const stat of await sleeping(4, 'four orphans sleep'))
        assert.match(stat, /^\d+ \(sleep\) [^Z] 1 /, 'the first process is the parent of an orphan')
      await askOnce(cluster.port, '/wake')
      await sleeping(0, 'the orphans are reaped')
      await assert.rejects(askOnce(cluster.port, '/exit'))
      await cluster.until(
        ({ workers, restarts }) => restarts.crash === 1 && workers.length === 2,
        'a replacement',
      )
      await cluster.says(/has ended, with code 7/)
      const [first] = childrenOf(cluster.pid)
      process.kill(first as number, 'SIGTERM')
      assert.equal(await cluster.exit(), 0)
      assert.ok(!runs(first as number))
    } finally {
      await cluster.end()
    }
  },
)

test(
  'as the first process of a container: a program with supervise() learns how its own children ended',
  { skip },
  async () => {
    const cluster = await Cluster.start({
      program: 'run.js',
      wrapper: container,
      isIsolated: true,
      files: {
        'main.js': appOf(),
        'run.js': `
import { install } from '@sinonjs/fake-timers'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { supervise } from 'volant/cluster'
const { clearInterval, setImmediate, setInterval } = globalThis
const clock = install({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'performance'] })
const supervised = supervise({ module: './main.js', workers: 1, control: './control' })
const timer = setInterval(() => {
  if (supervised.info().workers.some(({ state }) => state !== 'ready')) return
  clearInterval(timer)
  const child = spawn('sh', ['-c', 'exit 7']).on('exit', (code) => console.log('the child gave', code))
  // The supervisor looks around when the child has ended, and before Node.js looks for signals: the event loop has to wait.
  setImmediate(() => {
    for (let looks = 0; !readFileSync('/proc/' + child.pid + '/stat', 'utf8').includes(') Z '); looks++)
      if (looks === 1_000_000) throw new Error('the child does not end')
    clock.tick(1_000)
  })
}, 20)`,
      },
    })
    try {
      await cluster.says(/the child gave 7/)
    } finally {
      await cluster.end()
    }
  },
)
