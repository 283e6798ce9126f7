/** The user of the cases about declared replies and errors, and what was reported. */
import assert from 'node:assert/strict'
import { VolantError } from 'volant'
import * as z from 'zod'
import { Kit } from '../kit.ts'

export const User = z.object({ id: z.number().int(), name: z.string() })

export const kit = new Kit()

export const reported = (code: string, message: RegExp): void => {
  const error = kit.reports.at(-1)
  assert.ok(error instanceof VolantError, String(error))
  assert.equal(error.code, code)
  assert.match(error.message, message)
}
