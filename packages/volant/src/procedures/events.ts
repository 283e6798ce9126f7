/** Reads the events of a subscription, each checked by the output's schema. */
import { VolantError } from '../errors/errors.ts'
import type { Output } from './output.ts'
import { unlessError } from './definition.ts'
import { isTracked } from './tracked.ts'
import type { TrackedEvent } from './types.ts'

export interface SentEvent {
  /** The id; undefined for an event without one. */
  readonly id: string | undefined
  readonly data: unknown
}

/** Throws an Error that the handler returned, and `E_NOT_SERIALISABLE` for another value without events. */
export function eventsOf(path: string, value: unknown): AsyncIterator<unknown> {
  unlessError(value)
  const make = (value as AsyncIterable<unknown> | null)?.[Symbol.asyncIterator]
  if (typeof make === 'function') return make.call(value)
  throw new VolantError(
    'E_NOT_SERIALISABLE',
    `the subscription ${path} did not return an async iterable: write its handler as async function*`,
  )
}

/** Gives the id of an event, and its data as the schema of the output makes it. */
export async function eventOf(value: unknown, output: Output | null): Promise<SentEvent> {
  const [id, given] = isTracked(value) ? value : [undefined, value]
  const data = unlessError(given)
  return { id, data: output === null ? data : await output.valueOf(data) }
}

/** Gives the events for a caller in process: a tracked event is `{ id, data }`, as it is for every client. */
export async function* checkedEvents(
  path: string,
  value: unknown,
  output: Output | null,
): AsyncGenerator<unknown> {
  const iterator = eventsOf(path, value)
  let done = false
  try {
    for (;;) {
      const result = await iterator.next()
      if (result.done === true) {
        done = true
        unlessError(result.value)
        return
      }
      const { id, data } = await eventOf(result.value, output)
      yield id === undefined ? data : ({ id, data } satisfies TrackedEvent<unknown>)
    }
  } finally {
    if (!done) await iterator.return?.()
  }
}
