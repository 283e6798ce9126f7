/** One server process: started, awaited, stopped by its pid. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import type { Entry } from './roster.ts'

export interface RunningServer {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

type Child = ChildProcessByStdio<null, Readable, Readable>

const startLimit = 10_000
const stopLimit = 1_000

/** Starts an entry on a free port and waits for its line `listening on PORT`, for 10 s at most. */
export async function startServer(entry: Entry, core: number | null): Promise<RunningServer> {
  const command = entry.command()
  if (core !== null) command.unshift('taskset', '--cpu-list', String(core))
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: entriesFolder,
    env: { ...process.env, NODE_ENV: 'production', PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))

  const port = await readyPort(entry, child)
  return {
    // taskset becomes the server: it is the same process.
    pid: child.pid as number,
    port,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Failure(`${entry.name} ended while it was measured: ${child.signalCode ?? child.exitCode}`)
      }
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      const timer = setTimeout(kill, stopLimit)
      await closed
      clearTimeout(timer)
    },
  }
}

function readyPort(entry: Entry, child: Child): Promise<number> {
  return new Promise((resolve, reject) => {
    let output = ''
    let errors = ''
    const fail = (what: string): void => {
      clearTimeout(timer)
      child.kill('SIGKILL')
      const reason = /^\w*Error\b.*: .+$/m.exec(errors)?.[0] ?? errors.trim().split('\n').at(-1)
      reject(new Failure(`${entry.name} ${what}${reason ? `: ${reason}` : ''}`))
    }
    const timer = setTimeout(() => fail(`was not ready within ${startLimit / 1000} s`), startLimit)
    child.on('error', (error) => fail(`did not start: ${error.message}`))
    child.once('close', (code, signal) => fail(`ended before it was ready (${signal ?? code})`))
    // The last of it is enough to say why; both pipes are read for as long as the server runs.
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-4_000)
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-4_000)
      const match = /^listening on (\d+)$/m.exec(output)
      if (!match) return
      clearTimeout(timer)
      resolve(Number(match[1]))
    })
  })
}
