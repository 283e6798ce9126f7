/** Why there is no connection: the errors of attempts, and of a socket that makes no further one. */
import { ClientError } from './error.ts'

/** Gives the error behind an attempt that failed. The package `ws` and Bun name the status of the reply. */
export function refusal(operation: string, message: string, url: string): Error {
  const [, status = 0] = /(?:response|code): (\d{3})$/.exec(message) ?? []
  // Bun writes the whole address, whose query may have a secret.
  const words = message.replace(/\?[^\s']*/, '')
  return Object.assign(new ClientError(operation, `no connection to ${url}: ${words}`), { status: +status })
}

/** True for what the next attempt cannot mend: a mistake, and a status that says so. */
export function isFinal(error: unknown): boolean {
  const { status } = (error ?? {}) as Partial<ClientError>
  return error instanceof TypeError || /^4(?!08|25|29)/.test(status as never)
}

/** Gives the error of a socket that makes no further attempt. */
export function gaveUp(
  operation: string,
  cause: Error | undefined,
  opened: boolean,
  hasOpened: boolean,
  url: string | undefined,
): Error {
  if (isFinal(cause)) return cause as Error
  const to = url ? ` to ${url}` : ''
  // The operation and the address are there already.
  const words = cause
    ? `: ${cause.message.replace(`${operation}: `, '').replace(`no connection${to}: `, '')}`
    : ''
  const hint = hasOpened ? '' : '. The server may be away, or refuse it: platforms do not tell'
  const what = opened ? `the connection${to} is lost` : `there is no connection${to}`
  return new ClientError(operation, `${what}, and no further attempt is made${words}${hint}`, { cause })
}
