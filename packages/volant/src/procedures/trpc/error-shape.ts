/** Gives errors tRPC's shape: a JSON-RPC code, and details under `data`. */
import { HTTPError, type Issue, ValidationError } from '../../errors/errors.ts'
import { phrases } from '../../errors/phrases.ts'

/** The errors of tRPC by name, with JSON-RPC code and HTTP status. The first one with a status stands for it. */
export const rpcErrors = {
  BAD_REQUEST: [-32600, 400],
  PARSE_ERROR: [-32700, 400],
  UNAUTHORIZED: [-32001, 401],
  PAYMENT_REQUIRED: [-32002, 402],
  FORBIDDEN: [-32003, 403],
  NOT_FOUND: [-32004, 404],
  METHOD_NOT_SUPPORTED: [-32005, 405],
  TIMEOUT: [-32008, 408],
  CONFLICT: [-32009, 409],
  PRECONDITION_FAILED: [-32012, 412],
  PAYLOAD_TOO_LARGE: [-32013, 413],
  UNSUPPORTED_MEDIA_TYPE: [-32015, 415],
  UNPROCESSABLE_CONTENT: [-32022, 422],
  PRECONDITION_REQUIRED: [-32028, 428],
  TOO_MANY_REQUESTS: [-32029, 429],
  CLIENT_CLOSED_REQUEST: [-32099, 499],
  INTERNAL_SERVER_ERROR: [-32603, 500],
  NOT_IMPLEMENTED: [-32603, 501],
  BAD_GATEWAY: [-32603, 502],
  SERVICE_UNAVAILABLE: [-32603, 503],
  GATEWAY_TIMEOUT: [-32603, 504],
} as const

/** The name of a tRPC error. */
export type RPCErrorName = keyof typeof rpcErrors

/** The `data.error` of an error with a code: a declared error, or one of the framework's. */
export interface RPCErrorDetail {
  /** The declared code, or one from the table of errors. */
  readonly code: string
  /** The data of a declared error. */
  readonly data?: unknown
  /** The issues of the input for `E_VALIDATION`. */
  readonly errors?: readonly Issue[]
}

/** The `data` of an error. `Detail` is the type of `error` for one procedure. */
export interface TRPCErrorData<Detail = RPCErrorDetail> {
  /** The name that tRPC has for the status. */
  code: RPCErrorName
  /** The status of this error; the reply to a batch may have another. */
  httpStatus: number
  /** The path of the procedure. */
  path?: string
  /** The declared code and data, or what is wrong with the input. */
  error?: Detail
}

/** An error as clients get it. */
export interface ErrorShape<Detail = RPCErrorDetail> {
  /** A message for people. For an unexpected error it is the name of the status. */
  message: string
  /** A code of JSON-RPC 2.0 §5.1, or one from tRPC's range. */
  code: number
  /** The details for programs. */
  data: TRPCErrorData<Detail>
}

/** Gives the shape of `error`. Only an `HTTPError` or a `TRPCError` shows its message. */
export function errorShapeOf(error: unknown, path: string | undefined): ErrorShape {
  const known = error instanceof HTTPError ? error : foreign(error)
  const status = known?.status ?? 500
  const name = errorNameOf(status, known?.code)
  const data: ErrorShape['data'] = { code: name, httpStatus: status }
  if (path !== undefined) data.path = path
  const expose = known?.expose === true
  if (expose && known.code !== undefined && !Object.hasOwn(rpcErrors, known.code)) {
    data.error = {
      code: known.code,
      ...(known.data === undefined ? {} : { data: known.data }),
      ...(known instanceof ValidationError ? { errors: known.issues } : {}),
    }
  }
  const message = expose ? known.message : (phrases[status] ?? 'Error')
  return { message, code: rpcErrors[name][0], data }
}

const byStatus: ReadonlyMap<number, RPCErrorName> = new Map(
  (Object.entries(rpcErrors) as [RPCErrorName, readonly [number, number]][])
    .toReversed()
    .map(([name, [, status]]) => [status, name]),
)

function errorNameOf(status: number, code: string | undefined): RPCErrorName {
  if (code !== undefined && Object.hasOwn(rpcErrors, code) && rpcErrors[code as RPCErrorName][1] === status) {
    return code as RPCErrorName
  }
  return byStatus.get(status) ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR')
}

/** Gives the error of tRPC's own packages as an `HTTPError`, which hides the messages of 5xx; null for other errors. */
export function foreign(error: unknown): HTTPError | null {
  if (!(error instanceof Error) || error.name !== 'TRPCError') return null
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string' || !Object.hasOwn(rpcErrors, code)) return null
  const [, status] = rpcErrors[code as RPCErrorName]
  return new HTTPError(status, error.message, { code, cause: error })
}
