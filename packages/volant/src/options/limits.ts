/** Lists every limit of `createApp({ limits })`: defaults, checks and documentation are made of one table. */
import { readFileSync } from 'node:fs'
import type { Limits } from '@volant/engine'
import { VolantError } from '../errors/errors.ts'
import { checkOptionNames } from './option-names.ts'
import { bad } from './bad-option.ts'
import { checkInteger } from './checks.ts'
import { foreignNames } from './foreign-names.ts'

/** A row of the table of limits. */
export interface LimitRow {
  /** The name of the option. */
  readonly name: keyof Limits
  /** The unit of default, min and max. */
  readonly unit: 'ms' | 'bytes' | 'count'
  /** The value in an app that does not set it. */
  readonly default: number
  /** The least value. */
  readonly min: number
  /** The greatest value. */
  readonly max: number
  /** 0 turns the limit off. Without it, 0 is allowed only if `min` is 0. */
  readonly zeroMeansOff: boolean
  /** Says what the option limits. */
  readonly what: string
  /** Says what happens past the limit. */
  readonly past: string
}

const minute = 60_000
const day = 24 * 60 * minute
const gigabyte = 2 ** 30
/** A longer text can be no string of V8 (`buffer.constants.MAX_STRING_LENGTH`), and the message could not be given to its hook. */
const longestString = 2 ** 29 - 24
/** The number of resets that `maxStreamResets` forgets each second. */
export const forgottenResets = 33

/** Makes rows of one unit; 0 turns off the limits whose row ends in `off`. */
function rowsOf(unit: LimitRow['unit']) {
  return (
    name: keyof Limits,
    fallback: number,
    [min, max]: readonly [number, number],
    what: string,
    past: string,
    zero?: typeof off,
  ): LimitRow => ({ name, unit, default: fallback, min, max, zeroMeansOff: zero === off, what, past })
}

const off = 'off'
const [ms, bytes, count] = [rowsOf('ms'), rowsOf('bytes'), rowsOf('count')]

