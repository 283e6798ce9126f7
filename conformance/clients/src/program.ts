/** Runs clients that are programs: starts them, reads their output to the end, and ends them with the test. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'

/** The time limit of a program, in ms. Only a hang takes so long. */
const patience = 90_000

/** Gives the reason to skip tests that need the program; false if they run. */
export function without(program: string, ...args: string[]): string | false {
  return spawnSync(program, args).status === 0 ? false : `${program} is not installed`
}

export interface Ended {
  readonly code: number | null
  readonly stdout: Buffer
  readonly stderr: string
}

export interface Running {
  readonly ended: Promise<Ended>
  /** Writes these bytes to the standard input, then ends it. */
  finish(input?: Buffer): void
  kill(): void
}

/** Starts the program; its standard input stays open. */
export function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Running {
  const options = { timeout: patience, killSignal: 'SIGKILL', env: { ...process.env, ...env } } as const
  const child = spawn(program, args, options)
  // A program that ends early reads no more.
  child.stdin.on('error', () => {})
  const ended = async (): Promise<Ended> => {
    const [stdout, stderr] = await Promise.all([
      buffer(child.stdout),
      buffer(child.stderr),
      child.exitCode ?? child.signalCode ?? once(child, 'exit'),
    ])
    return { code: child.exitCode, stdout, stderr: stderr.toString() }
  }
  return {
    ended: ended(),
    finish: (input = Buffer.alloc(0)) => child.stdin.end(input),
    kill: () => child.kill('SIGKILL'),
  }
}

/** Runs the program to its end, and gives its output. The error of a failed run contains the output. */
export async function run(program: string, args: readonly string[], input?: Buffer): Promise<Buffer> {
  const running = start(program, args)
  running.finish(input)
  const { code, stdout, stderr } = await running.ended
  if (code !== 0) throw new Error(`${program} ended with ${code}: ${stderr}${stdout.subarray(0, 500)}`)
  return stdout
}
