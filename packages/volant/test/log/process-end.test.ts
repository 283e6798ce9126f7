/** A process that ends: its last lines are written, each of them once and whole. */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text as textOf } from 'node:stream/consumers'
import { after, test } from 'node:test'

const folder = mkdtempSync(join(tmpdir(), 'volant-process-end-'))

after(() => rmSync(folder, { recursive: true }))

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

/**
 * Code that has the second pass at once for which the logger waits for a thread at exit: it is held for longer in any
 * case. Until then time passes as it does.
 */
const impatient = `
  process.prependListener('exit', () => {
    let now = performance.now()
    performance.now = () => (now += 500)
  })`

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
      ${impatient}
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
        ${impatient}
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
    const { now } = performance
    performance.now = () => now.call(performance) + 1_000
    log.fatal({ n: 2 })
    process.exit(1)`
  assert.deepEqual(await numbersOf(join(folder, 'looked-for.log'), ending), [1, 2])
})

/** Code that makes an app with this destination, and gives its `log`. */
function logTo(destination: string | null): string {
  const options = { signals: false, log: destination === null ? {} : { destination } }
  return `
    const { createApp } = await import(${JSON.stringify(new URL('../../src/index.js', import.meta.url).href)})
    const { log } = createApp(${JSON.stringify(options)})`
}

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

/** Code that keeps the thread of the pool until `release()`: it opens a named pipe that has no writer until then. */
function holdThread(name: string): string {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return `
    const { open, openSync } = await import('node:fs')
    open(${JSON.stringify(path)}, () => {})
    const release = () => openSync(${JSON.stringify(path)}, 'r+')`
}
