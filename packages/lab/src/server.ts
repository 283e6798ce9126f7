/** One server process: started, awaited, stopped by its pid. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { Failure } from './failure.ts'
import { entriesFolder } from './folders.ts'
import type { Entry } from './roster.ts'
import type { Program } from './scenario.ts'

/** Its environment has `PORT`, and in `SCRATCH` a folder of its own that is gone when it has stopped. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

type Child = ChildProcessByStdio<null, Readable, Readable>

const startLimit = 10_000
const stopLimit = 1_000

/** Starts an entry on a free port and waits for its line `listening on PORT`, for 10 s at most. */
export async function startServer(
  entry: Entry,
  program: Program,
  core: number | null,
): Promise<RunningServer> {
  const { ready, ...server } = launch(entry, program, core, 0)
  return { ...server, port: await ready }
}

/** Starts an entry; `ready` gives its port as soon as it says so, and fails when it ends before. */
export function launch(
  entry: Entry,
  program: Program,
  core: number | null,
  port: number,
): Omit<RunningServer, 'port'> & { readonly ready: Promise<number> } {
  const command = entry.command(program, port)
  if (core !== null) command.unshift('taskset', '--cpu-list', String(core))
  const scratch = mkdtempSync(join(tmpdir(), 'lab-'))
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: entriesFolder,
    env: {
      ...process.env,
      ...entry.environment,
      NODE_ENV: 'production',
      PORT: String(port),
      SCRATCH: scratch,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (): boolean => child.kill('SIGKILL')
  const clear = (): void => rmSync(scratch, { recursive: true, force: true })
  process.once('exit', kill).once('exit', clear)
  child.once('close', () => {
    process.off('exit', kill).off('exit', clear)
    clear()
  })

  return {
    // taskset becomes the server: it is the same process.
    pid: child.pid as number,
    ready: readyPort(entry, child),
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
