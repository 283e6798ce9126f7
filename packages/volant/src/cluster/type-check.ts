/** The type check of a project under `volant dev`: by its own TypeScript, beside the app and never before it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { accessSync, constants as access, existsSync, lstatSync, mkdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants, setPriority, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { printLine } from '../report/print-line.ts'

export class TypeCheck {
  readonly #project: string
  readonly #compiler: string
  /** The errors that have been shown. */
  #shown: readonly string[] = []
  #running: ChildProcess | null = null

  private constructor(project: string, compiler: string) {
    this.#project = project
    this.#compiler = compiler
  }

  /** Gives null for a project without a tsconfig.json or without TypeScript. */
  static of(project: string): TypeCheck | null {
    if (!existsSync(join(project, 'tsconfig.json'))) return null
    const require = createRequire(join(project, 'package.json'))
    try {
      const manifest = require.resolve('typescript/package.json')
      const { bin } = require(manifest) as { bin: { tsc: string } }
      return new TypeCheck(project, join(dirname(manifest), bin.tsc))
    } catch {
      return null
    }
  }

  /** Checks the files of now. A check that runs is ended: it has seen those of before. */
  run(): void {
    this.end()
    const memory = memoryOf(this.#project, tmpdir())
    const args = ['--noEmit', '--pretty', 'false']
    if (memory !== null) args.push('--incremental', '--tsBuildInfoFile', memory)
    const child = spawn(process.execPath, [this.#compiler, '--project', this.#project, ...args], {
      cwd: this.#project,
      // Neither a debugger nor a loader of the app is for it.
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      // The compiler may have a process of its own, which ends with the group.
      detached: true,
    })
    this.#running = child
    const parts: Buffer[] = []
    child.stdout.on('data', (part: Buffer) => parts.push(part))
    child.stderr.on('data', (part: Buffer) => parts.push(part))
    child.on('error', () => {})
    child.on('close', () => {
      if (this.#running !== child) return
      this.#running = null
      this.#tell(errorsOf(Buffer.concat(parts).toString()))
    })
    try {
      setPriority(child.pid ?? 0, constants.priority.PRIORITY_LOW)
    } catch {
      // It has ended already.
    }
  }

  end(): void {
    const child = this.#running
    this.#running = null
    if (child?.pid === undefined || child.exitCode !== null) return
    try {
      process.kill(-child.pid, 'SIGKILL')
    } catch {
      // It has ended already.
    }
  }

  /** Shows the errors that have not been shown. */
  #tell(errors: readonly string[]): void {
    const known = this.#shown.map(withoutPlace)
    this.#shown = errors
    const fresh = errors.filter((error) => {
      const at = known.indexOf(withoutPlace(error))
      if (at >= 0) known.splice(at, 1)
      return at < 0
    })
    for (const error of fresh) printLine(error)
    if (errors.length === 0) {
      if (known.length > 0) printLine('volant: the types have no errors any more')
      return
    }
    // Those that are left in `known` are gone.
    if (fresh.length > 0 || known.length > 0)
      printLine(
        `volant: ${errors.length === 1 ? '1 type error' : `${errors.length} type errors`}, and the app runs`,
      )
  }
}

/**
 * Gives the file in which the compiler keeps what it knows of files that do not change: in the nearest `node_modules`, else
 * in a folder of this user within `temporary`. Gives null where there is no place that is this user's alone.
 */
export function memoryOf(project: string, temporary: string): string | null {
  // Projects may share the folder.
  const name = `types-${createHash('sha256').update(project).digest('hex').slice(0, 32)}.tsbuildinfo`
  for (let folder = project; ; folder = dirname(folder)) {
    const modules = join(folder, 'node_modules')
    if (existsSync(modules)) {
      const cache = join(modules, '.cache/volant')
      try {
        mkdirSync(cache, { recursive: true })
        accessSync(cache, access.W_OK)
        return join(cache, name)
      } catch {
        // It belongs to somebody else, or the file system is read-only.
        break
      }
    }
    if (dirname(folder) === folder) break
  }
  const own = join(temporary, `volant-types-${process.getuid?.() ?? 'user'}`)
  try {
    mkdirSync(own, { mode: 0o700 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') return null
  }
  return isOwn(own) ? join(own, name) : null
}

/** Tells whether nobody else can put links into a folder, through which the compiler would write elsewhere. */
function isOwn(folder: string): boolean {
  const found = lstatSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory() !== true) return false
  // On Windows the folder for temporary files is the user's own.
  return process.getuid === undefined || (found.uid === process.getuid() && (found.mode & 0o077) === 0)
}

/** Gives the errors; the lines of one that begin with a space belong to it. */
function errorsOf(output: string): string[] {
  const errors: string[] = []
  for (const line of output.split('\n')) {
    if (line.trim() === '') continue
    if (/^\s/.test(line) && errors.length > 0) errors.push(`${errors.pop()}\n${line}`)
    else errors.push(line)
  }
  return errors
}

/** Lines move with each change above them. */
function withoutPlace(error: string): string {
  return error.replace(/^(.*?)\(\d+,\d+\)/, '$1')
}
