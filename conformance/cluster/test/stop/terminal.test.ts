/** A supervisor in a terminal. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Connection, left, withCluster } from '../../src/index.ts'
import { soon, drains } from './kit.ts'

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
      const pids = await cluster.pids()
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      cluster.signal('SIGUSR1')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      assert.equal(await cluster.exit(), 0)
      assert.deepEqual(left(pids), [])
      connection.close()
    }))

  test('a terminal that is closed stops the service, and what is in flight is answered', () =>
    withCluster({ workers: 2, files: soon, wrapper: ['python3', '-c', terminal] }, async (cluster) => {
      const pids = await cluster.pids()
      const [, supervisor] = /child (\d+)/.exec(cluster.output) ?? []
      const connection = await Connection.open(cluster.port)
      const reply = connection.ask('/hold?name=it')
      await cluster.held('it')
      cluster.signal('SIGUSR2')
      await drains(cluster)
      cluster.release('it')
      assert.equal((await reply).status, 200)
      // The terminal ends when the supervisor has.
      await cluster.exit()
      assert.deepEqual(left([...pids, Number(supervisor)]), [])
      connection.close()
    }))
})
