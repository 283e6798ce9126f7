/** Starting other programs: their output is passed on as it comes, their exit code is returned. */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** The repository's root folder; every command runs there unless told otherwise. */
export const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Runs a command to its end and resolves with its exit code; a command killed by a signal counts as 1.
 *
 * With `onLine` its standard output is read line by line as well as shown. SIGINT and SIGTERM end the command, not
 * this process: the promise resolves and the caller can release what it holds.
 */
export function run(command, args, { cwd = root, env = process.env, onLine } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      stdio: ['inherit', onLine ? 'pipe' : 'inherit', 'inherit'],
    })
    // A terminal sends Ctrl-C to the command as well; twice would mean "now" to it.
    const pass = (signal) => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal)
    process.on('SIGINT', pass).on('SIGTERM', pass)
    const release = () => process.off('SIGINT', pass).off('SIGTERM', pass)
    child.on('error', (error) => {
      release()
      reject(error)
    })
    child.on('close', (code) => {
      release()
      resolve(code ?? 1)
    })
    if (onLine) readLines(child.stdout, onLine)
  })
}

/** Runs a command silently and returns what it printed, or null when it is missing or fails. */
export function output(command, args) {
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8' })
  return result.error || result.status !== 0 ? null : result.stdout.trim()
}

function readLines(stream, onLine) {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text) => {
    process.stdout.write(text)
    const lines = (rest + text).split('\n')
    rest = lines.pop()
    lines.forEach(onLine)
  })
  stream.on('end', () => rest && onLine(rest))
}
