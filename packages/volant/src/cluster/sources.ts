/** Which files of a project are sources, whose change restarts the app under `volant dev`. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve, sep } from 'node:path'
import { bad } from '../options/bad-option.ts'

const extensions = new Set(
  (
    '.js .mjs .cjs .jsx .ts .mts .cts .tsx .json .node .wasm .yaml .yml .toml .html .htm .css .ejs .hbs .pug .njk ' +
    '.liquid .eta .graphql .gql .sql .proto'
  ).split(' '),
)
/** What programs write, if it is beside a package.json. */
const outputs = new Set(['dist', 'build', 'out', 'coverage', 'tmp', 'temp', 'logs'])

export class Sources {
  /** The folders that are watched, by their real paths. */
  readonly roots: readonly string[]
  /** The folder of the nearest package.json above the module, else that of the module. */
  readonly project: string
  /** True where the module is compiled: another program watches the TypeScript. */
  readonly isCompiled: boolean
  readonly #module: string
  readonly #ignored: readonly string[]

  /** `folder` is where the command was given. Throws `E_BAD_OPTION` for a path that is not there. */
  constructor(folder: string, module: string, watched: readonly string[], ignored: readonly string[]) {
    this.#module = realpathSync(resolve(folder, module))
    this.project = projectOf(dirname(this.#module))
    this.roots = [this.project, ...watched.map((path) => folderAt('--watch', folder, path))]
    this.#ignored = ignored.map((path) => realOf(resolve(realpathSync(folder), path)))
    this.isCompiled =
      !/\.[cm]?tsx?$/.test(this.#module) &&
      outputs.has(relative(this.project, this.#module).split(sep)[0] as string)
  }

  /** Gives whether a change to this file counts. */
  has(path: string): boolean {
    const name = basename(path)
    if (this.#ignored.includes(path)) return false
    if (name === '.env' || name.startsWith('.env.')) return true
    // A file that begins with a dot is one of an editor, or a setting of another program.
    if (name.startsWith('.') || !extensions.has(extname(name))) return false
    return !this.isCompiled || !/\.[cm]?tsx?$/.test(name)
  }

  /** Gives whether a folder below a root has nothing that counts. */
  isLeftOut(path: string): boolean {
    const name = basename(path)
    if (name.startsWith('.') || name === 'node_modules' || this.#ignored.includes(path)) return true
    if (!outputs.has(name) || this.#module.startsWith(path + sep)) return false
    return existsSync(join(dirname(path), 'package.json'))
  }
}

function projectOf(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    if (existsSync(join(folder, 'package.json'))) return folder
    if (folder === dirname(folder)) return start
  }
}

function folderAt(name: string, folder: string, path: string): string {
  const found = realOf(resolve(folder, path))
  if (statSync(found, { throwIfNoEntry: false })?.isDirectory() === true) return found
  throw bad(name, path, `a folder that is there, from ${folder}`)
}

/** Gives the path itself if nothing is there yet: the app may write it later. */
function realOf(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}
