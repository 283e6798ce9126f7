/** The OpenAPI 3.1 document of an app, made of what its routes declare. */
import { VolantError } from '../errors.ts'
import { bad } from '../limits.ts'
import { checkOptionNames } from '../option-names.ts'
import type { RouteInfo } from '../route-info.ts'
import { Components, type Opaque } from './components.ts'
import type {
  OpenAPIDocument,
  OpenAPIInfo,
  OpenAPIOperation,
  OpenAPIPathItem,
  OpenAPIServer,
  OpenAPITag,
} from './document.ts'
import { baseOfText, Names } from './names.ts'
import { type Operation, operationOf } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { problemSchemas, Responses } from './responses.ts'
import { shapeOf, type Template, templatesOf } from './template.ts'

/** What a document says beside its routes. */
export interface OpenAPIOptions {
  /** At least `title` and `version`. */
  info: OpenAPIInfo
  /** Where the API is; default: where the document is. */
  servers?: readonly OpenAPIServer[] | undefined
  /** Descriptions of tags, in the order they are shown; those that only routes name come after, by name. */
  tags?: readonly OpenAPITag[] | undefined
  /** Schemes that no middleware declares, by name (OpenAPI 3.1 §4.8.27). */
  securitySchemes?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined
  /** What operations ask for whose route and middleware say nothing of it. */
  security?: readonly Readonly<Record<string, readonly string[]>>[] | undefined
  /** More to read. */
  externalDocs?: { url: string; description?: string } | undefined
  /** Which routes are in the document; default all that are not `hidden`. */
  include?: ((route: RouteInfo) => boolean) | undefined
}

/** Whatever lists routes: an app. */
export interface Routed {
  /** In the order of their registration. */
  routes(): RouteInfo[]
}

/**
 * The OpenAPI 3.1 document of `app` as it is now: paths in order, whatever the order of registration. Methods that
 * OpenAPI 3.1 does not know (QUERY) and routes that are `hidden` are left out. Throws `E_BAD_OPTION` for two security
 * schemes of one name, and for options that make no sense.
 */
export function openapiOf(app: Routed, options: OpenAPIOptions): OpenAPIDocument {
  return emit(app.routes(), checkOptions('openapiOf', options, optionNames)).document
}

export const optionNames = [
  'info',
  'servers',
  'tags',
  'securitySchemes',
  'security',
  'externalDocs',
  'include',
] as const

/** Throws `E_BAD_OPTION` for what cannot be a document. */
export function checkOptions<O extends OpenAPIOptions>(
  where: string,
  options: O,
  names: readonly string[],
): O {
  if (typeof options !== 'object' || options === null) throw bad(where, options, 'an object with info')
  checkOptionNames(where, options, names, {
    title: 'info: { title, version }',
    version: 'info: { title, version }',
  })
  const { info, include } = options
  if (typeof info?.title !== 'string' || typeof info.version !== 'string') {
    throw bad(`${where}: info`, info, '{ title, version }, both text')
  }
  if (include !== undefined && typeof include !== 'function') {
    throw bad(`${where}: include`, include, 'a function of a route')
  }
  return options
}

/** The order of a path's operations, and the methods a path item has (OpenAPI 3.1 §4.8.9). */
const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/** A document, and the schemas it cannot show. */
export interface Emitted {
  readonly document: OpenAPIDocument
  readonly opaque: readonly Opaque[]
}

export function emit(routes: readonly RouteInfo[], options: OpenAPIOptions): Emitted {
  const { info, servers, tags, security, externalDocs, include = () => true } = options
  const included = routes.filter(
    (route) => route.hidden !== true && methodOrder.includes(route.method) && include(route),
  )
  const operations = included.map(operationOf)
  const places = placesOf(operations)
  const ids = idsOf(places)
  const components = new Components(problemSchemas)
  const responses = new Responses(components)
  const schemes = schemesOf(included, options.securitySchemes)
  const paths = new Map<string, OpenAPIPathItem>()
  for (const place of places) {
    const { operation, path } = place
    const item = paths.get(path) ?? {}
    paths.set(path, item)
    const id = ids.get(place) as string
    item[operation.method.toLowerCase()] = operationObject(place, id, components, responses)
  }
  const schemas = components.finish()
  const own = responses.finish()
  const document: OpenAPIDocument = {
    openapi: '3.1.1',
    info,
    ...(servers === undefined ? {} : { servers: [...servers] }),
    ...(externalDocs === undefined ? {} : { externalDocs }),
    ...(security === undefined ? {} : { security: security.map(requirement) }),
    ...tagsOf(operations, tags),
    paths: Object.fromEntries(paths),
    components: {
      schemas,
      ...(Object.keys(own).length === 0 ? {} : { responses: own }),
      ...(schemes.size === 0 ? {} : { securitySchemes: Object.fromEntries([...schemes].toSorted(byKey)) }),
    },
  }
  return { document, opaque: components.opaque }
}

