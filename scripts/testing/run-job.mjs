/** One process that runs test files, or one that runs tests of Rust: it is started, read, and ended if it hangs. */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../command.mjs'

/** A process that takes longer hangs, in ms. */
const longest = 900_000

const running = new Set()
let stopped = false

process.setMaxListeners(0)
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => {
    stopped = true
    for (const child of running) child.kill(signal)
  })
}

/** True after SIGINT or SIGTERM: nothing is started any more. */
export function isStopped() {
  return stopped
}

/** Runs a command to its end: its exit code, what it printed, and how long it took in ms. */
export function capture(command, args, { cwd = root, env = process.env } = {}) {
  return new Promise((resolve) => {
    const begun = performance.now()
    const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: longest })
    running.add(child)
    const parts = []
    child.stdout.on('data', (part) => parts.push(part))
    child.stderr.on('data', (part) => parts.push(part))
    const settle = (code) => {
      running.delete(child)
      resolve({ code, output: Buffer.concat(parts).toString(), wall: performance.now() - begun })
    }
    child.on('error', (error) => {
      parts.push(Buffer.from(error.message))
      settle(1)
    })
    child.on('close', (code, signal) => {
      if (signal !== null) parts.push(Buffer.from(`\nended by ${signal}`))
      settle(code ?? 1)
    })
  })
}

/**
 * Runs the files of a job. Gives for each of them its results, and what the whole process printed and took: `{ results:
 * [{ source, name, result, error, ms }], output, wall, cpu }`. With `text` only
 * tests with that text in their name run; `node` is the Node.js that runs them.
 */
export async function runJob(job, folder, text = null, node = process.execPath) {
  mkdirSync(folder, { recursive: true })
  const report = join(folder, job.name.replaceAll(/[^\w.-]/g, '+'))
  const program = job.isShared ? [join(root, 'scripts/testing/shared-process.mjs')] : []
  const { code, output, wall } = await capture(
    node,
    [
      '--enable-source-maps',
      `--test-reporter=${join(root, 'scripts/test-reporter.mjs')}`,
      `--test-reporter-destination=${report}`,
      ...(text === null ? [] : [`--test-name-pattern=${literal(text)}`]),
      ...program,
      ...job.files.map(({ compiled }) => compiled),
    ],
    { env: { ...process.env, ...job.env } },
  )
  const lines = existsSync(report) ? readFileSync(report, 'utf8').split('\n').filter(Boolean) : []
  const rows = lines.map((line) => JSON.parse(line))
  const results = rows.filter(({ path }) => path !== undefined).map((row) => resultOf(row, job))
  const cpu = rows.find((row) => row.cpu !== undefined)?.cpu ?? null
  // Files without a test of that name end at once.
  const isEmpty = results.length === 0 && text === null
  if (isEmpty || (code !== 0 && !results.some(({ result }) => result === 'failed'))) {
    const seen = new Set(results.map(({ source }) => source))
    const unfinished = job.isShared ? job.files.filter(({ source }) => !seen.has(source)) : job.files
    const source = (unfinished[0] ?? job.files.at(-1)).source
    results.push({
      source,
      name: `it runs to its end (exit code ${code})`,
      result: 'failed',
      error: output,
      ms: 0,
    })
  }
  return { results, output, wall, cpu }
}

function literal(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
}

/** In a shared process the outermost suite of a test is its file. */
function resultOf({ path, result, error, ms }, job) {
  const file = job.isShared ? job.files.find(({ compiled }) => compiled === path[0]) : undefined
  const names = file === undefined ? path : path.slice(1)
  return { source: (file ?? job.files[0]).source, name: names.join(' > '), result, error, ms }
}
