/** `volant types` writes the file of a client, from a module that exports the API. */
import { subscribe } from 'node:diagnostics_channel'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { clientFile } from './client-file.ts'

/** Gives the exit code. */
export async function types(args: string[], usage: string): Promise<number> {
  try {
    const asked = parse(args)
    if (asked !== null) return write(await filesOf(asked), asked.check)
    process.stderr.write(
      `volant: types takes one module, and --out with a file name that ends in .ts\n\n${usage}`,
    )
  } catch (error) {
    process.stderr.write(`volant: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  return 1
}

interface TypesArguments {
  readonly module: string
  readonly name: string
  readonly out: string
  readonly check: boolean
}

function parse(args: string[]): TypesArguments | null {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { out: { type: 'string', short: 'o' }, check: { type: 'boolean', default: false } },
  })
  const [target = '', ...rest] = positionals
  const { out = '', check } = values
  if (target === '' || rest.length > 0 || !/[^/\\]\.ts$/.test(out)) return null
  const at = target.lastIndexOf('#')
  const [module, name] = at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
  return { module, name: name === '' ? 'app' : name, out, check }
}

async function filesOf({ module, name, out }: TypesArguments): Promise<Map<string, string>> {
  const { exports, listens } = await load(module)
  if (!Object.hasOwn(exports, name))
    throw new Error(withoutExport(module, name, Object.keys(exports), listens))
  if (listens) process.stderr.write(`volant: ${module} starts a server when it is imported. ${apart}\n`)
  const { text, declarations, javascript, opaque } = fileOf(exports[name], `${module}#${name}`)
  for (const each of opaque) process.stderr.write(`volant: ${each}\n`)
  return out.endsWith('.d.ts')
    ? new Map([
        [out, declarations],
        [out.replace(/\.d\.ts$/, '.js'), javascript],
      ])
    : new Map([[out, text]])
}

function fileOf(api: unknown, from: string): ReturnType<typeof clientFile> {
  try {
    return clientFile(api as never)
  } catch (error) {
    throw new Error(`${from}: ${(error as Error).message}`, { cause: error })
  }
}

const apart =
  'Let one module make and export the app, and another import it and listen: give volant types the first one'

interface Loaded {
  readonly exports: Readonly<Record<string, unknown>>
  /** An app in the module began to listen. */
  readonly listens: boolean
}

async function load(module: string): Promise<Loaded> {
  let listens = false
  // The name of the channel finds it even if the module has another copy of this package.
  subscribe('volant.listen', () => {
    listens = true
  })
  try {
    const exports = (await import(pathToFileURL(resolve(module)).href)) as Loaded['exports']
    return { exports, listens }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ERR_UNKNOWN_FILE_EXTENSION' && /\.[cm]?ts$/.test(module)) {
      throw new Error(
        `${module} is TypeScript, which Node.js ${process.versions.node} does not run: compile it and give the .js file, or use Node.js 22.18 or newer`,
        { cause: error },
      )
    }
    if (!listens) throw error
    throw new Error(`${module} starts a server when it is imported, and that failed: ${message}. ${apart}`, {
      cause: error,
    })
  }
}

function withoutExport(module: string, name: string, names: readonly string[], listens: boolean): string {
  if (listens) return `${module} has no export ${name}, and starts a server when it is imported. ${apart}`
  if (names.length === 0) return `${module} exports nothing: export the app in it, export const ${name} = …`
  const write = names.map((each) => `${module}#${each}`).join(' or ')
  return `${module} has no export ${name}; it has ${names.join(', ')}: write ${write}`
}

function write(files: ReadonlyMap<string, string>, check: boolean): number {
  let code = 0
  for (const [path, text] of files) {
    if (textOf(path) === text) continue
    if (check) {
      process.stderr.write(
        `volant: ${path} is not what the API says: run volant types without --check to write it\n`,
      )
      code = 1
    } else {
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, text)
      process.stdout.write(`wrote ${path}\n`)
    }
  }
  return code
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}
