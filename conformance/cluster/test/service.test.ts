/** The supervisor among others: balance, systemd, and as the first process of a container. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, test } from 'node:test'
import { eventually, freePort } from '@volant/test-kit'
import { appOf, askOnce, childrenOf, Cluster, Connection, Load, runs, withCluster } from '../src/index.ts'

describe('balance', { concurrency: 2 }, () => {
  for (const count of [10, 64, 1000]) {
    test(`${count} connections on 4 workers: each has as many as the others, or one more`, () =>
      withCluster({ workers: 4 }, async (cluster) => {
        const connections: Connection[] = []
        const counts = new Map<number, number>()
        while (connections.length < count) {
          const some = Array.from({ length: Math.min(50, count - connections.length) }, () =>
            Connection.open(cluster.port),
          )
          connections.push(...(await Promise.all(some)))
        }
        for (const each of connections) {
          const { worker } = await each.json('/')
          counts.set(worker, (counts.get(worker) ?? 0) + 1)
        }
        const all = [0, 1, 2, 3].map((worker) => counts.get(worker) ?? 0)
        assert.ok(Math.max(...all) - Math.min(...all) <= 1, all.join(', '))
        for (const each of connections) each.close()
      }))
  }
})

/** Prints each datagram that comes to the socket of its argument, as one line of JSON. */
const manager = `
import json, socket, sys
found = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
found.bind(sys.argv[1].replace('@', chr(0), 1))
print('bound', flush=True)
while True:
    print(json.dumps(found.recv(65536).decode()), flush=True)
`

const last = `
import socket, sys
socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'last', sys.argv[1].replace('@', chr(0), 1))
`

class ServiceManager {
  readonly messages: string[] = []
  readonly #process: ChildProcess
  #isBound = false

  readonly address: string

