/** What processes and threads of an app see of its supervisor. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { appOf, askOnce, withCluster } from '../../src/index.ts'
import { telling, told } from './kit.ts'

describe('start', { concurrency: 4 }, () => {
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
})
