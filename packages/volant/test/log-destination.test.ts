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
import { logger, type VolantError } from '../src/index.ts'
import { eventually, Kit, stderrLines, within } from './kit.ts'

const kit = new Kit()
const folder = mkdtempSync(join(tmpdir(), 'volant-destination-'))
after(() => rmSync(folder, { recursive: true }))

let pipes = 0

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

/** Runs a program that logs 300 requests, two lines each, and closes the app. Gives how it ended. */
async function run(destination: string | null, stdout: 'pipe' | number = 'pipe') {
  const program = `
    import { createApp, logger } from ${JSON.stringify(new URL('../src/index.js', import.meta.url).href)}
    const app = createApp({ signals: false, adapter: { type: 'node-http' }, log: { ${destination === null ? '' : `destination: ${JSON.stringify(destination)}`} } })
    app.use(logger())
    app.get('/x', (ctx) => { ctx.log.info({ text: 'x'.repeat(2_000) }, 'own'); return { ok: true } })
    let right = 0
    for (let time = 0; time < 300; time++) if ((await app.inject('/x')).status === 200) right++
    await app.close()
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

test('a reader that is gone: requests are answered, and a new reader gets the lines from then on', async () => {
  const { path, reader } = pipe()
  const { app, ask } = appAt(path)
  let next = 0
  const said = await stderrLines(async (lines) => {
    closeSync(reader)
    await ask(10)
    await eventually(() => lines.length === 1, 'EPIPE')
    next = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    await ask(1)
    await app.close()
  })
  assert.match(String(said[0]), /the logger cannot write to .*pipe-1; lines are dropped: EPIPE/)
  // On a busy machine the first 20 lines are written in parts, and the last of these wait for the new reader.
  const arrived = readAll(next).split('\n').length - 1
  assert.ok(arrived >= 2 && arrived < 22, String(arrived))
  assert.equal(
    said[1],
    `volant: the logger dropped ${22 - arrived} lines that could not be written to ${path}`,
  )
  assert.equal(said.length, 2)
  closeSync(next)
})

test('a reader that stalls: 16 MiB wait, later lines are dropped and counted, and no line is cut', async () => {
  const { path, reader } = pipe()
  const { app, ask } = appAt(path, 'x'.repeat(16_000))
  const total = 2 * 1_400
  let received = ''
  let arrived = 0
  let dropped = 0
  const said = await stderrLines(async (lines) => {
    await ask(total / 2)
    await eventually(() => lines.length === 1, 'a complaint')
    // The close of the app would wait for 2 s at most, and a slow machine takes longer to pass 16 MiB on.
    await eventually(() => {
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

test('a line that was cut off ends before the next one', async () => {
  const { path, reader } = pipe()
  const { app } = appAt(path)
  let received = ''
  await stderrLines(async (lines) => {
    // They are written at once, and a pipe holds 64 KiB. No line waits behind them, which the new reader would get.
    for (let n = 0; n < 5; n++) app.log.info('x'.repeat(16_000))
    await eventually(() => hasByte(reader), 'a part of the lines')
    closeSync(reader)
    await eventually(() => lines.length === 1, 'EPIPE')
    const next = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
    app.log.warn('the next line')
    await eventually(() => (received += readAll(next)).includes('the next line'), 'the next line')
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
    const { said, code } = await within(run(null, stdout), 30_000, 'the process')
    assert.equal(code, 0, said)
    assert.match(said, /closed after 300 replies/)
    assert.match(said, /cannot write to stdout; lines are dropped: EAGAIN/)
    assert.match(said, /dropped \d+ lines/)
  } finally {
    closeSync(stdout)
    closeSync(reader)
  }
})

test('a file that is renamed, as logrotate does, is made anew, and no line is lost', async () => {
  const path = join(folder, 'app.log')
  const { app, ask } = appAt(path)
  await ask(5)
  await eventually(() => readFileSync(path, 'utf8') !== '', 'lines')
  renameSync(path, `${path}.1`)
  let asked = 5
  while (!existsSync(path)) {
    await ask(1)
    asked++
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await ask(5)
  await app.close()
  const lines = [`${path}.1`, path].map((each) => readFileSync(each, 'utf8').split('\n').length - 1)
  assert.ok((lines[1] as number) >= 10, String(lines))
  assert.equal((lines[0] as number) + (lines[1] as number), 2 * (asked + 5))
})

test('a named pipe without a reader is refused, in place of waiting for one', () => {
  const path = join(folder, 'nobody')
  execFileSync('mkfifo', [path])
  assert.throws(
    () => kit.app({ log: { destination: path } }),
    (error: VolantError) => error.code === 'E_BAD_OPTION' && error.message.includes('ENXIO'),
  )
})

/** Code that makes an app with this destination, and gives its `log`. */
function logTo(destination: string | null): string {
  const options = { signals: false, log: destination === null ? {} : { destination } }
  return `
    const { createApp } = await import(${JSON.stringify(new URL('../src/index.js', import.meta.url).href)})
    const { log } = createApp(${JSON.stringify(options)})`
}

/**
 * Code that has the logger give up after 26 s in place of 1 s, since the reader of its pipe may be slow: it waits a
 * hundred times without progress, and each time takes longer by a twentieth of all times before.
 */
const patient = `
  const { wait } = Atomics
  let waited = 0
  Atomics.wait = (array, at, value, ms) => {
    const longer = ms + waited / 20
    waited += longer
    return wait(array, at, value, longer)
  }`

/** Runs a program that logs and ends, with its output in a pipe; gives the numbers of the lines that arrived whole. */
async function numbersOf(destination: string | null, ending: string): Promise<number[]> {
  const text = await outputOf(`
    ${patient}
    ${logTo(destination)}
    ${ending}`)
  return numbersIn(destination === null ? text : readFileSync(destination, 'utf8'))
}

/** Runs a module with a pool of one thread. */
function outputOf(program: string): Promise<string> {
  // `spawn` alone would make a socket.
  const child = spawn('sh', ['-c', '"$0" --input-type=module -e "$1" | cat', process.execPath, program], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { ...process.env, UV_THREADPOOL_SIZE: '1' },
  })
  return textOf(child.stdout)
}

function numbersIn(lines: string): number[] {
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { n: number }).n)
}

const thousand = `for (let n = 0; n < 1_000; n++) log.info({ n, padding: 'x'.repeat(100) })`
const endings: [string, string][] = [
  ['process.exit() at once', `${thousand}; process.exit()`],
  ['process.exit() in a later turn', `${thousand}; setImmediate(() => process.exit())`],
  ['an error that nobody caught', `${thousand}; setImmediate(() => { throw new Error('unseen') })`],
  ['lines of a listener for exit', `process.on('exit', () => { ${thousand} })`],
]
for (const [name, ending] of endings) {
  test(`more lines than a pipe takes at once, and then ${name}: each line arrives whole`, async () => {
    const numbers = Array.from({ length: 1_000 }, (_, n) => n)
    assert.deepEqual(await numbersOf(null, ending), numbers)
    assert.deepEqual(await numbersOf(join(folder, `${ending.length}.log`), ending), numbers)
  })
}

/** Code that keeps the thread of the pool until `release()`: it opens a named pipe that has no writer until then. */
function holdThread(name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return `
    const { open, openSync } = await import('node:fs')
    open(${JSON.stringify(path)}, () => {})
    const release = () => openSync(${JSON.stringify(path)}, 'r+')`
}

test('a process that exits before a thread has begun to write: its lines come first', async () => {
  // The thread goes on once the logger waits for it. The clock stands still, so that this may take any time.
  const ending = `
    ${holdThread('held-for-a-moment')}
    process.on('exit', release)
    ${thousand}
    performance.now = () => (release(), 0)
    process.exit()`
  const numbers = await numbersOf(join(folder, 'held-for-a-moment.log'), ending)
  assert.deepEqual(
    numbers,
    Array.from({ length: 1_000 }, (_, n) => n),
  )
})

for (const [where, program] of [
  [
    'a process',
    // The listener of the logger comes before the one that releases the thread.
    (path: string, hold: string) => `
      ${logTo(path)}
      ${hold}
      process.on('exit', release)
      ${thousand}
      process.exit()`,
  ],
  [
    'a worker thread',
    // The thread reads what the worker imports, and is held from then on until the worker has ended.
    (path: string, hold: string) => `
      const { Worker } = await import('node:worker_threads')
      const code = async () => {
        const { parentPort } = await import('node:worker_threads')
        ${logTo(path)}
        parentPort.once('message', () => { ${thousand}; process.exit() }).postMessage('ready')
      }
      const worker = new Worker('(' + code + ')()', { eval: true })
      await new Promise((resolve) => worker.once('message', resolve))
      ${hold}
      worker.on('exit', release).postMessage('go on')`,
  ],
] as const) {
  test(`${where} that exits long before a thread of the pool begins to write: each line arrives once`, async () => {
    const name = where.replaceAll(' ', '-')
    const path = join(folder, `${name}.log`)
    await outputOf(program(path, holdThread(name)))
    assert.deepEqual(
      numbersIn(readFileSync(path, 'utf8')).toSorted((a, b) => a - b),
      Array.from({ length: 1_000 }, (_, n) => n),
    )
  })
}

test('a process that exits while its file is looked for writes the last line', async () => {
  const ending = `
    log.info({ n: 1 })
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_100)
    log.fatal({ n: 2 })
    process.exit(1)`
  assert.deepEqual(await numbersOf(join(folder, 'looked-for.log'), ending), [1, 2])
})
