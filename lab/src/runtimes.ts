/** The versions of Node.js and the C library that servers run on: `scripts/lab.mjs` brings them and names them here. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Failure } from './failure.ts'

export interface NodeProgram {
  readonly major: number
  /** Of the executable. */
  readonly path: string
}

/** Where a distribution keeps its libraries; Node.js takes libstdc++ and libgcc from there. */
const libraryFolders = [
  `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu`,
  '/usr/lib64',
  '/usr/lib',
]
const loaderName = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2'

/** The first of `LAB_NODES`: what servers run on unless another version is asked for. */
export function standardNode(): NodeProgram {
  const [first] = nodePrograms()
  return first ?? { major: majorOf(process.versions.node), path: process.execPath }
}

/** Throws a `Failure` for a version that was not brought. */
export function nodeOf(version: string): NodeProgram {
  const found = [...nodePrograms(), standardNode()].find(({ major }) => String(major) === version)
  if (found !== undefined) return found
  throw new Failure(
    `Node.js ${version} is not among the versions that scripts/nodes.mjs pins: choose one of those`,
    2,
  )
}

/** What goes before Node.js on the command line when it runs on the C library in the folder `LAB_GLIBC`. */
export function loader(): string[] {
  const folder = process.env['LAB_GLIBC'] ?? ''
  if (folder === '') return []
  const path = [folder, ...libraryFolders.filter((candidate) => existsSync(candidate))].join(':')
  return [join(folder, loaderName), '--library-path', path]
}

/** `2.36`: what servers on Node.js run with. Null where the C library is another one, such as musl. */
export function glibcVersion(): string | null {
  const [program] = loader()
  if (program === undefined) return ownGlibc
  const printed = spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout ?? ''
  return /version (\d+\.\d+)/.exec(printed)?.[1] ?? ownGlibc
}

/** The machine's. */
export const ownGlibc: string | null = reportedGlibc()

function reportedGlibc(): string | null {
  const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return header?.glibcVersionRuntime ?? null
}

function nodePrograms(): NodeProgram[] {
  return (process.env['LAB_NODES'] ?? '')
    .split(',')
    .filter((pair) => pair.includes('='))
    .map((pair) => {
      const at = pair.indexOf('=')
      return { major: Number(pair.slice(0, at)), path: pair.slice(at + 1) }
    })
}

function majorOf(version: string): number {
  return Number.parseInt(version, 10)
}
