/** Checks the options of `ctx.sse`. */
import { checkInteger, checkNames } from '../options/checks.ts'
import type { EventsOptions } from '../types/events.ts'

export interface EventsSettings {
  /** A comment follows so many ms of silence; none does where this is 0. */
  readonly heartbeat: number
  /** The client waits so many ms before it connects again; null leaves that to the client. */
  readonly retry: number | null
  /** At most so many bytes wait for the client. */
  readonly maxBuffer: number
}

const usual: EventsSettings = { heartbeat: 15_000, retry: null, maxBuffer: 1_048_576 }
const day = 86_400_000

/** Fills in defaults. Throws `E_BAD_OPTION`. */
export function eventsSettings(options: EventsOptions | undefined): EventsSettings {
  if (options === undefined) return usual
  checkNames('ctx.sse', options, ['heartbeat', 'retry', 'maxBuffer'])
  const { heartbeat = usual.heartbeat, retry, maxBuffer = usual.maxBuffer } = options
  const time = 'a whole number of milliseconds from 0 to 86,400,000, a day'
  return {
    heartbeat: checkInteger('ctx.sse: heartbeat', heartbeat, [0, day], time),
    retry: retry === undefined ? null : checkInteger('ctx.sse: retry', retry, [0, day], time),
    maxBuffer: checkInteger(
      'ctx.sse: maxBuffer',
      maxBuffer,
      [1_024, 2 ** 30],
      'a number of bytes from 1,024 to 1,073,741,824',
    ),
  }
}
