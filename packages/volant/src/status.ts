import { STATUS_CODES } from 'node:http'
import { VolantError } from './errors.ts'

/** Reason phrases by status (RFC 9110 §15). */
export const phrases: Readonly<Record<number, string | undefined>> = STATUS_CODES

/** Refuses what cannot be the status of a final reply: anything but an integer from 200 to 599. */
export function checkStatus(status: number): number {
  if (!Number.isInteger(status) || status < 200 || status > 599) {
    throw new VolantError(
      'E_BAD_STATUS',
      `a reply's status is an integer from 200 to 599, not ${String(status)}`,
    )
  }
  return status
}
