/** The declared errors of a route and its middleware: checked when the app starts, thrown by `ctx.fail`. */
import { HTTPError, VolantError } from '../errors/errors.ts'
import { ReplyBody, type UndeclaredProperties } from './reply-body.ts'
import type { DeclaredError, DeclaredErrors } from '../types/parts.ts'
import type { ErrorsByCode, RequestContext } from '../types/request.ts'
import type { Declaration } from '../types/declaration.ts'

const none: ErrorsByCode = new Map()

/**
 * Gives all errors of a chain, the route's own last. A code that is declared again has to keep its status, else this
 * throws `E_BAD_OPTION`, which names the route.
 */
export function errorsOf(
  where: string,
  declarations: readonly Declaration[],
  own: DeclaredErrors,
  undeclaredProperties: UndeclaredProperties = 'strip',
): ErrorsByCode {
  const given = declarations.flatMap(({ errors }) => (errors === undefined ? [] : [errors]))
  if (given.length === 0 && Object.keys(own).length === 0) return none
  const all = new Map<string, DeclaredError & { reply: ReplyBody | null }>()
  for (const errors of [...given, own]) {
    for (const [code, error] of Object.entries(errors)) {
      const before = all.get(code)
      if (before !== undefined && before.status !== error.status) {
        throw new VolantError(
          'E_BAD_OPTION',
          `${where}: the error ${code} is declared with status ${before.status} and with ${error.status}: one code has one status`,
        )
      }
      const { data } = error
      const reply =
        data === undefined ? null : new ReplyBody(`${where}: the data of ${code}`, data, undeclaredProperties)
      all.set(code, { ...error, reply })
    }
  }
  return all
}

/** Makes the error that `ctx.fail` throws. */
export function declaredError(
  ctx: RequestContext,
  code: string,
  data: unknown,
  message: string | undefined,
): HTTPError {
  return errorFrom(ctx.route.errors, `${ctx.method} ${ctx.pattern ?? ctx.path}`, code, data, message)
}

/** Makes one of `errors`; `where` names the declaring route in messages. */
export function errorFrom(
  errors: ErrorsByCode,
  where: string,
  code: string,
  data: unknown,
  message: string | undefined,
): HTTPError {
  const declared = errors.get(code)
  if (declared === undefined) {
    const codes = [...errors.keys()].join(', ')
    throw new VolantError(
      'E_UNDECLARED_ERROR',
      `${where} declares no error ${JSON.stringify(String(code).slice(0, 50))}; ${codes === '' ? 'it declares none: errors: { CODE: { status } }' : `it declares ${codes}`}`,
    )
  }
  const { status, description, reply } = declared
  return new HTTPError(status, message ?? description, {
    code,
    expose: true,
    ...(reply === null ? {} : { data: reply.copyOf(data) }),
  })
}
