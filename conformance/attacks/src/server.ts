/** The server under attack: a process of its own, whose memory and CPU time are read from the kernel. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type Certificate, eventually, freePort } from '@volant/test-kit'
import type { Target } from './connection.ts'

/** The servers that can be attacked. `bun` needs the path of its program in `BUN`. */
export const subjectNames = ['native', 'node-http', 'node', 'bun', 'nghttpd'] as const
export type SubjectName = (typeof subjectNames)[number]

export interface Start {
  /** The certificate; null speaks HTTP/2 without TLS, by prior knowledge. */
  readonly certificate: Certificate | null
  /** The limits of Volant that differ from the defaults. */
  readonly limits?: Readonly<Record<string, number>>
}

export interface Server {
  readonly target: Target
  readonly pid: number
  /** True if its handlers count their runs. */
  readonly counts: boolean
  /** Gives the number of handler runs; null if they are not counted, or the server does not answer within 10 s. */
  calls(): Promise<number | null>
  /** Makes the server collect its garbage, if it has a garbage collector. */
  collect(): Promise<void>
  /** Gives false when the process has ended by itself. */
  runs(): boolean
  stop(): Promise<void>
}

/** The time limits for a start, and for an answer of a busy server, in ms. */
const startLimit = 30_000
const answerLimit = 10_000

/** Starts the server. Throws an `Error` with the reason if it does not start. */
export async function startServer(name: SubjectName, { certificate, limits = {} }: Start): Promise<Server> {
  return name === 'nghttpd' ? startNghttpd(certificate) : startSubject(name, certificate, limits)
}

async function startSubject(
  name: Exclude<SubjectName, 'nghttpd'>,
  certificate: Certificate | null,
  limits: object,
): Promise<Server> {
  const own = name === 'native' || name === 'node-http'
  const file = fileURLToPath(new URL(`./subjects/${own ? 'volant' : name}.js`, import.meta.url))
  const bun = process.env['BUN']
  if (name === 'bun' && bun === undefined) throw new Error('bun is named by its path in BUN')
  const command = name === 'bun' ? [bun as string] : [process.execPath, '--expose-gc']
  const child = spawn(command[0] as string, [...command.slice(1), file], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      // With this threshold glibc returns freed large blocks to the system at once. By default it would soon keep them,
      // together with the memory between blocks in use: twice as much as the server uses.
      MALLOC_MMAP_THRESHOLD_: '131072',
      ADAPTER: name,
      LIMITS: JSON.stringify(limits),
      ...(certificate && { CERT: certificate.cert, KEY: certificate.key }),
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const process_ = follow(child)
  const waiting: ((line: string) => void)[] = []
  createInterface({ input: child.stdout }).on('line', (line) => waiting.shift()?.(line))
  const ask = (what: string, limit = answerLimit): Promise<string | null> =>
    new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), limit)
      waiting.push((line) => {
        clearTimeout(timer)
        resolve(line)
      })
      if (what !== '') child.stdin.write(`${what}\n`)
    })
  child.stdin.on('error', () => undefined)
  const line = await Promise.race([ask('', startLimit), process_.failed(name)])
  const port = Number(/^listening on (\d+)$/.exec(line ?? '')?.[1])
  if (!(port > 0)) {
    await process_.stop()
    throw new Error(`${name} did not start: ${line ?? `no word within ${startLimit / 1_000} s`}`)
  }
  return {
    ...process_,
    pid: child.pid as number,
    target: { host: '127.0.0.1', port, encrypted: certificate !== null },
    counts: true,
    async calls() {
      const count = /^count (\d+)$/.exec((await ask('count')) ?? '')?.[1]
      return count === undefined ? null : Number(count)
    },
    async collect() {
      await ask('collect')
    },
  }
}

async function startNghttpd(certificate: Certificate | null): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), 'volant-nghttpd-'))
  writeFileSync(join(folder, 'index.html'), '{"message":"Hello World"}')
  writeFileSync(join(folder, 'large'), 'x'.repeat(262_144))
  const port = await freePort()
  const common = ['--htdocs', folder, '--address', '127.0.0.1', String(port)]
  const secured =
    certificate === null ? ['--no-tls', ...common] : [...common, certificate.key, certificate.cert]
  const child = spawn('nghttpd', secured, { stdio: ['ignore', 'ignore', 'pipe'], env: withSbin() })
  const process_ = follow(child)
  const failed = process_.failed('nghttpd')
  await Promise.race([eventually(() => accepts(port), 'nghttpd accepts connections'), failed])
  failed.catch(() => undefined)
  return {
    ...process_,
    pid: child.pid as number,
    target: { host: '127.0.0.1', port, encrypted: certificate !== null },
    counts: false,
    calls: async () => null,
    collect: async () => undefined,
    async stop() {
      await process_.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Adds the folders of system programs to PATH: Debian installs nghttpd there, where PATH of most users does not look.
 */
export function withSbin(): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }
}

function follow(child: ChildProcess) {
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-4_000)))
  const ended = (): boolean => child.exitCode !== null || child.signalCode !== null || child.pid === undefined
  const kill = (): boolean => child.kill('SIGKILL')
  process.once('exit', kill)
  child.once('close', () => process.off('exit', kill))
  return {
    runs: () => !ended(),
    /** Gives a promise that rejects when the process ends. */
    failed: (name: string): Promise<never> =>
      new Promise((_, reject) => {
        child.once('error', (error) => reject(new Error(`${name} did not start: ${error.message}`)))
        child.once('close', (code, signal) =>
          reject(new Error(`${name} ended with ${signal ?? code}: ${errors.trim().slice(-500)}`)),
        )
      }),
    async stop(): Promise<void> {
      if (ended()) return
      const closed = once(child, 'close')
      kill()
      await closed
    },
  }
}

async function accepts(port: number): Promise<boolean> {
  const { connect } = await import('node:net')
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

/** Gives the current resident memory in bytes. */
export function memoryOf(pid: number): number {
  return statusOf(pid, 'VmRSS')
}

/** Gives the peak of the resident memory since `forgetPeak`. */
export function peakOf(pid: number): number {
  return statusOf(pid, 'VmHWM')
}

/** Resets the peak (proc(5), clear_refs). */
export function forgetPeak(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, '5')
  } catch {
    // Without CONFIG_PROC_PAGE_MONITOR the peak is that of the whole life of the process, which is never too low.
  }
}

/** Gives the user and system time so far in ms, in steps of 10 ms. */
export function cpuOf(pid: number): number {
  const text = read(`/proc/${pid}/stat`)
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11] ?? 0) + Number(fields[12] ?? 0)) * 10
}

function statusOf(pid: number, name: string): number {
  return (
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(read(`/proc/${pid}/status`))?.[1] ?? 0) * 1_024
  )
}

/** Reads a file; gives an empty text if it cannot be read any more. */
function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
