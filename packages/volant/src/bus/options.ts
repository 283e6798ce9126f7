/** The options that all buses over a wire have. */
import { inspect } from 'node:util'
import { checkFunction, checkInteger, checkText } from '../options/checks.ts'
import { printLine } from '../report/print-line.ts'

/** The options that every bus between processes takes. */
export interface BusOptions {
  /**
   * The first part of the names that topics have at the server: 1 to 64 letters, digits and characters of `_ / -`. Only
   * buses with the same one hear each other. Default `volant-bus`.
   */
  nameSpace?: string | undefined
  /**
   * A message has at most so many bytes, from 1 to 64 MiB. A longer one is not sent to other processes, and not taken from them.
   * Default 1 MiB, 1,048,576.
   */
  maxMessageSize?: number | undefined
  /**
   * The most bytes that wait for the server, from 1,024 to 1 GiB, with 100 for each message beside its own. What is
   * published past it is dropped. Default 4 MiB, 4,194,304.
   */
  maxWaiting?: number | undefined
  /** Milliseconds for which a message waits for a connection before it is dropped, from 0 to 600,000. Default 5,000. */
  maxWait?: number | undefined
  /**
   * The most topics whose messages are counted, from 2 to 10,000,000. Past it the count of one that was not published to
   * for long ends; with its next message others are told of a gap of unknown size. Default 100,000, which take 14 MB.
   */
  maxTopics?: number | undefined
  /**
   * Gets what goes wrong, each kind once until it is well again: the server is away, a message is too long, a receiver
   * threw. Default: writes to stderr.
   */
  report?: ((error: unknown) => void) | undefined
}

export const busOptionNames = [
  'nameSpace',
  'maxMessageSize',
  'maxWaiting',
  'maxWait',
  'maxTopics',
  'report',
] as const

export type BusPlan = { readonly [K in keyof Required<BusOptions>]: NonNullable<BusOptions[K]> } & {
  readonly reportsToStderr: boolean
}

/** Fills in defaults. Throws `E_BAD_OPTION`. */
export function planBus(where: string, options: BusOptions): BusPlan {
  const within = (name: keyof BusOptions, fallback: number, [min, max]: readonly [number, number]): number =>
    checkInteger(
      `${where}: ${name}`,
      options[name] ?? fallback,
      [min, max],
      `an integer from ${min.toLocaleString('en-US')} to ${max.toLocaleString('en-US')}`,
    )
  checkFunction(`${where}: report`, options.report)
  return {
    nameSpace: checkText(
      `${where}: nameSpace`,
      options.nameSpace ?? 'volant-bus',
      /^[\w/-]{1,64}$/,
      '1 to 64 letters, digits and characters of _ / -',
    ),
    maxMessageSize: within('maxMessageSize', 1_048_576, [1, 67_108_864]),
    maxWaiting: within('maxWaiting', 4_194_304, [1_024, 1_073_741_824]),
    maxWait: within('maxWait', 5_000, [0, 600_000]),
    maxTopics: within('maxTopics', 100_000, [2, 10_000_000]),
    reportsToStderr: options.report === undefined,
    report: options.report === undefined ? print : guarded(options.report),
  }
}

function print(error: unknown): void {
  printLine(`volant: ${inspect(error)}`)
}

/** A report that throws is printed with what it was to report: the bus goes on. */
function guarded(report: (error: unknown) => void): (error: unknown) => void {
  return (error) => {
    try {
      report(error)
    } catch (failure) {
      print(error)
      print(failure)
    }
  }
}
