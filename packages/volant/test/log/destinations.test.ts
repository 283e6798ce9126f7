/** Destinations that are full, gone, stalled or renamed: requests are answered, and stderr says what was lost. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  constants,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { testClock } from '@volant/test-kit'
import { logger, type VolantError } from '../../src/index.ts'
import { eventually, Kit, stderrLines, within } from '../kit.ts'

const kit = new Kit()

const folder = mkdtempSync(join(tmpdir(), 'volant-destination-'))

after(() => rmSync(folder, { recursive: true }))

let pipes = 0

test(
  'a full disk: requests are answered, and stderr says once why and how many lines',
  { skip: !existsSync('/dev/full') && 'there is no /dev/full' },
  async () => {
    const { said, code, signal } = await run('/dev/full')
    assert.deepEqual([code, signal], [0, null], said)
    const [why, closed, count, ...more] = said.trimEnd().split('\n')
    assert.equal(
      why,
      'volant: the logger cannot write to /dev/full; lines are dropped: ENOSPC: no space left on device, write',
    )
    assert.equal(closed, 'closed after 300 replies')
    assert.equal(count, 'volant: the logger dropped 600 lines that could not be written to /dev/full')
    assert.deepEqual(more, [])
  },
)

test('a reader that is gone: requests are answered, and a new reader gets the lines from then on', async (t) => {
  const clock = testClock(t)
  const { path, reader } = pipe()
  const { app, ask } = appAt(path)
  let next = 0
  const said = await stderrLines(async (lines) => {
    closeSync(reader)
    await ask(10)
    await clock.advance(50)
    assert.equal(lines.length, 1)
    next = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    await ask(1)
    await app.close()
  })
  assert.match(String(said[0]), /the logger cannot write to .*pipe-1; lines are dropped: EPIPE/)
  assert.equal(readAll(next).split('\n').length - 1, 2)
  assert.equal(said[1], `volant: the logger dropped 20 lines that could not be written to ${path}`)
  assert.equal(said.length, 2)
  closeSync(next)
})

test('a reader that stalls: 16 MiB wait, later lines are dropped and counted, and no line is cut', async (t) => {
  const clock = testClock(t)
  const { path, reader } = pipe()
  const { app, ask } = appAt(path, 'x'.repeat(16_000))
  const total = 2 * 1_400
  let received = ''
  let arrived = 0
  let dropped = 0
  const said = await stderrLines(async (lines) => {
    await ask(total / 2)
    assert.equal(lines.length, 1)
    // A write that is held up is tried again every 10 ms.
    await eventually(async () => {
      await clock.advance(10)
      const part = readAll(reader)
      received += part
      arrived += part.split('\n').length - 1
      dropped = Number(/dropped (\d+) lines/.exec(String(lines[1]))?.[1])
      return arrived + dropped === total
    }, 'the number of lines that were dropped, and all others')
    await app.close()
  })
  assert.equal(said.length, 2)
  assert.match(String(said[0]), /the logger cannot write to .*; lines are dropped: it takes too long/)
  const lines = received.split('\n')
  assert.equal(lines.pop(), '')
  for (const line of lines) JSON.parse(line)
  assert.ok(dropped > 0)
  closeSync(reader)
})

test('a line that was cut off ends before the next one', async (t) => {
  const clock = testClock(t)
  const { path, reader } = pipe()
  const { app } = appAt(path)
  let received = ''
  await stderrLines(async (lines) => {
    // They are written at once, and a pipe holds 64 KiB. No line waits behind them, which the new reader would get.
    for (let n = 0; n < 5; n++) app.log.info('x'.repeat(16_000))
    assert.ok(hasByte(reader), 'a part of the lines')
    closeSync(reader)
    await clock.advance(10)
    assert.equal(lines.length, 1)
    const next = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    // The pipe is as full as it was.
    received += readAll(next)
    app.log.warn('the next line')
    await clock.advance(50)
    received += readAll(next)
    closeSync(next)
    await app.close()
  })
  const last = received.trimEnd().split('\n')
  assert.equal((JSON.parse(last.pop() as string) as { msg: string }).msg, 'the next line')
  assert.throws(() => JSON.parse(last.pop() as string) as unknown, 'the line before it is not whole')
})

test('a reader of standard output that stalls holds neither the close of the app nor the end of the process', async () => {
  const { path, reader } = pipe()
  const stdout = openSync(path, constants.O_WRONLY)
  try {
    const { said, code } = await within(run(null, stdout), 'the process')
    assert.equal(code, 0, said)
    assert.match(said, /^not closed after 1999 ms$/m)
    assert.match(said, /^closed after 300 replies$/m)
    const [, waited] = /^waited (\d+) ms at exit$/m.exec(said) ?? []
    assert.ok(Number(waited) > 0 && Number(waited) <= 1_100, said)
    assert.match(said, /cannot write to stdout; lines are dropped: EAGAIN/)
    assert.match(said, /dropped \d+ lines/)
  } finally {
    closeSync(stdout)
    closeSync(reader)
  }
})

test('a file that is renamed, as logrotate does, is made anew, and no line is lost', async (t) => {
  const clock = testClock(t)
  const path = join(folder, 'app.log')
  const { app, ask } = appAt(path)
  const linesAt = (each: string) => readFileSync(each, 'utf8').split('\n').length - 1
  /** Waits until the thread that writes is done, and the logger knows. */
  const wrote = async (count: number, each: string) => {
    await eventually(() => existsSync(each) && linesAt(each) === count, `${count} lines`)
    await eventually(() => !process.getActiveResourcesInfo().includes('FSReqCallback'), 'the end of a write')
  }
  // Lines wait for 50 ms, and the file is looked for a second after the app has opened it.
  await ask(5)
  await clock.advance(50)
  await wrote(10, path)
  renameSync(path, `${path}.1`)
  await clock.advance(899)
  await ask(1)
  await clock.advance(50)
  await wrote(12, `${path}.1`)
  assert.ok(!existsSync(path))
  await ask(1)
  await clock.advance(50)
  await wrote(2, path)
  await ask(5)
  await app.close()
  assert.deepEqual([linesAt(`${path}.1`), linesAt(path)], [12, 12])
})

