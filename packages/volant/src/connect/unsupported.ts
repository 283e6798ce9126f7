/** What no adapter can do for a connect middleware, since its reply does not own the connection. */
import { VolantError } from '../errors/errors.ts'

/** Gives a function that throws `E_CONNECT_UNSUPPORTED`; `name` is what was called, `remedy` what to do instead. */
export function unsupported(name: string, remedy: string): () => never {
  return () => {
    throw new VolantError(
      'E_CONNECT_UNSUPPORTED',
      `a middleware behind fromConnect called ${name}, which is not supported: ${remedy}`,
    )
  }
}

/** Gives an error with the code that Node.js gives it, which middlewares look for. */
export function coded<E extends Error>(error: E, code: string): E & { code: string } {
  return Object.assign(error, { code })
}
