/** Every limit of `createApp({ limits })`: one table, from which defaults, checks and the documentation are made. */
import { readFileSync } from 'node:fs'
import type { Limits } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { checkOptionNames } from './option-names.ts'
import { bad } from './bad-option.ts'

/** One row of the table of limits. */
export interface LimitRow {
  /** The option. */
  readonly name: keyof Limits
  /** Of default, min and max. */
  readonly unit: 'ms' | 'bytes' | 'count'
  /** In its unit. */
  readonly default: number
  /** Least value. */
  readonly min: number
  /** Greatest value. */
  readonly max: number
  /** 0 turns the limit off. Without it, 0 is allowed only if `min` is 0. */
  readonly zeroMeansOff: boolean
  /** What it limits. */
  readonly what: string
  /** What happens past it. */
  readonly past: string
}

const minute = 60_000
const day = 24 * 60 * minute
const gigabyte = 2 ** 30

/** `maxConnections` is lowered to 80 % of the process's file limit where that can be read. */
const connectionsCeiling = 10_000

function row(
  name: keyof Limits,
  unit: LimitRow['unit'],
  fallback: number,
  [min, max]: readonly [number, number],
  zeroMeansOff: boolean,
  what: string,
  past: string,
): LimitRow {
  return { name, unit, default: fallback, min, max, zeroMeansOff, what, past }
}

/** The limits in the order of the documentation. */
export const limitTable: readonly LimitRow[] = [
  row(
    'headersTimeout',
    'ms',
    10_000,
    [100, day],
    true,
    'time for a request head, accurate to 1 s',
    '408, close',
  ),
  row(
    'requestTimeout',
    'ms',
    minute,
    [100, day],
    true,
    'time for a whole request; extended to at most 300,000 while the body arrives at 1 KiB/s or more',
    '408, close; reset when a reply has begun',
  ),
  row(
    'handlerTimeout',
    'ms',
    0,
    [1, day],
    true,
    'time for a handler to begin its reply',
    '503, ctx.signal aborted',
  ),
  row('sendTimeout', 'ms', 30_000, [100, day], true, 'time without progress in sending', 'connection reset'),
  row(
    'keepAliveTimeout',
    'ms',
    10_000,
    [1, day],
    true,
    'idle time between requests; 65,000 with trustProxy',
    'closed when idle',
  ),
  row(
    'maxConnectionAge',
    'ms',
    60 * minute,
    [1_000, 7 * day],
    true,
    'age of a connection',
    'closed when next idle',
  ),
  row(
    'maxConnections',
    'count',
    connectionsCeiling,
    [1, 10_000_000],
    true,
    'open connections; default at most 80 % of the file limit',
    'refused at once',
  ),
  row('maxInFlight', 'count', 10_000, [1, 10_000_000], true, 'requests without a complete reply', '503'),
  row('maxHeaderSize', 'bytes', 16_384, [256, 131_072], false, 'a request head', '431'),
  row('maxHeaderLine', 'bytes', 8_192, [64, 131_072], false, 'one header line', '431'),
  row('maxHeaders', 'count', 100, [1, 2_000], false, 'header fields', '431'),
  row('maxUrlLength', 'bytes', 8_192, [16, 65_535], false, 'the request target', '414'),
  row(
    'maxParamLength',
    'bytes',
    256,
    [1, 65_535],
    false,
    'one path parameter, escaped as it was sent; the rest of a path, `*`, has no limit of its own',
    '414',
  ),
  row('maxQueryKeys', 'count', 1_000, [1, 100_000], false, 'keys of a query', '400'),
  row('maxFormKeys', 'count', 1_000, [1, 100_000], false, 'keys of a form body', '400'),
  row(
    'maxBodySize',
    'bytes',
    1_048_576,
    [0, 64 * gigabyte],
    false,
    'a request body; per route too',
    '413, before reading when Content-Length says so',
  ),
  row(
    'maxBufferedBodies',
    'bytes',
    268_435_456,
    [1_024, 1_024 * gigabyte],
    false,
    'buffered bodies of all connections',
    '503',
  ),
  row(
    'maxBufferedReplies',
    'bytes',
    268_435_456,
    [1_024, 1_024 * gigabyte],
    false,
    'what waits to be sent on all connections; a Buffer that several of them wait for counts once',
    'the connection whose reply does not fit is reset; 500 for a single reply that is larger',
  ),
  row(
    'maxPipelined',
    'count',
    16,
    [1, 256],
    false,
    'requests of one connection handled at once',
    'parsing pauses',
  ),
  row('maxChunkExtensions', 'bytes', 1_024, [0, 65_536], false, 'extensions of one chunk', '400, close'),
  row(
    'maxChunkExtensionsTotal',
    'bytes',
    16_384,
    [0, 1_048_576],
    false,
    'extensions of all chunks of a body',
    '400, close',
  ),
  row('maxJsonDepth', 'count', 64, [1, 10_000], false, 'levels of nesting in a JSON body', '400'),
  row(
    'drainLimit',
    'bytes',
    65_536,
    [0, 64 * 1_048_576],
    false,
    'unread body discarded after the reply',
    'connection closed',
  ),
  row('drainTimeout', 'ms', 2_000, [1, minute], false, 'time for discarding it', 'connection closed'),
  row(
    'shutdownTimeout',
    'ms',
    10_000,
    [0, day],
    false,
    'time for requests in flight once close() was called; 0 resets them at once',
    'connections reset',
  ),
]

