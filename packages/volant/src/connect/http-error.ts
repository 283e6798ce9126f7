/** Makes an HTTPError of what connect middlewares pass to `next`, which carries its status in a property. */
import { inspect } from 'node:util'
import { HTTPError, VolantError } from '../errors/errors.ts'
import { engineHeaders } from '../reply/header.ts'

interface Carrier {
  readonly status?: unknown
  readonly statusCode?: unknown
  readonly expose?: unknown
  readonly headers?: unknown
  readonly message?: unknown
}

/** What was passed to `next`, by the error that stands for it. */
const originals = new WeakMap<object, unknown>()

/** Gives what was passed to `next`: error middlewares look at its properties. */
export function originalOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && originals.has(error) ? originals.get(error) : error
}

/** Gives the error to answer. A status from 500 on is reported, since its message is not sent. */
export function asHTTPError(error: unknown, replyStatus: number, report: (error: unknown) => void): unknown {
  if (error instanceof HTTPError || error instanceof VolantError) return error
  if (typeof error !== 'object' || error === null) return new Error(`next(${inspect(error)}) was called`)
  const carrier = error as Carrier
  const status = [carrier.status, carrier.statusCode, replyStatus].find(isErrorStatus)
  if (status === undefined)
    return error instanceof Error ? error : new Error(`next(${inspect(error)}) was called`)
  if (status >= 500) report(error)
  const expose = typeof carrier.expose === 'boolean' ? carrier.expose : status < 500
  const made = new HTTPError(
    status,
    expose && typeof carrier.message === 'string' ? carrier.message : undefined,
    {
      expose,
      cause: error,
      ...headersIn(carrier.headers),
    },
  )
  originals.set(made, error)
  return made
}

function isErrorStatus(status: unknown): status is number {
  return Number.isInteger(status) && (status as number) >= 400 && (status as number) < 600
}

function headersIn(headers: unknown): { headers?: Record<string, string> } {
  if (typeof headers !== 'object' || headers === null) return {}
  const sent = Object.entries(headers).filter(([name]) => !engineHeaders.has(name.toLowerCase()))
  return { headers: Object.fromEntries(sent.map(([name, value]) => [name, String(value)])) }
}