/** The limits in the order of the documentation. */
export const limitTable: readonly LimitRow[] = [
  ms('headersTimeout', 10_000, [100, day], 'time for a request head, accurate to 1 s', '408, close', off),
  ms(
    'requestTimeout',
    minute,
    [100, day],
    'time for a whole request; extended to at most 300,000 while the body arrives at 1 KiB/s or more',
    '408, close; reset when a reply has begun',
    off,
  ),
  ms('handlerTimeout', 0, [1, day], 'time for a handler to begin its reply', '503, ctx.signal aborted', off),
  ms('sendTimeout', 30_000, [100, day], 'time without progress in sending', 'connection reset', off),
  ms(
    'keepAliveTimeout',
    10_000,
    [1, day],
    'idle time between requests; 65,000 with trustProxy',
    'closed when idle',
    off,
  ),
  ms(
    'http2IdleTimeout',
    minute,
    [1_000, day],
    'time without a stream on a connection of HTTP/2, in place of `keepAliveTimeout`',
    'GOAWAY, closed',
    off,
  ),
  ms('maxConnectionAge', 60 * minute, [1_000, 7 * day], 'age of a connection', 'closed when next idle', off),
  count(
    'maxConnections',
    10_000,
    [1, 10_000_000],
    'open connections; default at most 80 % of the file limit',
    'refused at once',
    off,
  ),
  count(
    'maxConnectionsPerAddress',
    0,
    [1, 10_000_000],
    'open connections of one peer, of IPv6 by its network of 64 bits; behind a proxy all have its address',
    'refused at once',
    off,
  ),
  ms('tlsHandshakeTimeout', 10_000, [100, day], 'time for a TLS handshake', 'connection reset', off),
  count(
    'maxHandshakes',
    1_000,
    [1, 10_000_000],
    'TLS handshakes that are not complete',
    'the oldest of them is reset',
    off,
  ),
  count('maxInFlight', 10_000, [1, 10_000_000], 'requests without a complete reply', '503', off),
  bytes('maxHeaderSize', 16_384, [256, 131_072], 'a request head', '431'),
  bytes('maxHeaderLine', 8_192, [64, 65_535], 'one header line', '431'),
  count('maxHeaders', 100, [1, 2_000], 'header fields', '431'),
  bytes('maxUrlLength', 8_192, [16, 65_535], 'the request target', '414'),
  bytes(
    'maxParamLength',
    256,
    [1, 65_535],
    'one path parameter, escaped as it was sent; the rest of a path, `*`, has no limit of its own',
    '414',
  ),
  count('maxQueryKeys', 1_000, [1, 100_000], 'keys of a query', '400'),
  count('maxFormKeys', 1_000, [1, 100_000], 'keys of a form body that is not multipart', '400'),
  count('maxFormParts', 100, [1, 100_000], 'parts of a multipart form', '413'),
  count('maxFormFiles', 10, [0, 100_000], 'files of a multipart form', '413'),
  bytes('maxFileSize', 10_485_760, [0, 64 * gigabyte], 'one file of a multipart form', '413'),
  bytes('maxFieldSize', 65_536, [0, gigabyte], 'one field of a multipart form that is no file', '413'),
  bytes(
    'maxBodySize',
    1_048_576,
    [0, 64 * gigabyte],
    'a request body; per route too',
    '413, before reading when Content-Length says so',
  ),
  bytes(
    'maxBufferedBodies',
    268_435_456,
    [1_024, 1_024 * gigabyte],
    'buffered bodies of all connections, and unfinished messages of WebSockets',
    '503; a WebSocket is closed with 1013',
  ),
  bytes(
    'maxBufferedReplies',
    268_435_456,
    [1_024, 1_024 * gigabyte],
    'what waits to be sent on all connections; a Buffer that several of them wait for counts once',
    'the client with the most unsent bytes loses its fullest HTTP/2 reply or its WebSocket; a connection of HTTP/1.1 is reset only when its own reply does not fit and it has the most; 500 for a single reply that is larger',
  ),
  count('maxPipelined', 16, [1, 256], 'requests of one connection handled at once', 'parsing pauses'),
  count('maxStreams', 100, [1, 1_000], 'open streams of one connection of HTTP/2', 'REFUSED_STREAM'),
  count(
    'maxStreamResets',
    200,
    [1, 100_000],
    `streams of one connection of HTTP/2 that are reset by its client, or for its errors; ${forgottenResets} of them are forgotten each second`,
    'GOAWAY with ENHANCE_YOUR_CALM, closed',
  ),
  bytes('maxChunkExtensions', 1_024, [0, 65_536], 'extensions of one chunk', '400, close'),
  bytes(
    'maxChunkExtensionsTotal',
    16_384,
    [0, 1_048_576],
    'extensions of all chunks of a body',
    '400, close',
  ),
  count('maxJsonDepth', 64, [1, 10_000], 'levels of nesting in a JSON body', '400'),
  bytes(
    'drainLimit',
    65_536,
    [0, 64 * 1_048_576],
    'unread body discarded after the reply',
    'connection closed',
  ),
  ms('drainTimeout', 2_000, [1, minute], 'time for discarding it', 'connection closed'),
  ms(
    'drainIdle',
    5_000,
    [0, day],
    'time for which idle connections stay once the server stops accepting, at most `shutdownTimeout`; 0 closes them at once',
    'connection closed, unless a request has come',
  ),
  ms(
    'shutdownTimeout',
    10_000,
    [0, day],
    'time for requests in flight once the server stops accepting; 0 resets them at once',
    'connections reset',
  ),
  bytes(
    'maxMessageSize',
    1_048_576,
    [1, longestString],
    'a message that a WebSocket receives, decompressed; per route too',
    'closed with 1009',
  ),
  count(
    'maxFragments',
    1_024,
    [1, 100_000],
    'frames of a message that a WebSocket receives',
    'closed with 1009',
  ),
  ms(
    'socketIdleTimeout',
    minute,
    // Bun and uWebSockets.js take seconds, up to 960: with their values every WebSocket would be reset at once.
    [1_000, day],
    'time without a frame from the client of a WebSocket, which is sent a ping after half of it; per route too, as `idleTimeout`',
    'connection reset',
    off,
  ),
  bytes(
    'maxSocketBuffer',
    1_048_576,
    [1_024, gigabyte],
    'what waits to be sent to one WebSocket; per route too',
    "closed with 1013; with `whenFull: 'drop'` the message is dropped",
  ),
  ms(
    'closeTimeout',
    5_000,
    [100, minute],
    'time for the client to answer when the server closes a WebSocket',
    'connection reset',
  ),
  count(
    'maxTopics',
    1_000,
    [1, 1_000_000],
    'topics that one WebSocket is subscribed to',
    '`subscribe` throws',
  ),
  count(
    'maxSocketsPerAddress',
    0,
    [1, 10_000_000],
    'open WebSockets of one client, by `ctx.ip`, of IPv6 by its network of 64 bits',
    '429',
    off,
  ),
]

