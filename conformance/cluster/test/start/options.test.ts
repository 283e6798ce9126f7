/** The options and variables of `volant start`. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { freePort } from '@volant/test-kit'
import { isFree, runToEnd, withCluster } from '../../src/index.ts'

describe('start', { concurrency: 4 }, () => {
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
})

function skipTaskset(): string | false {
  return existsSync('/usr/bin/taskset') &&
    /Cpus_allowed_list:\s*0/.test(readFileSync('/proc/self/status', 'utf8'))
    ? false
    : 'taskset and processor 0 are needed'
}
