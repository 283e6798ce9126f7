/** How `volant start` starts an app, and what the app sees of it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { appOf, askOnce, Cluster, Connection, isFree, runToEnd, withCluster } from '../src/index.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
const stripsTypes = major > 23 || (major === 23 && minor >= 6) || (major === 22 && minor >= 18)
const hasMain = major >= 25 || (major === 24 && minor >= 2)

/** A module that listens, and tells `what`, an expression, to whoever asks. */
function telling(what: string, before = ''): string {
  return `
import { createApp } from 'volant'
${before}
const told = ${what}
const app = createApp()
app.get('/', () => told)
await app.listen(0, '127.0.0.1')
`
}

async function told(cluster: Cluster): Promise<unknown> {
  return JSON.parse((await askOnce(cluster.port)).text)
}

describe('start', { concurrency: 4 }, () => {
  test('connections come when all that stands before listen is done, and port 0 is one port for all', () =>
    withCluster(
      { workers: 3, files: { 'main.js': appOf({ before: 'await sleep(100 * (worker.id + 1))' }) } },
      async (cluster) => {
        assert.match(cluster.output, /^volant: listening on http:\/\/127\.0\.0\.1:\d+ \(3 workers\)\n$/)
        const seen = new Set<number>()
        for (let count = 0; count < 12; count++) {
          const { worker, count: all } = JSON.parse((await askOnce(cluster.port)).text)
          seen.add(worker)
          assert.equal(all, 3)
        }
        assert.deepEqual([...seen].toSorted(), [0, 1, 2])
      },
    ))

  test('several apps of a process have ports of their own, the same in all workers', () =>
    withCluster(
      {
        files: {
          'main.js': `
import { createApp } from 'volant'
const apps = [createApp(), createApp()]
// The first one may be asked before the second one listens.
apps[0].get('/', async () => ({ app: 0, ports: await ports }))
apps[1].get('/', async () => ({ app: 1, ports: await ports }))
const ports = (async () => {
  const all = []
  for (const app of apps) all.push(String((await app.listen(0, '127.0.0.1')).port))
  return all
})()
`,
        },
      },
      async (cluster) => {
        const first = JSON.parse((await askOnce(cluster.port)).text)
        assert.equal(first.app, 0)
        for (let count = 0; count < 6; count++) {
          for (const app of [0, 1]) {
            const said = JSON.parse((await askOnce(Number(first.ports[app]))).text)
            assert.deepEqual(said, { app, ports: first.ports })
          }
        }
      },
    ))

  test('connections that wait for an app which a ready worker has not started yet are not lost', () =>
    withCluster(
      {
        workers: 1,
        files: {
          'main.js': appOf({
            before: `
app.get('/again', async (ctx) => {
  const other = createApp()
  other.get('/', () => 'the other')
  end = () => other.close({ drainIdle: 0 })
  await other.listen({ port: Number(ctx.query.port), host: '127.0.0.1' })
  return 'ok'
})
let end
app.get('/end', async () => {
  await end()
  return 'ok'
})`,
          }),
        },
      },
      async (cluster) => {
        const port = await freePort()
        // The first listen binds the port, and the connections of the following ones wait for it.
        for (let round = 0; round < 10; round++) {
          const waiting = await Promise.all(
            Array.from({ length: round === 0 ? 0 : 3 }, () => Connection.open(port)),
          )
          const all = Promise.all(waiting.map((each) => each.ask('/', { close: true })))
          assert.equal((await askOnce(cluster.port, `/again?port=${port}`)).status, 200)
          for (const { status, text } of await all) {
            assert.equal(status, 200)
            assert.equal(text, 'the other')
          }
          for (const each of waiting) each.close()
          assert.equal((await askOnce(cluster.port, '/end')).status, 200)
        }
      },
    ))

  test('a socket file: a stale one is replaced, and it is removed at the end', async () => {
    const text = `
import { createApp } from 'volant'
const app = createApp()
app.get('/', () => String(process.pid))
await app.listen({ path: './app.sock' })
`
    await withCluster({ files: { 'main.js': text } }, async (cluster) => {
      const path = join(cluster.folder, 'app.sock')
      const pids = new Set<string>()
      for (let count = 0; count < 6; count++) pids.add((await askOnce(path)).text)
      assert.equal(pids.size, 2)
      cluster.signal('SIGKILL')
      await cluster.exit()
      assert.ok(existsSync(path), 'the stale file')
      const next = new Cluster({ files: {}, module: join(cluster.folder, 'main.js') })
      try {
        // The path is that of the folder in which the command runs.
        await next.says(/listening/)
        const other = join(next.folder, 'app.sock')
        assert.equal((await askOnce(other)).status, 200)
        next.signal('SIGTERM')
        assert.equal(await next.exit(), 0)
        assert.equal(existsSync(other), false)
      } finally {
        await next.end()
      }
    })
  })

  test('node-http: a socket file, whose path the app is told', () => {
    const text = `
import { createApp } from 'volant'
const app = createApp({ adapter: { type: 'node-http' } })
app.get('/', () => address)
const address = await app.listen({ path: './app.sock' })
`
    return withCluster({ files: { 'main.js': text } }, async (cluster) => {
      const { text: said } = await askOnce(join(cluster.folder, 'app.sock'))
      assert.equal(JSON.parse(said).path, './app.sock')
      cluster.signal('SIGTERM')
      assert.equal(await cluster.exit(), 0)
      assert.equal(existsSync(join(cluster.folder, 'app.sock')), false)
    })
  })

  test('a stale socket file in the same folder is replaced', async () => {
    const text = (path: string): string => `
import { createApp } from 'volant'
const app = createApp()
app.get('/', () => String(process.pid))
await app.listen({ path: ${JSON.stringify(path)} })
`
    await withCluster({ files: { 'main.js': text('./app.sock') } }, async (cluster) => {
      const path = join(cluster.folder, 'app.sock')
      cluster.signal('SIGKILL')
      await cluster.exit()
      await withCluster({ files: { 'main.js': text(path) } }, async (next) => {
        assert.equal((await askOnce(path)).status, 200)
        next.signal('SIGTERM')
        assert.equal(await next.exit(), 0)
        assert.equal(existsSync(path), false)
      })
    })
  })

  test('a port in use is told as by one process, and the third failure ends the supervisor', async () => {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    try {
      const { code, output } = await runToEnd({ env: { PORT: String(port) } })
      assert.equal(code, 1)
      assert.match(output, new RegExp(`port ${port}.* in use`))
      assert.match(output, /none ever served: the supervisor ends/)
    } finally {
      server.close()
    }
  })

  test('two apps of a process at one port are told so, as in one process', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      env: { PORT: String(await freePort()) },
      files: {
        'main.js': `
import { createApp } from 'volant'
const port = Number(process.env.PORT)
await createApp().listen(port, '127.0.0.1')
await createApp().listen(port, '127.0.0.1').catch((error) => {
  console.log(error.code + ': ' + error.message)
  process.kill(${'process.ppid'}, 'SIGTERM')
})
`,
      },
    })
    assert.match(output, /EADDRINUSE: .*in use/)
    assert.equal(code, 0)
  })

  test("PORT is the app's, WEB_CONCURRENCY counts, and --workers beats it", async () => {
    const port = await freePort()
    await withCluster(
      { workers: null, env: { PORT: String(port), WEB_CONCURRENCY: '2' } },
      async (cluster) => {
        assert.equal(cluster.port, port)
        assert.equal((await cluster.workers()).length, 2)
        cluster.signal('SIGTERM')
        assert.equal(await cluster.exit(), 0)
        assert.ok(await isFree(port))
      },
    )
    await withCluster({ workers: 1, env: { WEB_CONCURRENCY: '3' } }, async (cluster) => {
      assert.equal((await cluster.workers()).length, 1)
    })
  })

  test('auto counts the processors that the process may use', { skip: skipTaskset() }, () =>
    withCluster(
      { workers: null, args: ['--workers', 'auto'], wrapper: ['taskset', '-c', '0'] },
      async (cluster) => {
        assert.equal((await cluster.workers()).length, 1)
      },
    ),
  )

  const refused: [args: string[], what: RegExp][] = [
    [['--workers', '0'], /workers takes a number from 1 to 1024, or auto/],
    [['--workers', 'many'], /workers takes/],
    [['--start-timeout', 'soon'], /startTimeout takes milliseconds/],
    [['--hang-timeout', '1s'], /hangTimeout takes/],
    [['--max-memory', '1mb'], /maxMemory takes bytes from 64 MiB/],
    [['--drain-delay', '-1s'], /drain-?[dD]elay/],
    [['--control', '127.0.0.1:70000'], /control takes a socket file/],
    [['--instances', '3'], /--instances/],
    [['other.js'], /start takes one module/],
  ]
  for (const [args, what] of refused) {
    test(`${args.join(' ')} is refused with a sentence`, async () => {
      const { code, output } = await runToEnd({ workers: null, control: false, args })
      assert.equal(code, 1)
      assert.match(output, what)
      assert.doesNotMatch(output, /\n +at /)
    })
  }

  test('a module that does not exist is refused before anything starts', async () => {
    const { code, output } = await runToEnd({ module: 'absent.js' })
    assert.equal(code, 1)
    assert.match(output, /^volant: there is no file absent\.js in .*: give the file/)
  })

  test('a module that throws: its error is shown, and the third failure ends the supervisor', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      files: { 'main.js': "throw new Error('of the app')" },
    })
    assert.equal(code, 1)
    assert.equal(output.match(/Error: of the app/g)?.length, 3)
    assert.match(output, /has ended before it listened, with code 1/)
  })

  test('a module that ends without listening is told so', async () => {
    const { code, output } = await runToEnd({ workers: 1, files: { 'main.js': "console.log('done')" } })
    assert.equal(code, 1)
    assert.match(output, /has ended before it listened, with code 0: the module has to call app\.listen\(\)/)
  })

  test('a module that never listens is killed after startTimeout', async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      args: ['--start-timeout', '500ms'],
      files: { 'main.js': 'setInterval(() => {}, 1000)' },
    })
    assert.equal(code, 1)
    assert.match(output, /has not listened within 0\.5 s \(startTimeout\): it is killed/)
  })

  test('an absolute module, a CommonJS module, and arguments behind --', async () => {
    const text = `
const { createApp } = require('volant')
const app = createApp()
app.get('/', () => ({ argv: process.argv.slice(2), file: process.argv[1], main: require.main === module, name: __filename }))
app.listen(0, '127.0.0.1')
`
    await withCluster(
      { module: 'main.cjs', files: { 'main.cjs': text }, args: ['--', '--own', 'x y'] },
      async (cluster) => {
        const file = join(cluster.folder, 'main.cjs')
        assert.deepEqual(await told(cluster), { argv: ['--own', 'x y'], file, main: true, name: file })
        await withCluster({ module: file, files: {} }, async (other) => {
          assert.deepEqual(await told(other), { argv: [], file, main: true, name: file })
        })
      },
    )
  })

  test('import.meta.main is true, as with node', { skip: hasMain ? false : 'needs Node.js 24.2' }, () =>
    withCluster({ files: { 'main.js': telling('{ main: import.meta.main }') } }, async (cluster) => {
      assert.deepEqual(await told(cluster), { main: true })
    }),
  )

  test('a TypeScript module', async () => {
    const files = { 'main.ts': telling('{ text: "typed" as string }') }
    if (stripsTypes) {
      return withCluster({ module: 'main.ts', files }, async (cluster) => {
        assert.deepEqual(await told(cluster), { text: 'typed' })
      })
    }
    const { code, output } = await runToEnd({ module: 'main.ts', files })
    assert.equal(code, 1)
    assert.match(output, /main\.ts is TypeScript, which Node\.js .* does not run: compile it/)
  })

  test('processes and threads of the app see nothing of the supervisor', () =>
    withCluster(
      {
        workers: 1,
        // Nobody listens at this address, and the sockets are for another process.
        env: {
          NOTIFY_SOCKET: `@volant-nobody-${process.pid}`,
          WATCHDOG_USEC: '60000000',
          LISTEN_PID: '1',
          LISTEN_FDS: '1',
          LISTEN_FDNAMES: 'web',
        },
        execArgv: ['--no-warnings'],
        files: {
          'main.js': telling(
            '{ own: seen(), child: JSON.parse(child), forked, thread, inherited, children: process.execArgv }',
            `
import { execFileSync, fork } from 'node:child_process'
import { readdirSync, readlinkSync } from 'node:fs'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { seen } from './seen.js'
const child = execFileSync(process.execPath, ['seen.js'], { encoding: 'utf8' })
const forked = (await once(fork('seen.js'), 'message'))[0]
const thread = (await once(new Worker(new URL('./seen.js', import.meta.url)), 'message'))[0]
const inherited = execFileSync('sh', ['-c', 'for each in /proc/$$/fd/*; do echo "$each $(readlink $each)"; done'], { encoding: 'utf8' })
  .split('\\n').filter((each) => /socket:|memfd:/.test(each) && !/fd\\/[012] /.test(each))
`,
          ),
          'seen.js': `
import { parentPort } from 'node:worker_threads'
import { worker } from 'volant/cluster'
export const seen = () => ({
  env: Object.keys(process.env).filter((name) => /VOLANT|LISTEN_|NOTIFY|WATCHDOG|NODE_CHANNEL/.test(name)),
  execArgv: process.execArgv,
  isSupervised: worker.isSupervised,
})
if (parentPort !== null) parentPort.postMessage(seen())
else if (process.argv[1].endsWith('seen.js')) {
  if (process.connected) process.send(seen(), () => process.disconnect())
  else console.log(JSON.stringify(seen()))
}
`,
        },
      },
      async (cluster) => {
        const without = { env: [], isSupervised: false }
        const said = (await told(cluster)) as Record<string, { execArgv: string[] }>
        assert.deepEqual(said, {
          own: { env: [], execArgv: ['--no-warnings'], isSupervised: true },
          child: { ...without, execArgv: [] },
          forked: { ...without, execArgv: ['--no-warnings'] },
          thread: { ...without, execArgv: ['--no-warnings'] },
          inherited: [],
          children: ['--no-warnings'],
        })
      },
    ))

  test('uwebsockets is refused with a sentence', { skip: skipUws() }, async () => {
    const { code, output } = await runToEnd({
      workers: 1,
      files: { 'main.js': appOf({ adapter: 'uwebsockets' }) },
    })
    assert.equal(code, 1)
    assert.match(output, /the adapter uwebsockets cannot get connections from a supervisor: run its app/)
  })

  test('node-http shares the listening socket: requests are answered, and a worker that is stopped holds nobody up', () =>
    withCluster({ files: { 'main.js': appOf({ adapter: 'node-http' }) } }, async (cluster) => {
      const [first] = await cluster.workers()
      process.kill(first?.pid as number, 'SIGSTOP')
      for (let count = 0; count < 8; count++) {
        const { pid } = JSON.parse((await askOnce(cluster.port)).text)
        assert.notEqual(pid, first?.pid)
      }
      process.kill(first?.pid as number, 'SIGCONT')
    }))

  test('files of workers have the umask of the command, also with a control socket', () =>
    withCluster(
      {
        workers: 1,
        files: { 'main.js': appOf({ before: "app.get('/umask', () => String(process.umask()))" }) },
      },
      async (cluster) => {
        const { text } = await askOnce(cluster.port, '/umask')
        assert.equal(Number(text), process.umask())
        // A worker that is started later has it, too.
        const [before] = await cluster.workers()
        process.kill(before?.pid as number, 'SIGKILL')
        await cluster.until(
          ({ workers: [now] }) => now?.state === 'ready' && now.pid !== before?.pid,
          'another worker',
        )
        assert.equal(Number((await askOnce(cluster.port, '/umask')).text), process.umask())
      },
    ))

  const { WebSocket: Native } = globalThis as { WebSocket?: typeof WebSocket }
  const skip = Native === undefined && 'this Node.js has no global WebSocket'
  test('a WebSocket stays with its worker', { skip }, () =>
    withCluster(
      {
        files: {
          'main.js': appOf({
            before: "app.ws('/socket', { message: (socket) => void socket.send(String(process.pid)) })",
          }),
        },
      },
      async (cluster) => {
        const sockets = Array.from(
          { length: 6 },
          () => new (Native as typeof WebSocket)(`ws://127.0.0.1:${cluster.port}/socket`),
        )
        await Promise.all(sockets.map((socket) => once(socket, 'open')))
        const said = sockets.map(() => new Set<string>())
        for (let count = 0; count < 3; count++) {
          for (const [index, socket] of sockets.entries()) {
            const message = once(socket, 'message') as Promise<[MessageEvent]>
            socket.send('who')
            said[index]?.add(String((await message)[0].data))
          }
        }
        for (const socket of sockets) socket.close()
        for (const pids of said) assert.equal(pids.size, 1)
        const pids = (await cluster.workers()).map(({ pid }) => String(pid))
        assert.equal(pids.length, 2)
        assert.deepEqual([...new Set(said.flatMap((each) => [...each]))].toSorted(), pids.toSorted())
      },
    ),
  )
})

function skipUws(): string | false {
  try {
    createRequire(import.meta.resolve('volant'))('uWebSockets.js')
    return false
  } catch {
    return 'uWebSockets.js does not load here'
  }
}

function skipTaskset(): string | false {
  return existsSync('/usr/bin/taskset') &&
    /Cpus_allowed_list:\s*0/.test(readFileSync('/proc/self/status', 'utf8'))
    ? false
    : 'taskset and processor 0 are needed'
}