  constructor(address: string) {
    this.address = address
    this.#process = spawn('python3', ['-c', manager, address], { stdio: ['ignore', 'pipe', 'inherit'] })
    let rest = ''
    this.#process.stdout?.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n')
      rest = lines.pop() as string
      for (const line of lines) {
        if (line === 'bound') this.#isBound = true
        else this.messages.push(JSON.parse(line) as string)
      }
    })
  }

  bound(): Promise<void> {
    return eventually(() => this.#isBound, 'the manager listens')
  }

  /** Waits until all has come that was sent so far: what this sends comes after it. */
  async hearsAll(): Promise<void> {
    spawnSync('python3', ['-c', last, this.address])
    await eventually(() => this.messages.includes('last'), 'the last message')
  }

  async end(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return
    const exit = once(this.#process, 'exit')
    this.#process.kill('SIGKILL')
    await exit
  }
}

describe('systemd', { concurrency: 4, skip: process.platform === 'linux' ? false : 'Linux' }, () => {
  for (const kind of ['path', 'abstract']) {
    test(`notify by ${kind}: READY when all serve, RELOADING, STOPPING, and signs of life`, async () => {
      const name = `volant-${process.pid}-${kind}`
      const told = new ServiceManager(kind === 'path' ? `/tmp/${name}` : `@${name}`)
      try {
        await told.bound()
        const env = { NOTIFY_SOCKET: told.address, WATCHDOG_USEC: '2000000' }
        const app = appOf({
          before: "app.get('/env', () => String(process.env.NOTIFY_SOCKET ?? process.env.WATCHDOG_USEC))",
        })
        await withCluster(
          { workers: 2, env, files: { 'main.js': app }, holdsClock: true },
          async (cluster) => {
            const has = (what: RegExp): boolean => told.messages.some((each) => what.test(each))
            await eventually(() => has(/^READY=1\n/), 'READY')
            assert.equal((await askOnce(cluster.port, '/env')).text, 'undefined')
            const beats = (): number => told.messages.filter((each) => each === 'WATCHDOG=1').length
            const first = beats()
            for (let second = 1; second <= 3; second++) {
              await cluster.advance(1_000)
              await eventually(() => beats() === first + second, 'a sign of life')
            }
            cluster.signal('SIGHUP')
            await cluster.until(({ restarts, isRolling }) => restarts.roll === 2 && !isRolling, 'the roll')
            await eventually(
              () => told.messages.filter((each) => each.startsWith('READY=1\n')).length === 2,
              'READY again',
            )
            assert.equal(
              told.messages.filter((each) => /^RELOADING=1\nMONOTONIC_USEC=\d+\n/.test(each)).length,
              1,
            )
            cluster.write('main.js', 'await new Promise((resolve) => setTimeout(resolve, 60000))')
            cluster.signal('SIGHUP')
            await cluster.until(({ isRolling }) => isRolling, 'another roll')
            await cluster.stop()
            await cluster.advance(0)
            assert.equal(await cluster.exit(), 0)
            await told.hearsAll()
            assert.ok(has(/^STOPPING=1\n/))
            const stopping = told.messages.findIndex((each) => each.startsWith('STOPPING=1'))
            assert.ok(
              !told.messages.slice(stopping).some((each) => each.startsWith('READY=1')),
              told.messages.join('\n'),
            )
          },
        )
      } finally {
        await told.end()
        spawn('rm', ['-f', `/tmp/${name}`])
      }
    })
  }

  /** Holds listening sockets as systemd does, and runs its arguments with them, `STARTS` times. */
  const holder = `
import os, signal, socket, sys
ports = [int(each) for each in os.environ['HELD'].split(',')]
held = []
for port in ports:
    each = socket.socket()
    each.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    each.bind(('127.0.0.1', port))
    each.listen(511)
    held.append(os.dup2(each.fileno(), 100 + len(held)))
child = 0
signal.signal(signal.SIGTERM, lambda *_: os.kill(child, signal.SIGTERM))
for start in range(int(os.environ.get('STARTS', '1'))):
    child = os.fork()
    if child == 0:
        for index, fd in enumerate(held):
            os.dup2(fd, 3 + index, True)
        os.environ['LISTEN_PID'] = os.environ.get('WRONG_PID', str(os.getpid()))
        os.environ['LISTEN_FDS'] = str(len(held))
        os.execvp(sys.argv[1], sys.argv[1:])
    _, status = os.waitpid(child, 0)
    print('ended', os.waitstatus_to_exitcode(status), flush=True)
sys.exit(os.waitstatus_to_exitcode(status))
`
  const held = ['python3', '-c', holder]

  test('a socket that is passed is used for its address, another one is said, and workers do not see the variables', async () => {
    const [port, other] = [await freePort(), await freePort()]
    const app = appOf({
      before:
        "app.get('/env', () => Object.keys(process.env).filter((name) => name.startsWith('LISTEN_')).join())",
    })
    const env = { PORT: String(port), HELD: `${other},${port}` }
    await withCluster({ wrapper: held, env, files: { 'main.js': app } }, async (cluster) => {
      await cluster.says(
        new RegExp(`systemd passes a socket at 127\\.0\\.0\\.1:${other}, where the app does not listen`),
      )
      assert.equal((await askOnce(port)).status, 200)
      assert.equal((await askOnce(port, '/env')).text, '')
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
    })
  })

  test('sockets for another process are left alone', async () => {
    const [port, other] = [await freePort(), await freePort()]
    const env = { PORT: String(port), HELD: String(other), WRONG_PID: '1' }
    await withCluster({ wrapper: held, env }, async (cluster) => {
      assert.equal((await askOnce(port)).status, 200)
      assert.doesNotMatch(cluster.output, /systemd/)
      cluster.signal('SIGTERM')
      await cluster.exit()
    })
  })

  test('a restart while the socket stays: no connection is refused or lost', async () => {
    const port = await freePort()
    await withCluster(
      { wrapper: held, env: { PORT: String(port), HELD: String(port), STARTS: '2' } },
      async (cluster) => {
        const load = new Load(port, { keeping: 2, opening: 4 })
        await load.goOn(50)
        const first = new Set(load.pids)
        cluster.signal('SIGTERM')
        await cluster.says(/ended 0\n[^]*listening on/)
        load.pids.clear()
        await load.goOn(50)
        await load.end()
        assert.deepEqual(load.failures, [])
        assert.ok([...load.pids].every((pid) => !first.has(pid)))
        cluster.signal('SIGTERM')
        assert.equal(await cluster.exit(), 0)
      },
    )
  })
})

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
  // The supervisor looks around when the child has ended, and before Node.js looks for signals.
  setImmediate(() => {
    while (!readFileSync('/proc/' + child.pid + '/stat', 'utf8').includes(') Z '));
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
