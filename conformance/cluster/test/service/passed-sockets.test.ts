/** Listening sockets that systemd passes. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { appOf, askOnce, Load, withCluster } from '../../src/index.ts'

describe('systemd', { concurrency: 4, skip: process.platform === 'linux' ? false : 'Linux' }, () => {
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
