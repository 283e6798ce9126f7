/** Makes the AsyncAPI 3.0 document of an app's WebSockets from what their routes declare. */
import { checkIds, namedOperations, type RouteInfo } from '../app/route-info.ts'
import type { Schema } from '../types/parts.ts'
import type {
  AsyncAPIChannel,
  AsyncAPIDocument,
  AsyncAPIInfo,
  AsyncAPIMessage,
  AsyncAPIOperation,
  AsyncAPIParameter,
} from './asyncapi-types.ts'
import { asyncSchemesOf, serversOf } from './asyncapi-servers.ts'
import { Components, type Direction, type PartlyDescribed, type Undescribed } from './components.ts'
import type { Routed } from './document.ts'
import { draft07Of } from './draft-07.ts'
import { type RouteOperation, operationOf } from './operation.ts'
import { checkOptions, type OpenAPIOptions, optionNames } from './options.ts'
import { parametersOf } from './parameters.ts'
import { operationIdsOf, type PathOperation, pathOperationsOf } from './paths.ts'
import { schemesOf, securityOf } from './security.ts'
import type { OpenAPIParameter, OpenAPISchema } from './types.ts'

/**
 * Gives the AsyncAPI 3.0 document of the WebSockets of `app` as it is now: a channel for each, and its messages in both
 * directions. It takes the options of `openapiOf`, and throws what that throws. Servers whose URL is no http or https
 * address are left out.
 */
export function asyncapiOf(app: Routed, options: OpenAPIOptions): AsyncAPIDocument {
  const routes = app.routes()
  const steps = buildAsyncAPI(routes, checkOptions('asyncapiOf', options, optionNames), routes)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value.document
  }
}

/** A document, and what it cannot show. */
export interface BuiltAsyncAPI {
  readonly document: AsyncAPIDocument
  readonly undescribed: readonly Undescribed[]
  readonly partlyDescribed: readonly PartlyDescribed[]
  readonly warnings: readonly string[]
}

/** Gives the WebSockets that are in the document. */
export function describedSockets(
  routes: readonly RouteInfo[],
  { include = () => true }: OpenAPIOptions,
): RouteInfo[] {
  return routes.filter((route) => route.messages !== undefined && route.hidden !== true && include(route))
}

/** Works in steps of one channel or one schema. `all` are the routes that may declare security schemes for `routes`. */
export function* buildAsyncAPI(
  routes: readonly RouteInfo[],
  options: OpenAPIOptions,
  all: readonly RouteInfo[],
): Generator<void, BuiltAsyncAPI> {
  const included = describedSockets(routes, options)
  checkIds(namedOperations(included))
  const warnings: string[] = []
  const paths = yield* pathOperationsOf(included.map(operationOf), (sentence) => warnings.push(sentence))
  const ids = yield* operationIdsOf(paths)
  const components = new Components({})
  const schemes = schemesOf(included, options, all)
  const channels: Record<string, AsyncAPIChannel> = {}
  const operations: Record<string, AsyncAPIOperation> = {}
  for (const each of paths) {
    const id = ids.get(each) as string
    channels[id] = channelOf(each, id, components)
    for (const action of ['receive', 'send'] as const)
      operations[`${id}.${action}`] = actionOf(each.operation, id, action)
    yield
  }
  const schemas = yield* components.finish()
  // The references in channels are known only now.
  for (const channel of Object.values(channels)) {
    inDraft07(channel)
    yield
  }
  const written = Object.fromEntries(Object.entries(schemas).map(([name, each]) => [name, draft07Of(each)]))
  const servers = serversOf(options.servers ?? [])
  const document: AsyncAPIDocument = {
    asyncapi: '3.0.0',
    info: infoOf(options),
    ...(Object.keys(servers).length > 0 && { servers }),
    channels,
    operations,
    components: {
      schemas: written,
      ...(schemes.size > 0 && { securitySchemes: asyncSchemesOf(schemes) }),
    },
  }
  const { undescribed, partlyDescribed } = components
  return { document, undescribed, partlyDescribed, warnings }
}

