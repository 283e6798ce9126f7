/** One server process: started, awaited, stopped by its pid. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCollector } from './collector.ts'
import { type Entry, commandOf } from './entry.ts'
import { Failure } from './failure.ts'
import { familyOf } from './readings.ts'
import type { Program, Transport } from './scenario.ts'
import { environmentOf } from './transport.ts'

/** Its environment has `PORT`, and in `SCRATCH` a folder of its own that is gone when it has stopped. */
export interface RunningServer {
  readonly pid: number
  readonly port: number
  /** In the environment of all its processes and of no others: `NAME=value`. */
  readonly mark: string
  /** As it was started. */
  readonly command: string
  /** How often the handlers that are measured have run; null when it does not say within 5 s. */
  ran(): Promise<number | null>
  /** Lines of the request log that match. */
  logged(line: RegExp): number
  /** Spans of requests that it has exported. */
  spans(): number
  /** Throws a `Failure` when it ended before. */
  stop(): Promise<void>
}

export interface Launch {
  readonly entry: Entry
  readonly program: Program
  /** Pins it to this core; null leaves it to the kernel. */
  readonly core: number | null
  /** 0: any that is free. */
  readonly port: number
  readonly environment?: Readonly<Record<string, string>>
  /** It exports traces, which are received here. */
  readonly traced?: boolean
  /** The protocol of the server. The server also gets a certificate. */
  readonly transport?: Transport
}

type Child = ChildProcessByStdio<null, Readable, Readable>

const startLimit = 10_000
const stopLimit = 1_000
const countLimit = 5_000
/** For a port to be free again after a server stopped. */
const freeLimit = 2_000

/** Starts an entry and waits for its line `listening on PORT`, for 10 s at most. */
export async function startServer(launched: Launch): Promise<RunningServer> {
  const { ready, ...server } = await launch(launched)
  return { ...server, port: await ready }
}

/** Starts an entry; `ready` gives its port as soon as it says so, and fails when it ends before. */
export async function launch({
  entry,
  program,
  core,
  port,
  environment = {},
  traced = false,
  transport,
}: Launch): Promise<Omit<RunningServer, 'port'> & { readonly ready: Promise<number> }> {
  if (port !== 0) await untilFree(port)
  const command = commandOf(entry)
  if (entry.runtime === 'binary') command.push('--port', String(port))
  if (core !== null) command.unshift('taskset', '--cpu-list', String(core))
  const scratch = mkdtempSync(join(tmpdir(), 'lab-'))
  const mark = `SCRATCH=${scratch}`
  const log = join(scratch, 'requests.log')
  const collector = traced ? await startCollector() : null
  const added = {
    ...entry.environment,
    ...environment,
    ...(transport && environmentOf(transport)),
    ...(collector && { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: collector.url }),
    PROGRAM: program,
    PORT: String(port),
  }
  const child = spawn(command[0] as string, command.slice(1), {
    cwd: entry.folder,
    env: { ...process.env, NODE_ENV: 'production', ...added, SCRATCH: scratch, LOG: log },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const kill = (): void => {
    // A server's own children may outlive it (ZapJS: its Rust process).
    for (const member of child.pid === undefined ? [] : familyOf(child.pid, mark)) end(member)
    child.kill('SIGKILL')
  }
  const clear = (): void => rmSync(scratch, { recursive: true, force: true })
  process.once('exit', kill).once('exit', clear)
  child.once('close', () => {
    process.off('exit', kill).off('exit', clear)
    clear()
    collector?.close()
  })
  const settings = Object.entries(added).map(([name, value]) => `${name}=${value}`)

  return {
    // taskset becomes the server: it is the same process.
    pid: child.pid as number,
    mark,
    command: [...settings, ...command].join(' '),
    ready: readyPort(entry, child),
    async ran() {
      const file = join(scratch, 'ran')
      rmSync(file, { force: true })
      child.kill('SIGUSR2')
      const deadline = performance.now() + countLimit
      while (performance.now() < deadline && child.exitCode === null && child.signalCode === null) {
        await sleep(2)
        const text = readOr(file, null)
        if (text !== null) return Number(text)
      }
      return null
    },
    logged: (line) =>
      readOr(log, '')
        .split('\n')
        .filter((text) => line.test(text)).length,
    spans: () => collector?.spans() ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Failure(`it ended while it was measured: ${child.signalCode ?? `exit ${child.exitCode}`}`)
      }
      const closed = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGTERM')
      const timer = setTimeout(kill, stopLimit)
      await closed
      clearTimeout(timer)
      // Those that left it and have not ended with it.
      for (const member of familyOf(child.pid as number, mark)) if (member !== child.pid) end(member)
    },
  }
}

/** Throws a `Failure` when somebody else listens there. */
async function untilFree(port: number): Promise<void> {
  const deadline = performance.now() + freeLimit
  while (await answers(port)) {
    if (performance.now() > deadline)
      throw new Failure(`port ${port} is in use: stop what listens there, or choose another with --port`, 2)
    await sleep(20)
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => resolve(true)).on('error', () => resolve(false))
    socket.on('connect', () => socket.destroy())
  })
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

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

function readOr<T>(path: string, otherwise: T): string | T {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return otherwise
  }
}
