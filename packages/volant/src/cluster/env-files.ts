/** The variables that Node.js has read from a file, by `--env-file`. */
import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'

/**
 * Gives their names. A variable that is inherited is stronger than a file, so that a worker which inherited them would
 * never get the values of a file that has changed. Without them it reads the file itself, since it has the option, too.
 */
export function readVariables(args: readonly string[] = process.execArgv): string[] {
  const names = new Set<string>()
  for (const [at, arg] of args.entries()) {
    const [, inline] = /^--env-file(?:-if-exists)?(?:=(.*))?$/.exec(arg) ?? [undefined, null]
    if (inline === null) continue
    for (const [name, value] of Object.entries(variablesOf(inline ?? args[at + 1] ?? ''))) {
      if (process.env[name] === value) names.add(name)
    }
  }
  return [...names]
}

function variablesOf(file: string): NodeJS.Dict<string> {
  try {
    return parseEnv(readFileSync(file, 'utf8'))
  } catch {
    // The file need not exist (`--env-file-if-exists`).
    return {}
  }
}
