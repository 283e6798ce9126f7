/** Checks the arguments of `app.ws` after its path: middleware, then options. */
import type { SocketRoute } from '@volant/engine'
import type { SocketDefinition, RouteDefinition } from '../dispatch/route-definition.ts'
import { briefValue } from '../errors/brief-value.ts'
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { checkEach, checkFunction, checkInteger, checkNames, checkText } from '../options/checks.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkLimit } from '../options/limits.ts'
import { checkSchema } from '../schema/standard.ts'
import { messageWriter, type MessageWriter } from '../sockets/messages.ts'
import { checkOrigins } from '../sockets/origin.ts'
import { upgradeHandler } from '../sockets/upgrade.ts'
import type { SocketHooks } from '../sockets/kind.ts'
import type { RouteOptions, Schema } from '../types/parts.ts'
import type { RequestContext } from '../types/request.ts'
import type { SocketSettings } from '../types/web-socket.ts'
import { defineRoute, type RouteDefaults } from './route-options.ts'

/** The options that any route has. */
const shared = [
  'params',
  'query',
  'headers',
  'cookies',
  'errors',
  'operationId',
  'summary',
  'description',
  'tags',
  'deprecated',
  'hidden',
  'security',
  'handlerTimeout',
  'maxQueryKeys',
  'maxJsonDepth',
] as const
const settings = [
  'in',
  'out',
  'origins',
  'protocols',
  'compress',
  'maxMessageSize',
  'idleTimeout',
  'maxSocketBuffer',
  'whenFull',
] as const
const hooks = ['open', 'message', 'drain', 'close', 'invalid', 'dropped', 'error'] as const
const names: readonly string[] = [...shared, ...settings, 'upgrade', ...hooks]

type Given = SocketSettings & { in?: Schema; out?: Schema } & Record<string, unknown>

/** The bytes from which on messages are compressed, where the option is true. */
const usualThreshold = 1_024

/**
 * Makes a route of these arguments, and what writes its messages. Throws `E_BAD_OPTION`, `E_BAD_SCHEMA` or `E_BAD_HANDLER`,
 * which name the route.
 */
export function defineSocket(
  pattern: string,
  rest: readonly unknown[],
  defaults: RouteDefaults,
): { route: Omit<RouteDefinition, 'method' | 'nodes' | 'value'>; writer: MessageWriter } {
  const where = `the WebSocket ${pattern}`
  const given = rest.at(-1)
  if (typeof given === 'function' || rest.length === 0) {
    throw new VolantError(
      'E_BAD_HANDLER',
      `${where} has no options: write app.ws(path, middleware…, { message(ws, message) {} })`,
    )
  }
  if (rest.length > 1 && typeof rest[0] === 'object' && rest[0] !== null) {
    throw new VolantError(
      'E_BAD_HANDLER',
      `${where} was given ${briefValue(rest[0])} before the end: its options come last, behind middleware`,
    )
  }
  checkNames(where, given, names, foreignNames.webSocket)
  const options = given as Given
  for (const name of ['upgrade', ...hooks]) checkFunction(`${where}: ${name}`, options[name])
  for (const side of ['in', 'out'] as const)
    if (options[side] !== undefined) checkSchema(options[side], `${where}: ${side}`)
  const writer = messageWriter(`WS ${pattern}`, options.out ?? null, defaults.undeclaredProperties)
  const handler = upgradeHandler(`WS ${pattern}`, {
    origins: checkOrigins(`${where}: origins`, options.origins),
    protocols: checkProtocols(`${where}: protocols`, options.protocols),
    in: options.in ?? null,
    writer,
    upgrade: options['upgrade'] as ((ctx: RequestContext) => unknown) | undefined,
    hooks: Object.fromEntries(hooks.map((name) => [name, options[name]])) as unknown as SocketHooks,
  })
  const usual: Record<string, unknown> = { bodyMode: 'stream' }
  for (const name of shared) if (options[name] !== undefined) usual[name] = options[name]
  const socket: SocketDefinition = {
    entry: entryOf(where, options, defaults),
    in: options.in ?? null,
    out: options.out ?? null,
    protocols: [...(options.protocols ?? [])],
  }
  return {
    route: {
      ...defineRoute(pattern, [usual as RouteOptions, ...rest.slice(0, -1), handler], defaults),
      socket,
    },
    writer,
  }
}

function entryOf(where: string, options: Given, { limits }: RouteDefaults): SocketRoute {
  const own = (name: 'maxMessageSize' | 'maxSocketBuffer'): number =>
    options[name] === undefined ? limits[name] : checkLimit(name, options[name], `${where}: ${name}`)
  const { idleTimeout, whenFull = 'close' } = options
  if (whenFull !== 'close' && whenFull !== 'drop')
    throw bad(`${where}: whenFull`, whenFull, "'close' or 'drop'")
  return {
    maxMessageSize: own('maxMessageSize'),
    maxFragments: limits.maxFragments,
    idleTimeout:
      idleTimeout === undefined
        ? limits.socketIdleTimeout
        : checkLimit('socketIdleTimeout', idleTimeout, `${where}: idleTimeout`),
    closeTimeout: limits.closeTimeout,
    maxBuffered: own('maxSocketBuffer'),
    whenFull,
    compressFrom: checkCompress(`${where}: compress`, options.compress),
  }
}

function checkCompress(name: string, value: unknown): number {
  if (value === undefined || value === false) return -1
  if (value === true) return usualThreshold
  if (typeof value !== 'object' || value === null)
    throw bad(name, value, 'true, false or { threshold } in bytes')
  checkNames(name, value, ['threshold'])
  const { threshold = usualThreshold } = value as { threshold?: unknown }
  return checkInteger(`${name}.threshold`, threshold, [0, 2 ** 30], 'a number of bytes up to 1 GiB')
}

function checkProtocols(name: string, value: unknown): readonly string[] {
  if (value === undefined) return []
  return checkEach(name, value, "an array of names such as ['chat.v1']", (where, each) =>
    checkText(where, each, /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/, 'names without spaces and commas'),
  )
}
