/** Errors as tRPC clients know them: a JSON-RPC code, and details under `data`. */
import { HTTPError, type Issue, ValidationError } from '../../errors/errors.ts'
import { phrases } from '../../errors/phrases.ts'

/**
 * tRPC's errors by name: the code JSON-RPC has or leaves for it, and the HTTP status. Where several have a status in
 * common, the first one stands for it.
 */
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

/** What `data.error` tells of an error with a code: a declared one, or one of the framework's. */
export interface RPCErrorDetail {
  /** As declared, or of the table of errors. */
  readonly code: string
  /** Of a declared error. */
  readonly data?: unknown
  /** Of `E_VALIDATION`: what is wrong with the input. */
  readonly errors?: readonly Issue[]
}

/** `data` of an error. `Detail` is what its procedure may say in `error`. */
export interface TRPCErrorData<Detail = RPCErrorDetail> {
  /** One of tRPC's names, by the status. */
  code: RPCErrorName
  /** The status of the error by itself; the reply to a batch may have another. */
  httpStatus: number
  /** Of the procedure. */
  path?: string
  /** What its declaration says, or what is wrong with the input. */
  error?: Detail
}

/** The error of a reply. */
export interface ErrorShape<Detail = RPCErrorDetail> {
  /** For people; that of an error nobody expected says nothing. */
  message: string
  /** Of JSON-RPC 2.0 §5.1, or from tRPC's range. */
  code: number
  /** What programs look at. */
  data: TRPCErrorData<Detail>
}

/** What a client is told of `error`, which is little unless it is an `HTTPError` or a `TRPCError`. */
export function shapeOf(error: unknown, path: string | undefined): ErrorShape {
  const known = error instanceof HTTPError ? error : foreign(error)
  const status = known?.status ?? 500
  const name = nameOf(status, known?.code)
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

function nameOf(status: number, code: string | undefined): RPCErrorName {
  if (code !== undefined && Object.hasOwn(rpcErrors, code) && rpcErrors[code as RPCErrorName][1] === status) {
    return code as RPCErrorName
  }
  return byStatus.get(status) ?? (status < 500 ? 'BAD_REQUEST' : 'INTERNAL_SERVER_ERROR')
}

/** Procedures that come from tRPC throw its errors. Those of 5xx may have the message of another error, so it stays. */
export function foreign(error: unknown): HTTPError | null {
  if (!(error instanceof Error) || error.name !== 'TRPCError') return null
  const { code } = error as { code?: unknown }
  if (typeof code !== 'string' || !Object.hasOwn(rpcErrors, code)) return null
  const [, status] = rpcErrors[code as RPCErrorName]
  return new HTTPError(status, error.message, { code, cause: error })
}