/** The limits as a user gives them; whatever is absent or undefined has its default. */
export type LimitOptions = { [K in keyof Limits]?: number | undefined }

/**
 * Gives the whole set of limits. Throws `E_BAD_OPTION`, naming the option, for an unknown name, for anything but an
 * integer in range, and for combinations that contradict each other.
 */
export function resolveLimits(given: LimitOptions | undefined, trustProxy: boolean): Limits {
  if (given !== undefined && (typeof given !== 'object' || given === null))
    throw bad('limits', given, 'an object')
  checkOptionNames('limits', given ?? {}, Object.keys(rows), foreignNames.limits)
  const limits = {} as Record<keyof Limits, number>
  for (const { name } of limitTable) {
    const value = given?.[name]
    limits[name] = value === undefined ? defaultOf(name, trustProxy) : checkLimit(name, value)
  }
  checkTogether(limits, given ?? {})
  return limits
}

/** Gives `value` if the limit `name` can have it. */
export function checkLimit(name: keyof Limits, value: unknown, option = `limits.${name}`): number {
  const { min, max, unit, zeroMeansOff } = rows[name]
  if (value === 0 && zeroMeansOff) return 0
  const wanted = `an integer from ${min} to ${max} (${unit})${zeroMeansOff ? ', or 0 for off' : ''}`
  if (unit === 'ms' && Number.isInteger(value) && (value as number) > 0 && (value as number) < min) {
    const seconds = value as number
    throw new VolantError(
      'E_BAD_OPTION',
      `${option} takes ${wanted}, not ${seconds}: it is in milliseconds, and ${seconds} s are ${seconds * 1_000}`,
    )
  }
  // −0 is an integer too; the layout shared with the engine has unsigned numbers.
  return checkInteger(option, value, [min, max], wanted) + 0
}

const rows = Object.fromEntries(limitTable.map((row) => [row.name, row])) as Record<keyof Limits, LimitRow>

function defaultOf(name: keyof Limits, trustProxy: boolean): number {
  if (name === 'keepAliveTimeout' && trustProxy) return 65_000
  const usual = rows[name].default
  return name === 'maxConnections' ? Math.max(1, Math.min(usual, Math.floor(fileLimit() * 0.8))) : usual
}

/** The first of each pair is at most as large as the second. */
const pairs: readonly (readonly [keyof Limits, keyof Limits])[] = [
  ['maxHeaderLine', 'maxHeaderSize'],
  ['maxUrlLength', 'maxHeaderSize'],
  ['maxParamLength', 'maxUrlLength'],
  ['maxChunkExtensions', 'maxChunkExtensionsTotal'],
  ['maxBodySize', 'maxBufferedBodies'],
  ['headersTimeout', 'requestTimeout'],
  ['drainIdle', 'shutdownTimeout'],
]

function checkTogether(limits: Record<keyof Limits, number>, given: LimitOptions): void {
  for (const [small, large] of pairs) {
    if (limits[small] <= limits[large] || (large === 'requestTimeout' && limits[large] === 0)) continue
    // A default follows the limit around it; only what the user wrote can contradict.
    if (given[small] === undefined) limits[small] = limits[large]
    else if (given[large] === undefined && small === 'maxBodySize') limits[large] = limits[small]
    else
      throw new VolantError(
        'E_BAD_OPTION',
        `limits.${small} (${limits[small]}) is larger than limits.${large} (${limits[large]})`,
      )
  }
}

/** Gives the soft limit of open files on Linux; elsewhere nothing lowers the default. */
function fileLimit(): number {
  if (process.platform !== 'linux') return Infinity
  try {
    const soft = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1]
    return soft === undefined ? Infinity : Number(soft)
  } catch {
    return Infinity
  }
}
