/** `volant start` runs an app in several processes. */
import { parseArgs } from 'node:util'
import { printLine } from '../report/print-line.ts'
import { supervise } from './supervise.ts'

/** The options of the command, by their names in `supervise`. */
const options = {
  workers: { type: 'string', short: 'w' },
  'start-timeout': { type: 'string' },
  'hang-timeout': { type: 'string' },
  'max-memory': { type: 'string' },
  'drain-delay': { type: 'string' },
  control: { type: 'string' },
} as const

/** Gives the exit code, once all workers have ended. */
export async function start(args: string[], usage: string): Promise<number> {
  try {
    const end = args.indexOf('--')
    const own = end < 0 ? args : args.slice(0, end)
    const { values, positionals } = parseArgs({ args: own, allowPositionals: true, options })
    const [module, ...rest] = positionals
    if (module === undefined || rest.length > 0) {
      process.stderr.write(
        `volant: start takes one module${rest.length > 0 ? ', and what is for the app stands behind --' : ''}\n\n${usage}`,
      )
      return 1
    }
    const { workers, control } = values
    return await supervise({
      module,
      workers: workers as 'auto' | undefined,
      args: end < 0 ? [] : args.slice(end + 1),
      startTimeout: values['start-timeout'],
      hangTimeout: values['hang-timeout'],
      maxMemory: values['max-memory'],
      drainDelay: values['drain-delay'],
      control,
    }).finished
  } catch (error) {
    printLine(`volant: ${error instanceof Error ? error.message : String(error)}`)
    return 1
  }
}
