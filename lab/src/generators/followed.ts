/** A generator of ours: started with a spec, followed by the lines that it prints, ended whatever happens. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Failure } from '../failure.ts'
import { type Job, generatorPackages } from './generator.ts'

/** Beyond its own time, before it is taken for dead, s. */
const patience = 15

/** Gives its last line, the result. It may take `seconds`, and some more for its connections. */
export async function runGenerator(path: string, spec: object, seconds: number, job: Job): Promise<object> {
  const folder = mkdtempSync(join(tmpdir(), 'lab-load-'))
  const file = join(folder, 'spec.json')
  writeFileSync(file, JSON.stringify(spec))
  const args = [path, '--spec', file]
  if (job.core !== null) args.unshift('taskset', '--cpu-list', String(job.core))
  const child = spawn(args[0] as string, args.slice(1), { stdio: ['pipe', 'pipe', 'pipe'] })
  const kill = (): boolean => child.kill('SIGKILL')
  const clear = (): void => rmSync(folder, { recursive: true, force: true })
  process.once('exit', kill).once('exit', clear)
  const timer = setTimeout(kill, (seconds + patience) * 1_000)
  try {
    return await follow(child, job)
  } finally {
    clearTimeout(timer)
    kill()
    process.off('exit', kill).off('exit', clear)
    clear()
  }
}

async function follow(child: ChildProcess, { onWarm, onMeasured }: Job): Promise<object> {
  let report: object | null = null
  let errors = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-2_000)))
  const ended = new Promise<number | NodeJS.Signals | null>((resolve, reject) => {
    child.on('error', reject).on('close', (code, signal) => resolve(signal ?? code))
  })
  const lines = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> })
  let measured: Promise<void> | null = null
  lines.on('line', (line) => {
    const event = parse(line)
    if (event?.event === 'warm') onWarm?.()
    else if (event?.event === 'measured') {
      measured = Promise.resolve()
        .then(() => onMeasured?.())
        .finally(() => child.stdin?.end('\n'))
      // Told by the await below.
      measured.catch(() => undefined)
    } else if (event?.event === 'result') report = event
  })
  child.stdin?.on('error', () => undefined)
  const end = await ended
  await measured
  if (report !== null) return report
  const said = errors.trim().split('\n').at(-1)
  // It ends so when the server cannot be reached: a fault of one entry, not of the run.
  if (end === 1 && said) throw new Failure(`it could not be loaded: ${said}`)
  throw new Failure(
    `the load generator ended with ${end} and no result: ${said || 'it said nothing'}; build it anew (${generatorPackages.load}) if it goes on`,
    2,
  )
}

function parse(line: string): { event?: string } | null {
  try {
    return JSON.parse(line) as { event?: string }
  } catch {
    return null
  }
}
