import { VolantError } from '../errors/errors.ts'
import { briefValue } from '../errors/brief-value.ts'

/** Refuses a value that cannot be the status of a final reply: anything but an integer from 200 to 599. */
export function checkStatus(status: number): number {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    const order =
      typeof status === 'object' ? ': write ctx.json(value, status) or ctx.reply(status, value)' : ''
    throw new VolantError(
      'E_BAD_STATUS',
      `a reply's status is an integer from 200 to 599, not ${briefValue(status)}${order}`,
    )
  }
  return status
}
