/** Makes the OpenAPI 3.1 document of an app from what its routes declare. */
import { checkIds, namedOperations, type RouteInfo } from '../app/route-info.ts'
import { Components, type PartlyDescribed, type Undescribed } from './components.ts'
import { type RouteOperation, operationOf } from './operation.ts'
import { checkOptions, type OpenAPIOptions, optionNames } from './options.ts'
import { parametersOf } from './parameters.ts'
import { methodOrder, operationIdsOf, type PathOperation, pathOperationsOf } from './paths.ts'
import { requestBodyOf } from './request-body.ts'
import { problemSchemas } from './problems.ts'
import { ResponseObjects } from './responses.ts'
import { compareText, sortedByName } from './sorted.ts'
import { requirement, schemesOf, securityOf } from './security.ts'
import type { OpenAPIDocument, OpenAPIOperation, OpenAPIPathItem, OpenAPITag } from './types.ts'

/** An app, or anything else that lists routes. */
export interface Routed {
  /** Gives the routes in the order of their registration. */
  routes(): RouteInfo[]
}

/**
 * Gives the OpenAPI 3.1 document of `app` as it is now, with its paths in one order, however they were registered.
 * Routes that are `hidden` and methods that OpenAPI 3.1 does not know (QUERY) are left out. `/:id` and `/*` are one
 * path to OpenAPI: the document has the former. Throws `E_OPERATION_ID` for two routes of one id, and `E_BAD_OPTION`
 * for two security schemes of one name, for a requirement of an undeclared scheme, and for options that make no sense.
 */
export function openapiOf(app: Routed, options: OpenAPIOptions): OpenAPIDocument {
  const routes = app.routes()
  const steps = buildDocument(routes, checkOptions('openapiOf', options, optionNames), routes)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value.document
  }
}

/** A document, and what it cannot show. */
export interface BuiltDocument {
  readonly document: OpenAPIDocument
  readonly undescribed: readonly Undescribed[]
  readonly partlyDescribed: readonly PartlyDescribed[]
  /** The sentences about mistakes in what routes declare. */
  readonly warnings: readonly string[]
}

/** Gives the routes that are in the document. */
export function documentedRoutes(
  routes: readonly RouteInfo[],
  { include = () => true }: OpenAPIOptions,
): RouteInfo[] {
  return routes.filter(
    (route) => route.hidden !== true && methodOrder.includes(route.method) && include(route),
  )
}

/** Works in steps of one operation or one schema. `all` are the routes that may declare security schemes for `routes`. */
export function* buildDocument(
  routes: readonly RouteInfo[],
  options: OpenAPIOptions,
  all: readonly RouteInfo[],
): Generator<void, BuiltDocument> {
  const { info, servers, tags, security, externalDocs } = options
  const included = documentedRoutes(routes, options)
  checkIds(namedOperations(included))
  yield
  const operations: RouteOperation[] = []
  for (const route of included) {
    operations.push(operationOf(route))
    yield
  }
  const warnings: string[] = []
  const pathOperations = yield* pathOperationsOf(operations, (sentence) => warnings.push(sentence))
  const ids = yield* operationIdsOf(pathOperations)
  const components = new Components(problemSchemas)
  const responseObjects = new ResponseObjects(components)
  const schemes = schemesOf(included, options, all)
  yield
  const paths: Record<string, OpenAPIPathItem> = {}
  for (const each of pathOperations) {
    const { name, route } = each.operation
    const method = route.method === 'WS' ? 'get' : route.method.toLowerCase()
    // A path has one GET: that of an ordinary route, if there is one. AsyncAPI describes the WebSocket.
    if (paths[each.path]?.[method] !== undefined) continue
    const object = operationObject(each, ids.get(each) as string, components, responseObjects)
    ;(paths[each.path] ??= {})[method] = object
    for (const { in: part, name: field } of object.parameters ?? []) {
      if (part !== 'header' || field === field.toLowerCase()) continue
      warnings.push(
        `${name}: its schema for headers has ${JSON.stringify(field)}, which never arrives, since names of headers are in lower case: write ${JSON.stringify(field.toLowerCase())}`,
      )
    }
    yield
  }
  const schemas = yield* components.finish()
  yield
  const responses = responseObjects.finish()
  const document: OpenAPIDocument = {
    openapi: '3.1.1',
    info,
    ...(servers !== undefined && { servers: [...servers] }),
    ...(externalDocs !== undefined && { externalDocs }),
    ...(security !== undefined && { security: security.map(requirement) }),
    ...tagsOf(operations, tags),
    paths,
    components: {
      schemas,
      ...(Object.keys(responses).length > 0 && { responses }),
      ...(schemes.size > 0 && { securitySchemes: sortedByName(schemes) }),
    },
  }
  const { undescribed, partlyDescribed } = components
  return { document, undescribed, partlyDescribed, warnings }
}

function operationObject(
  { operation, template, names }: PathOperation,
  operationId: string,
  components: Components,
  responseObjects: ResponseObjects,
): OpenAPIOperation {
  const { route } = operation
  const { summary, description, tags = [], deprecated } = route
  const security = securityOf(route)
  const parameters = parametersOf(operation, template, names, components)
  const isSocket = route.messages !== undefined
  const requestBody = isSocket ? undefined : requestBodyOf(operation, operationId, components)
  return {
    operationId,
    ...(summary !== undefined && { summary }),
    ...(description !== undefined && { description }),
    ...(tags.length > 0 && { tags: [...tags] }),
    ...(deprecated === true && { deprecated }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody !== undefined && { requestBody }),
    responses: responseObjects.of(operation, operationId, template.params.length > 0),
    ...(security !== undefined && { security }),
    ...(isSocket && { 'x-asyncapi-channel': operationId }),
  }
}

function tagsOf(
  operations: readonly RouteOperation[],
  given: readonly OpenAPITag[] = [],
): { tags?: OpenAPITag[] } {
  const described = new Set(given.map(({ name }) => name))
  const others = new Set(
    operations.flatMap(({ route }) => route.tags ?? []).filter((name) => !described.has(name)),
  )
  const tags = [...given, ...[...others].toSorted(compareText).map((name) => ({ name }))]
  return tags.length === 0 ? {} : { tags }
}