/** An operation at one of the paths of its pattern. */
interface Place {
  readonly operation: Operation
  readonly template: Template
  /** As the document has it: paths that differ in names alone have the names of the first. */
  readonly path: string
  readonly names: readonly string[]
}

function placesOf(operations: readonly Operation[]): Place[] {
  const all = operations
    .flatMap((operation) => templatesOf(operation.pattern).map((template) => ({ operation, template })))
    .toSorted((a, b) => comparePlaces(a, b))
  const firsts = new Map<string, Template>()
  return all.map(({ operation, template }) => {
    const shape = shapeOf(template.path)
    const first = firsts.get(shape) ?? template
    firsts.set(shape, first)
    return { operation, template, path: first.path, names: first.params.map(({ name }) => name) }
  })
}

function comparePlaces(
  a: { operation: Operation; template: Template },
  b: { operation: Operation; template: Template },
): number {
  return (
    compare(shapeOf(a.template.path), shapeOf(b.template.path)) ||
    methodOrder.indexOf(a.operation.method) - methodOrder.indexOf(b.operation.method) ||
    compare(a.template.path, b.template.path)
  )
}

/** By code units: the same on every machine. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return compare(a, b)
}

/**
 * Ids of routes first: others are made of method and path, those of shorter paths say what they lack, and an app that is
 * mounted twice has its ids twice, so that all but the first are numbered.
 */
function idsOf(places: readonly Place[]): Map<Place, string> {
  const taken = new Names()
  const ids = new Map<Place, string>()
  const name = (place: Place, id: string): void => {
    ids.set(place, taken.take(id))
  }
  for (const place of places) {
    const { operation, template } = place
    if (operation.id !== undefined && template.absent.length === 0) name(place, operation.id)
  }
  for (const place of places) {
    if (ids.has(place)) continue
    const { operation, template } = place
    const [absent] = template.absent
    const whole = operation.id ?? madeId(operation.method, templatesOf(operation.pattern).at(-1) as Template)
    name(place, absent === undefined ? whole : `${whole}Without${baseOfText(absent)}`)
  }
  return ids
}

/** `GET /users/{id}/posts` → `getUsersByIdPosts`. */
function madeId(method: string, { path }: Template): string {
  return (
    method.toLowerCase() +
    path
      .split('/')
      .filter((part) => part !== '')
      .map(partName)
      .join('')
  )
}

function partName(part: string): string {
  return baseOfText(part.replaceAll('{', ' by ').replaceAll('}', ' '))
}

function operationObject(
  { operation, template, names }: Place,
  operationId: string,
  components: Components,
  responses: Responses,
): OpenAPIOperation {
  const { summary, description, tags, deprecated } = operation
  const security = securityOf(operation)
  const parameters = parametersOf(operation, template, names, components)
  const requestBody = requestBodyOf(operation, operationId, components)
  return {
    operationId,
    ...(summary === undefined ? {} : { summary }),
    ...(description === undefined ? {} : { description }),
    ...(tags.length === 0 ? {} : { tags: [...tags] }),
    ...(deprecated ? { deprecated } : {}),
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(requestBody === undefined ? {} : { requestBody }),
    responses: responses.of(operation, operationId, template.params.length > 0),
    ...(security === undefined ? {} : { security }),
  }
}

/** All schemes of the middleware in front of a route are asked for, unless the route says what is. */
function securityOf({ security, schemes }: Operation): Record<string, string[]>[] | undefined {
  if (security !== undefined) return security.map(requirement)
  if (schemes.length === 0) return undefined
  return [Object.fromEntries(schemes.map((name) => [name, []]))]
}

function requirement(given: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(given).map(([name, scopes]) => [name, [...scopes]]))
}

/** Throws `E_BAD_OPTION` for two schemes of one name. */
export function schemesOf(
  routes: readonly Pick<RouteInfo, 'method' | 'path' | 'declarations'>[],
  given: OpenAPIOptions['securitySchemes'] = {},
): Map<string, Readonly<Record<string, unknown>>> {
  const schemes = new Map(Object.entries(given))
  for (const { method, path, declarations } of routes) {
    for (const [name, scheme] of declarations.flatMap(({ security }) => Object.entries(security ?? {}))) {
      const before = schemes.get(name)
      if (before !== undefined && before !== scheme && JSON.stringify(before) !== JSON.stringify(scheme)) {
        throw new VolantError(
          'E_BAD_OPTION',
          `the security scheme ${JSON.stringify(name)} of ${method} ${path} is not the one of that name declared before: rename one of them`,
        )
      }
      schemes.set(name, scheme)
    }
  }
  return schemes
}

function tagsOf(
  operations: readonly Operation[],
  given: readonly OpenAPITag[] = [],
): { tags?: OpenAPITag[] } {
  const described = new Set(given.map(({ name }) => name))
  const others = [...new Set(operations.flatMap(({ tags }) => tags))].filter((name) => !described.has(name))
  const tags = [...given, ...others.toSorted(compare).map((name) => ({ name }))]
  return tags.length === 0 ? {} : { tags }
}
