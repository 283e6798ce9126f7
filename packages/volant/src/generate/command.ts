/** `volant types`: a client's file from a module that exports the API. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { clientFile } from './client-file.ts'

/** The exit code. */
export async function types(args: string[], usage: string): Promise<number> {
  try {
    const asked = parse(args)
    if (asked !== null) return write(await filesOf(asked), asked.check)
    process.stderr.write(`volant: types takes one module, and --out with a name that ends in .ts\n\n${usage}`)
  } catch (error) {
    process.stderr.write(`volant: ${error instanceof Error ? error.message : String(error)}\n`)
  }
  return 1
}

interface Asked {
  readonly module: string
  readonly name: string
  readonly out: string
  readonly check: boolean
}

function parse(args: string[]): Asked | null {
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

async function filesOf({ module, name, out }: Asked): Promise<Map<string, string>> {
  const exports = (await import(pathToFileURL(resolve(module)).href)) as Readonly<Record<string, unknown>>
  if (!Object.hasOwn(exports, name)) {
    const names = Object.keys(exports).join(', ')
    throw new Error(
      `${module} has no export ${name}; it has ${names === '' ? 'none' : names}: volant types ${module}#NAME`,
    )
  }
  const { text, declarations, javascript, opaque } = clientFile(exports[name] as never)
  for (const each of opaque) process.stderr.write(`volant: ${each}\n`)
  return out.endsWith('.d.ts')
    ? new Map([
        [out, declarations],
        [out.replace(/\.d\.ts$/, '.js'), javascript],
      ])
    : new Map([[out, text]])
}

function write(files: ReadonlyMap<string, string>, check: boolean): number {
  let code = 0
  for (const [path, text] of files) {
    if (textOf(path) === text) continue
    if (check) {
      process.stderr.write(`volant: ${path} is not what the API says: run volant types without --check\n`)
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
