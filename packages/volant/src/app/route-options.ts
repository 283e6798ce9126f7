/** Checks the arguments of a verb after its path: options, middleware, handler. */
import type { Limits } from '@volant/engine'
import { checkContract, contractOptions } from '../contract/contract-options.ts'
import { VolantError } from '../errors/errors.ts'
import { refuseForeign } from '../options/foreign-handlers.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { bad } from '../options/bad-option.ts'
import { checkFlag, checkFunction } from '../options/checks.ts'
import { checkLimit } from '../options/limits.ts'
import type { UndeclaredProperties } from '../contract/reply-body.ts'
import { briefValue } from '../errors/brief-value.ts'
import type { RouteOptions, Schemas } from '../types/parts.ts'
import { checkedParts, checkSchemas } from '../request/validation.ts'
import { isMiddleware } from '../dispatch/declare.ts'
import type { Layer } from '../types/request.ts'
import type { RouteDefinition } from '../dispatch/route-definition.ts'

export interface RouteDefaults {
  readonly limits: Limits
  readonly undeclaredProperties: UndeclaredProperties
}

const ownLimits = [
  'maxQueryKeys',
  'maxFormKeys',
  'maxFormParts',
  'maxFormFiles',
  'maxFileSize',
  'maxFieldSize',
  'maxJsonDepth',
] as const
const names: readonly string[] = [
  ...checkedParts,
  ...contractOptions,
  'bodyMode',
  'maxBodySize',
  'requestTimeout',
  'handlerTimeout',
  ...ownLimits,
  'compress',
  'beforeBody',
]

/** Makes a route of these arguments. Throws `E_BAD_OPTION`, `E_BAD_SCHEMA` or `E_BAD_HANDLER`, which name the route. */
export function defineRoute(
  pattern: string,
  rest: readonly unknown[],
  defaults: RouteDefaults,
): Omit<RouteDefinition, 'method' | 'nodes' | 'value'> {
  const [first] = rest
  const given = typeof first === 'object' && first !== null && !Array.isArray(first)
  const layers = (given ? rest.slice(1) : rest).map((layer, at, all) => {
    const what = `${at === all.length - 1 ? 'the handler' : `middleware ${at + 1}`} of ${pattern}`
    refuseForeign(layer, what)
    if (typeof layer === 'function') return layer as Layer
    const remedy = Array.isArray(layer) ? ': give each by itself' : ''
    throw new VolantError('E_BAD_HANDLER', `${what} is not a function but ${briefValue(layer)}${remedy}`)
  })
  const handler = layers.pop() as RouteDefinition['handler'] | undefined
  if (handler === undefined) throw new VolantError('E_BAD_HANDLER', `the route ${pattern} has no handler`)
  return {
    pattern,
    middleware: layers,
    handler,
    ...checkOptions(pattern, given ? (first as RouteOptions) : {}, defaults),
  }
}

function checkOptions(
  pattern: string,
  options: RouteOptions,
  { limits, undeclaredProperties }: RouteDefaults,
): Omit<RouteDefinition, 'method' | 'nodes' | 'pattern' | 'middleware' | 'handler' | 'value'> {
  const where = `the route ${pattern}`
  checkOptionNames(where, options, names, foreignNames.route)
  const { bodyMode = 'buffer', beforeBody } = options
  if (bodyMode !== 'buffer' && bodyMode !== 'stream')
    throw bad(`${where}: bodyMode`, bodyMode, "'buffer' or 'stream'")
  checkFunction(`${where}: beforeBody`, beforeBody)
  if (beforeBody !== undefined && isMiddleware(beforeBody)) {
    throw new VolantError(
      'E_BAD_HANDLER',
      `${where}: beforeBody takes a function (ctx), not a middleware: those of scopes run before it, app.with(middleware).post(path, { beforeBody() {} }, …)`,
    )
  }
  const isForm = options.consumes !== undefined
  if (bodyMode === 'stream' && (beforeBody !== undefined || (options.body !== undefined && !isForm))) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: ${beforeBody ? 'beforeBody' : 'a body schema'} is for buffered bodies: with bodyMode 'stream' the handler itself comes first`,
    )
  }
  const maxBodySize = own(where, 'maxBodySize', options, limits)
  if (bodyMode === 'buffer' && maxBodySize > limits.maxBufferedBodies) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: maxBodySize (${maxBodySize}) is larger than limits.maxBufferedBodies (${limits.maxBufferedBodies})`,
    )
  }
  const schemas = schemasOf(options)
  checkSchemas(schemas, pattern, isForm)
  return {
    bodyMode: beforeBody === undefined ? bodyMode : 'checked',
    maxBodySize,
    requestTimeout:
      options.requestTimeout === undefined
        ? undefined
        : checkLimit('requestTimeout', options.requestTimeout, `${where}: requestTimeout`),
    beforeBody: (beforeBody as RouteDefinition['beforeBody'] | undefined) ?? null,
    schemas,
    contract: checkContract(where, options),
    undeclaredProperties,
    handlerTimeout: checkTimeout(where, options.handlerTimeout, limits.handlerTimeout),
    compress: checkFlag(`${where}: compress`, options.compress, true),
    limits: {
      maxQueryKeys: own(where, 'maxQueryKeys', options, limits),
      maxFormKeys: own(where, 'maxFormKeys', options, limits),
      maxFormParts: own(where, 'maxFormParts', options, limits),
      maxFormFiles: own(where, 'maxFormFiles', options, limits),
      maxFileSize: own(where, 'maxFileSize', options, limits),
      maxFieldSize: own(where, 'maxFieldSize', options, limits),
      maxJsonDepth: own(where, 'maxJsonDepth', options, limits),
    },
  }
}

/** Copies the schemas, since the caller may change the object before the first request comes. */
function schemasOf(options: RouteOptions): Schemas {
  const schemas: Schemas = {}
  for (const part of checkedParts) if (options[part] !== undefined) schemas[part] = options[part]
  return schemas
}

function own(
  where: string,
  name: 'maxBodySize' | (typeof ownLimits)[number],
  options: RouteOptions,
  limits: Limits,
): number {
  const value = options[name]
  return value === undefined ? limits[name] : checkLimit(name, value, `${where}: ${name}`)
}

/** Checks the time limit. The adapter ends handlers at the app's limit, so a route's limit can only be shorter. */
function checkTimeout(where: string, value: unknown, limit: number): number {
  if (value === undefined) return 0
  const timeout = checkLimit('handlerTimeout', value, `${where}: handlerTimeout`)
  if (limit > 0 && (timeout === 0 || timeout > limit)) {
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: handlerTimeout is longer than limits.handlerTimeout (${limit} ms), which ends every handler: raise that one`,
    )
  }
  return timeout
}
