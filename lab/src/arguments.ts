/** Command lines: what is wrong with one is said in one line, exit code 2. */
import { parseArgs } from 'node:util'
import { Failure } from './failure.ts'

export type Options = Readonly<
  Record<string, { readonly type: 'string' | 'boolean'; readonly short?: string }>
>
export interface Arguments {
  readonly values: Readonly<Record<string, string | boolean | undefined>>
  readonly positionals: readonly string[]
}

/** Throws a `Failure` that names the flag; `--help` is always among them. */
export function readArguments(command: string, args: readonly string[], options: Options): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: { ...options, help: { type: 'boolean', short: 'h' } },
    })
    return { values, positionals } as Arguments
  } catch (error) {
    const what = (error as Error).message.split(/\n|\. /, 1)[0] as string
    throw new Failure(`${what}; npm run lab -- ${command} --help shows what it takes`, 2)
  }
}

export function text({ values }: Arguments, name: string): string | undefined {
  const value = values[name]
  return typeof value === 'string' ? value : undefined
}

export function count(args: Arguments, name: string, standard: number, most: number, least = 1): number {
  const given = text(args, name)
  if (given === undefined) return standard
  const value = Number(given)
  if (given !== '' && Number.isInteger(value) && value >= least && value <= most) return value
  throw new Failure(`--${name} takes a whole number from ${least} to ${most}, not ${given}`, 2)
}

export function seconds<T>(args: Arguments, name: string, standard: T, most = 600): number | T {
  const given = text(args, name)
  if (given === undefined) return standard
  const value = Number(given)
  if (value >= 0.1 && value <= most) return value
  throw new Failure(`--${name} takes seconds from 0.1 to ${most}, not ${given}`, 2)
}

export function oneOf<T extends string>(args: Arguments, name: string, standard: T, known: readonly T[]): T {
  const given = text(args, name)
  if (given === undefined) return standard
  const found = known.find((value) => value === given)
  if (found !== undefined) return found
  throw new Failure(`--${name} takes ${known.join(', ')}, not ${given}`, 2)
}

/** A list with commas; undefined when it was not given. */
export function names(args: Arguments, name: string): string[] | undefined {
  return text(args, name)
    ?.split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
