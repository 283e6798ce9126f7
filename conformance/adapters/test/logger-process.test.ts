/** What becomes of log lines when their process ends, and when nobody reads them. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { within } from '@volant/test-kit'

const folder = fileURLToPath(new URL('.', import.meta.url))

/**
 * Runs a program that has an app with a logger, or kills it once it wrote a line with `until`; gives what it wrote.
 * Its standard output is the socket that Node.js gives its children, or a pipe, as a shell gives it.
 */
async function run(
  program: string,
  { deaf = false, mute = false, until = '', isPiped = false } = {},
): Promise<{ out: string; error: string; code: number | null }> {
  const prelude = `
    import { createApp, logger } from 'volant'
    const app = createApp({ signals: false, adapter: { type: 'node-http' } })
    app.use(logger())
    app.get('/x', () => 'x')`
  const command = [process.execPath, '--input-type=module', '-e', `${prelude}\n${program}`]
  if (isPiped) command.unshift('bash', '-o', 'pipefail', '-c', '"$@" | cat', 'bash')
  const [executable = '', ...args] = command
  const child = spawn(executable, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let error = ''
  if (mute) child.stderr.destroy()
  else child.stderr.on('data', (bytes: Buffer) => (error += bytes.toString()))
  if (deaf) child.stdout.destroy()
  else
    child.stdout.on('data', (bytes: Buffer) => {
      out += bytes.toString()
      if (until !== '' && out.includes(until) && out.endsWith('\n')) child.kill('SIGKILL')
    })
  const [code] = (await within(once(child, 'close'), 'the end of the process')) as [number | null]
  return { out, error, code }
}

function urls(out: string): string[] {
  const lines = out.split('\n')
  assert.equal(lines.pop(), '')
  return lines.map((line) => (JSON.parse(line) as { req: { url: string } }).req.url)
}

const all = Array.from({ length: 500 }, (_, at) => `/x?at=${at}`)
const ask = "for (let at = 0; at < 500; at++) await app.inject('/x?at=' + at)\n"

for (const isPiped of [true, false]) {
  /**
   * A process that ends gives a thread that writes to a socket 100 ms. Where that does not run for as long, on a busy
   * machine, the lines of its one write come after the later ones. To a pipe no thread writes.
   */
  const assertAll = (out: string): void => {
    const found = urls(out).map((url) => all.indexOf(url))
    const falls = found.filter((at, place) => at < (found[place - 1] ?? 0)).length
    assert.ok(falls <= (isPiped ? 0 : 1), `out of order: ${found.join(' ')}`)
    assert.deepEqual(
      found.toSorted((one, other) => one - other),
      [...all.keys()],
    )
  }

  describe(`to a ${isPiped ? 'pipe, with all lines in their order' : 'socket'}`, () => {
    test('process.exit right after the last request loses no line', async () => {
      const { out, error, code } = await run(`${ask}process.exit(3)`, { isPiped })
      assert.equal(error, '')
      assert.equal(code, 3)
      assertAll(out)
    })

    test('an exception nobody catches loses no line', async () => {
      const program = `${ask}setImmediate(() => { throw new Error('uncaught') })`
      const { out, code } = await run(program, { isPiped })
      assert.equal(code, 1)
      assertAll(out)
    })

    test('a process that has nothing left to do is not kept alive, and writes its lines', async () => {
      const { out, code } = await run(ask, { isPiped })
      assert.equal(code, 0)
      assertAll(out)
    })
  })
}

test('lines are there when close() resolves, and soon without it', async () => {
  const program = `
    import { writeSync } from 'node:fs'
    await app.inject('/x?at=1')
    await app.close()
    writeSync(1, '{"req":{"url":"closed"}}\\n')
    const other = createApp({ signals: false, adapter: { type: 'node-http' } })
    other.use(logger())
    await other.inject('/x?at=2')
    // Only a process that still lives after the line was written is killed in time.
    await new Promise((resolve) => setTimeout(resolve, 10_000))
    writeSync(1, '{"req":{"url":"waited in vain"}}\\n')`
  const { out } = await run(program, { until: 'at=2' })
  assert.deepEqual(urls(out), ['/x?at=1', 'closed', '/x?at=2'])
})

test('when nobody reads them any more, requests go on and it is said once', async () => {
  const { error, code } = await run(
    `
    for (let round = 0; round < 5; round++) {
      ${ask}
      // Lines are gathered for 50 ms, so each round has a write of its own.
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    const { status } = await app.inject('/x')
    process.exit(status === 200 ? 0 : 1)`,
    { deaf: true },
  )
  assert.equal(code, 0, error)
  assert.equal(error.split('volant: the logger cannot write to stdout; lines are dropped: ').length, 2, error)
})

test('without anybody on stderr, errors are still answered', async () => {
  const { code } = await run(
    `
    app.get('/fail', () => { throw new Error('told to nobody') })
    for (let at = 0; at < 20; at++) {
      await app.inject('/fail')
      // So that each error is written on its own.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    process.exit((await app.inject('/x')).status === 200 ? 0 : 1)`,
    { deaf: true, mute: true },
  )
  assert.equal(code, 0)
})