test('a named pipe without a reader is refused, in place of waiting for one', () => {
  const path = join(folder, 'nobody')
  execFileSync('mkfifo', [path])
  assert.throws(
    () => kit.app({ log: { destination: path } }),
    (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('ENXIO'),
  )
})

/** Makes a named pipe, and opens its end for reading. */
function pipe(): { path: string; reader: number } {
  const path = join(folder, `pipe-${++pipes}`)
  execFileSync('mkfifo', [path])
  return { path, reader: openSync(path, constants.O_RDONLY | constants.O_NONBLOCK) }
}

/** Reads what the pipe has, without waiting. */
function readAll(reader: number): string {
  const buffer = Buffer.alloc(65_536)
  let text = ''
  for (;;) {
    let count = 0
    try {
      count = readSync(reader, buffer)
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN')
    }
    if (count === 0) return text
    text += buffer.toString('latin1', 0, count)
  }
}

/** Takes one byte of what the pipe has, if it has any. */
function hasByte(reader: number): boolean {
  try {
    return readSync(reader, Buffer.alloc(1)) === 1
  } catch {
    return false
  }
}

function appAt(destination: string, padding = '') {
  const app = kit.app({ log: { destination } })
  app.use(logger({ props: () => ({ padding }) }))
  app.get('/x', (ctx) => {
    ctx.log.info('own')
    return { ok: true }
  })
  const ask = async (times: number) => {
    for (let time = 0; time < times; time++) assert.equal((await app.inject('/x')).status, 200)
  }
  return { app, ask }
}

/**
 * Runs a program that logs 300 requests, two lines each, and closes the app. Gives how it ended. Without a destination,
 * where the reader of standard output stalls, the time of the program passes at once, and it says how much has passed.
 */
async function run(destination: string | null, stdout: 'pipe' | number = 'pipe') {
  const options = {
    signals: false,
    adapter: { type: 'node-http' },
    log: destination === null ? {} : { destination },
  }
  const close =
    destination === null
      ? `
    let waited = 0
    Atomics.wait = (array, at, value, ms) => { waited += ms; return 'timed-out' }
    // The listener of the logger comes before this one.
    process.on('exit', () => process.stderr.write('waited ' + waited + ' ms at exit\\n'))
    let closed = false
    const closing = app.close().then(() => { closed = true })
    await clock.advance(1_999)
    process.stderr.write((closed ? 'closed' : 'not closed') + ' after 1999 ms\\n')
    await clock.advance(1)
    await closing`
      : 'await app.close()'
  const program = `
    import { testClock } from ${JSON.stringify(import.meta.resolve('@volant/test-kit'))}
    import { createApp, logger } from ${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)}
    ${destination === null ? 'const clock = testClock({ after() {} })' : ''}
    const app = createApp(${JSON.stringify(options)})
    app.use(logger())
    app.get('/x', (ctx) => { ctx.log.info({ text: 'x'.repeat(2_000) }, 'own'); return { ok: true } })
    let right = 0
    for (let time = 0; time < 300; time++) if ((await app.inject('/x')).status === 200) right++
    ${close}
    process.stderr.write('closed after ' + right + ' replies\\n')`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', stdout, 'pipe'],
  })
  const [said, [code, signal]] = await Promise.all([
    textOf(child.stderr as NodeJS.ReadableStream),
    once(child, 'exit'),
  ])
  return { said, code: code as number | null, signal: signal as string | null }
}
