/** The arguments of commands that run a module: options, the module, and behind `--` what is for the app. */
import { parseArgs, type ParseArgsConfig } from 'node:util'

type Options = NonNullable<ParseArgsConfig['options']>
type Parsed<T extends Options> = ReturnType<typeof parseArgs<{ options: T }>>['values']

interface ModuleArguments<T extends Options> {
  readonly values: Parsed<T>
  readonly module: string
  /** The arguments of the app. */
  readonly args: string[]
}

/** Throws for unknown options; says on stderr what is wrong, and gives null, unless there is one module. */
export function readArguments<const T extends Options>(
  command: string,
  given: string[],
  options: T,
  usage: string,
): ModuleArguments<T> | null {
  const end = given.indexOf('--')
  const own = end < 0 ? given : given.slice(0, end)
  const { values, positionals } = parseArgs({ args: own, allowPositionals: true, options })
  const [module, ...rest] = positionals
  if (module !== undefined && rest.length === 0) {
    return { values, module, args: end < 0 ? [] : given.slice(end + 1) }
  }
  const advice = rest.length > 0 ? ', and what is for the app stands behind --' : ''
  process.stderr.write(`volant: ${command} takes one module${advice}\n\n${usage}`)
  return null
}
