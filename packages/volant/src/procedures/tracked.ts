/** Events with ids, so that a client that lost its connection can continue after the last event it has seen. */
import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { Tracked } from './types.ts'

const mark = Symbol.for('volant.tracked')

/**
 * Makes an event of a subscription with an id: `yield tracked(post.id, post)`. When the client connects again it sends
 * the last id it has seen, which is `lastEventId` of the input. Throws `E_BAD_OPTION` for an id that is empty or has a
 * line break or NUL, which events cannot carry.
 */
export function tracked<T>(id: string, data: T): Tracked<T> {
  // oxlint-disable-next-line no-control-regex -- they are what is looked for
  if (typeof id !== 'string' || id === '' || /[\0\r\n]/.test(id)) {
    throw new VolantError('E_BAD_OPTION', `the id of an event is text of one line, not ${briefValue(id)}`)
  }
  return [id, data, mark]
}

/** True also for tracked events of other libraries. JSON has no symbols, so plain data is never taken for one. */
export function isTracked(value: unknown): value is Tracked {
  return Array.isArray(value) && value.length === 3 && typeof value[2] === 'symbol'
}
