/** The command line of the lab: which commands there are, and how an error of one is told. */
import { idle, slowReaders, soak } from './commands/alone.ts'
import type { Command } from './commands/command.ts'
import { balance } from './commands/balance.ts'
import { baseline, check, compare } from './commands/compare.ts'
import { drain } from './commands/drain.ts'
import { doctor } from './commands/doctor.ts'
import { kill } from './commands/kill.ts'
import { workers } from './commands/workers.ts'
import { connections } from './commands/connections.ts'
import { limiter } from './commands/limiter.ts'
import { list } from './commands/list.ts'
import { pair } from './commands/pair.ts'
import { roll } from './commands/roll.ts'
import { report } from './commands/report.ts'
import { run } from './commands/run.ts'
import { sse } from './commands/sse.ts'
import { systemd } from './commands/systemd.ts'
import { table } from './commands/table.ts'
import { tlsStorm } from './commands/tls-storm.ts'
import { Failure } from './failure.ts'

const commands: readonly Command[] = [
  run,
  pair,
  table,
  compare,
  report,
  baseline,
  check,
  list,
  doctor,
  soak,
  idle,
  slowReaders,
  tlsStorm,
  sse,
  drain,
  roll,
  kill,
  balance,
  workers,
  connections,
  limiter,
  systemd,
]

const usage = `usage: npm run lab -- COMMAND [options]

${commands.map(({ name, about }) => `  ${name.padEnd(14)}${about}`).join('\n')}

npm run lab -- COMMAND --help says what it takes, with examples; lab/README.md is about the method.`

/**
 * Runs the command that the arguments name, and prints what it finds or what is wrong. Gives the exit code. Throws only
 * for a fault of the lab.
 */
export async function commandLine(args: readonly string[]): Promise<number> {
  try {
    return await runCommand(args)
  } catch (error) {
    const failure = failureOf(error)
    if (failure === null) throw error
    console.error(`lab: ${failure.message}`)
    return failure.exitCode
  }
}

/** A file that cannot be read or written is the user's to mend; null for a fault of ours. */
function failureOf(error: unknown): Failure | null {
  if (error instanceof Failure) return error
  const { syscall, message, path } = error as NodeJS.ErrnoException
  return syscall !== undefined && path !== undefined ? new Failure(`${message}: is the path right?`, 2) : null
}

async function runCommand([name, ...args]: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === '-h') {
    console.log(usage)
    return name === undefined ? 2 : 0
  }
  const command = commands.find((candidate) => candidate.name === name)
  if (command === undefined) {
    throw new Failure(`unknown command ${name}; known: ${commands.map((one) => one.name).join(' ')}`, 2)
  }
  if (args.includes('--help') || args.includes('-h')) {
    console.log(command.help)
    return 0
  }
  return command.run(args)
}