function infoOf({ info, externalDocs }: OpenAPIOptions): AsyncAPIInfo {
  const { title, version, summary, description, termsOfService, contact, license } = info
  const about = [summary, description].filter((each) => each !== undefined).join('\n\n')
  return {
    title,
    version,
    ...(about !== '' && { description: about }),
    ...(termsOfService !== undefined && { termsOfService }),
    ...(contact !== undefined && { contact }),
    ...(license !== undefined && {
      license: { name: license.name, ...(license.url !== undefined && { url: license.url }) },
    }),
    ...(externalDocs !== undefined && { externalDocs }),
  }
}

function channelOf(
  { operation, template, path, names }: PathOperation,
  id: string,
  components: Components,
): AsyncAPIChannel {
  const { route, name } = operation
  const { summary, description, tags = [] } = route
  const messages = route.messages as NonNullable<RouteInfo['messages']>
  const parameters = parametersOf(operation, template, names, components)
  const inPath = parameters.filter((each) => each.in === 'path')
  const query = objectOf(parameters.filter((each) => each.in === 'query'))
  const headers = objectOf([
    ...parameters.filter((each) => each.in === 'header'),
    ...protocolsOf(messages.protocols),
  ])
  return {
    address: path,
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags.length > 0 && { tags: tags.map((each) => ({ name: each })) }),
    ...(inPath.length > 0 && {
      parameters: Object.fromEntries(inPath.map((each) => [each.name, parameterOf(each)])),
    }),
    messages: {
      in: messageOf(messages.in, 'input', `${id}.in`, `${name}: in`, components),
      out: messageOf(messages.out, 'output', `${id}.out`, `${name}: out`, components),
    },
    bindings: {
      ws: {
        method: 'GET',
        ...(query !== null && { query }),
        ...(headers !== null && { headers }),
        bindingVersion: '0.1.0',
      },
    },
  }
}

/** The values of a parameter are texts, whatever its schema makes of them. */
function parameterOf({ description, schema }: OpenAPIParameter): AsyncAPIParameter {
  const values = schema['enum']
  return {
    ...(description !== undefined && { description }),
    ...(Array.isArray(values) && { enum: values.map(String) }),
  }
}

function objectOf(parameters: readonly OpenAPIParameter[]): OpenAPISchema | null {
  if (parameters.length === 0) return null
  const required = parameters.filter((each) => each.required === true).map(({ name }) => name)
  return {
    type: 'object',
    properties: Object.fromEntries(
      parameters.map(({ name, description, schema }) => [
        name,
        { ...(description !== undefined && { description }), ...schema },
      ]),
    ),
    ...(required.length > 0 && { required }),
  }
}

function protocolsOf(protocols: readonly string[]): OpenAPIParameter[] {
  if (protocols.length === 0) return []
  const description = `Subprotocols in the order of preference; the server knows ${protocols.join(', ')}.`
  return [{ name: 'sec-websocket-protocol', in: 'header', description, schema: { type: 'string' } }]
}

function messageOf(
  schema: Schema | null,
  direction: Direction,
  name: string,
  where: string,
  components: Components,
): AsyncAPIMessage {
  if (schema === null) return { name, description: 'Text or bytes.' }
  return {
    name,
    contentType: 'application/json',
    payload: components.use(schema, direction, name, where),
  }
}

/** A handshake has to meet one of the schemes: AsyncAPI cannot say that it needs two of them. */
function actionOf({ route }: RouteOperation, id: string, action: 'receive' | 'send'): AsyncAPIOperation {
  const channel = `#/channels/${id.replaceAll('~', '~0').replaceAll('/', '~1')}`
  const names = [...new Set((securityOf(route) ?? []).flatMap((each) => Object.keys(each)))]
  const { summary } = route
  return {
    action,
    channel: { $ref: channel },
    messages: [{ $ref: `${channel}/messages/${action === 'receive' ? 'in' : 'out'}` }],
    ...(summary !== undefined && { summary }),
    ...(names.length > 0 && {
      security: names.map((name) => ({ $ref: `#/components/securitySchemes/${name}` })),
    }),
  }
}

function inDraft07({ messages, bindings: { ws } }: AsyncAPIChannel): void {
  for (const message of Object.values(messages))
    if (message.payload !== undefined) message.payload = draft07Of(message.payload)
  for (const part of ['query', 'headers'] as const) if (ws[part] !== undefined) ws[part] = draft07Of(ws[part])
}