/** What others call them. */
const foreignNames = {
  bodyLimit: 'maxBodySize',
  connectionTimeout: 'requestTimeout',
  maxHeadersCount: 'maxHeaders',
  timeout: 'requestTimeout or handlerTimeout, in ms',
}

/** Limits as a user gives them; whatever is absent or undefined has its default. */
export type LimitOptions = { [K in keyof Limits]?: number | undefined }

/**
 * The whole set of limits. Throws `E_BAD_OPTION`, naming the option, for an unknown name, for anything but an
 * integer in range, and for combinations that contradict each other.
 */
export function resolveLimits(given: LimitOptions | undefined, trustProxy: boolean): Limits {
  if (given !== undefined && (typeof given !== 'object' || given === null))
    throw bad('limits', given, 'an object')
  const limits = {} as Record<keyof Limits, number>
  for (const row of limitTable) {
    const value = given?.[row.name]
    limits[row.name] = value === undefined ? defaultOf(row, trustProxy) : checkLimit(row, value)
  }
  checkOptionNames('limits', given ?? {}, Object.keys(limits), foreignNames)
  checkTogether(limits, given ?? {})
  return limits
}

/** One value against its row. */
export function checkLimit(row: LimitRow, value: unknown, name = `limits.${row.name}`): number {
  const zero = row.zeroMeansOff ? ', or 0 for off' : ''
  const wanted = `an integer from ${row.min} to ${row.max} (${row.unit})${zero}`
  if (typeof value !== 'number' || !Number.isInteger(value)) throw bad(name, value, wanted)
  if (value === 0 && row.zeroMeansOff) return 0
  if (value < row.min || value > row.max) throw bad(name, value, wanted)
  // −0 is an integer too; the layout shared with the engine has unsigned numbers.
  return value === 0 ? 0 : value
}

function defaultOf(row: LimitRow, trustProxy: boolean): number {
  if (row.name === 'keepAliveTimeout' && trustProxy) return 65_000
  if (row.name === 'maxConnections')
    return Math.max(1, Math.min(connectionsCeiling, Math.floor(fileLimit() * 0.8)))
  return row.default
}

function checkTogether(limits: Limits, given: LimitOptions): void {
  const pairs: [keyof Limits, keyof Limits][] = [
    ['maxHeaderLine', 'maxHeaderSize'],
    ['maxUrlLength', 'maxHeaderSize'],
    ['maxParamLength', 'maxUrlLength'],
    ['maxChunkExtensions', 'maxChunkExtensionsTotal'],
    ['maxBodySize', 'maxBufferedBodies'],
  ]
  for (const [small, large] of pairs) {
    if (limits[small] <= limits[large]) continue
    // A default follows the limit around it; only what the user wrote can contradict.
    if (given[small] === undefined) (limits as Record<keyof Limits, number>)[small] = limits[large]
    else if (given[large] === undefined && small === 'maxBodySize')
      (limits as Record<keyof Limits, number>)[large] = limits[small]
    else
      throw new VolantError(
        'E_BAD_OPTION',
        `limits.${small} (${limits[small]}) is larger than limits.${large} (${limits[large]})`,
      )
  }
  if (limits.headersTimeout > limits.requestTimeout && limits.requestTimeout > 0) {
    if (given.headersTimeout === undefined)
      (limits as Record<keyof Limits, number>).headersTimeout = limits.requestTimeout
    else
      throw new VolantError(
        'E_BAD_OPTION',
        `limits.headersTimeout (${limits.headersTimeout}) is larger than limits.requestTimeout (${limits.requestTimeout})`,
      )
  }
}

/** Soft limit of open files; Linux only, elsewhere the ceiling stands. */
function fileLimit(): number {
  if (process.platform !== 'linux') return Infinity
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}
