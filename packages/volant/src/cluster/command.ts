/** `volant start` runs an app in several processes. */
import { printLine } from '../report/print-line.ts'
import { readArguments } from './arguments.ts'
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
    const read = readArguments('start', args, options, usage)
    if (read === null) return 1
    const { values, module } = read
    const { workers, control } = values
    return await supervise({
      module,
      workers: workers as 'auto' | undefined,
      args: read.args,
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
