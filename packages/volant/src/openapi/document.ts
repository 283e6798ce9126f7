/** The OpenAPI 3.1 document of an app, made of what its routes declare. */
import { VolantError } from '../errors/errors.ts'
import { bad } from '../options/bad-option.ts'
import { foreignNames } from '../options/foreign-names.ts'
import { checkOptionNames } from '../options/option-names.ts'
import { alternativesIn } from '../dispatch/declare.ts'
import { checkIds, namedRoutesOf, type RouteInfo } from '../app/route-info.ts'
import { Components, type PartlyDescribed, type Undescribed } from './components.ts'
import type {
  OpenAPIDocument,
  OpenAPIInfo,
  OpenAPIOperation,
  OpenAPIPathItem,
  OpenAPIServer,
  OpenAPITag,
} from './types.ts'
import { baseOfText, Names } from './names.ts'
import { type Operation, operationOf } from './operation.ts'
import { parametersOf } from './parameters.ts'
import { requestBodyOf } from './request-body.ts'
import { problemSchemas, Responses } from './responses.ts'
import { shapeOf, type Template, templatesOf } from './path-templates.ts'

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
 * OpenAPI 3.1 does not know (QUERY) and routes that are `hidden` are left out; of `/:id` and `/*`, which are one path to
 * OpenAPI, the former alone is there. Throws `E_OPERATION_ID` for two routes of one operationId, `E_BAD_OPTION` for two security schemes of one name, for a requirement of one
 * that nobody declares, and for options that make no sense.
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
  checkOptionNames(where, options, names, foreignNames.openapi)
  const { info, include } = options
  if (typeof info?.title !== 'string' || typeof info.version !== 'string') {
    if (typeof info !== 'object' || info === null)
      throw bad(`${where}: info`, info, '{ title, version }, both text')
    const missing = (['title', 'version'] as const).filter((name) => info[name] === undefined)
    throw new VolantError(
      'E_BAD_OPTION',
      `${where}: info takes { title, version }, both text${missing.length === 0 ? '' : `; ${missing.join(' and ')} is missing`}`,
    )
  }
  if (include !== undefined && typeof include !== 'function') {
    throw bad(`${where}: include`, include, 'a function of a route')
  }
  return options
}

/** The order of a path's operations, and the methods a path item has (OpenAPI 3.1 §4.8.9). */
const methodOrder = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE']

/** A document, and what it cannot show. */
export interface Emitted {
  readonly document: OpenAPIDocument
  readonly undescribed: readonly Undescribed[]
  readonly partlyDescribed: readonly PartlyDescribed[]
  /** Sentences about what is not there, or of no use. */
  readonly remarks: readonly string[]
}

/** Those of `routes` that are in the document. */
export function documented(
  routes: readonly RouteInfo[],
  { include = () => true }: OpenAPIOptions,
): RouteInfo[] {
  return routes.filter(
    (route) => route.hidden !== true && methodOrder.includes(route.method) && include(route),
  )
}

/** At once. */
function emit(routes: readonly RouteInfo[], options: OpenAPIOptions): Emitted {
  const steps = emission(routes, options, routes)
  let step = steps.next()
  while (step.done !== true) step = steps.next()
  return step.value
}

/** In steps of one operation or one schema. `all` has whatever declares security schemes: at least `routes`. */
export function* emission(
  routes: readonly RouteInfo[],
  options: OpenAPIOptions,
  all: readonly RouteInfo[],
): Generator<void, Emitted> {
  const { info, servers, tags, security, externalDocs } = options
  const included = documented(routes, options)
  checkIds(namedRoutesOf(included))
  yield
  const operations: Operation[] = []
  for (const route of included) {
    operations.push(operationOf(route))
    yield
  }
  const { places, remarks } = yield* placesOf(operations)
  const ids = yield* idsOf(places)
  const components = new Components(problemSchemas)
  const responses = new Responses(components)
  const schemes = schemesOf(included, options, all)
  yield
  const paths = new Map<string, OpenAPIPathItem>()
  for (const place of places) {
    const { operation, path } = place
    const item = paths.get(path) ?? {}
    paths.set(path, item)
    const id = ids.get(place) as string
    const object = operationObject(place, id, components, responses)
    item[operation.method.toLowerCase()] = object
    for (const { in: part, name } of object.parameters ?? []) {
      if (part !== 'header' || name === name.toLowerCase()) continue
      remarks.push(
        `${operation.name}: its schema of headers has ${JSON.stringify(name)}, and a request's names are in lower case: it is never there`,
      )
    }
    yield
  }
  const schemas = yield* components.finish()
  yield
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
  const { undescribed, partlyDescribed } = components
  return { document, undescribed, partlyDescribed, remarks }
}

/** An operation at one of the paths of its pattern. */
interface Place {
  readonly operation: Operation
  readonly template: Template
  /** As the document has it: paths that differ in names alone have the names of the first. */
  readonly path: string
  readonly names: readonly string[]
}

/** One operation for each method of a path: OpenAPI cannot tell a parameter from the rest of the path. */
function* placesOf(
  operations: readonly Operation[],
): Generator<void, { places: Place[]; remarks: string[] }> {
  const all: Candidate[] = []
  for (const operation of operations) {
    for (const template of templatesOf(operation.pattern))
      all.push({ operation, template, shape: shapeOf(template.path) })
    yield
  }
  all.sort(comparePlaces)
  yield
  const firsts = new Map<string, Template>()
  const taken = new Map<string, Operation>()
  const places: Place[] = []
  const remarks: string[] = []
  for (const { operation, template, shape } of all) {
    const before = taken.get(`${operation.method} ${shape}`)
    if (before !== undefined) {
      remarks.push(
        `the API's document does not have ${operation.name}: to OpenAPI it is the path of ${before.name}`,
      )
      continue
    }
    taken.set(`${operation.method} ${shape}`, operation)
    const first = firsts.get(shape) ?? template
    firsts.set(shape, first)
    places.push({ operation, template, path: first.path, names: first.params.map(({ name }) => name) })
  }
  return { places, remarks }
}

interface Candidate {
  readonly operation: Operation
  readonly template: Template
  readonly shape: string
}

function comparePlaces(a: Candidate, b: Candidate): number {
  return (
    compare(a.shape, b.shape) ||
    methodOrder.indexOf(a.operation.method) - methodOrder.indexOf(b.operation.method) ||
    wildcardsOf(a.template) - wildcardsOf(b.template) ||
    compare(a.template.path, b.template.path)
  )
}

function wildcardsOf({ params }: Template): number {
  return params.filter(({ wildcard }) => wildcard).length
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
function* idsOf(places: readonly Place[]): Generator<void, Map<Place, string>> {
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
    yield
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

/** Gives the security of the middleware in front of a route, unless the route declares its own. */
function securityOf({ security, alternatives }: Operation): Record<string, string[]>[] | undefined {
  if (security !== undefined) return security.map(requirement)
  if (alternatives.length === 0) return undefined
  return alternatives.map((names) => Object.fromEntries(names.map((name) => [name, []])))
}

function requirement(given: Readonly<Record<string, readonly string[]>>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(given).map(([name, scopes]) => [name, [...scopes]]))
}

type Schemes = Map<string, Readonly<Record<string, unknown>>>

/**
 * What `routes` declare and ask for. Throws `E_BAD_OPTION` for two schemes of one name, and for a requirement of one that
 * neither the options nor `all` declare.
 */
export function schemesOf(
  routes: readonly RouteInfo[],
  { securitySchemes = {}, security = [] }: OpenAPIOptions,
  all: readonly RouteInfo[],
): Schemes {
  const schemes: Schemes = new Map(Object.entries(securitySchemes))
  for (const route of routes) {
    for (const [name, scheme] of declaredBy(route)) {
      const before = schemes.get(name)
      if (before !== undefined && before !== scheme && JSON.stringify(before) !== JSON.stringify(scheme)) {
        throw new VolantError(
          'E_BAD_OPTION',
          `the security scheme ${JSON.stringify(name)} of ${route.method} ${route.path} is not the one of that name declared before: rename one of them`,
        )
      }
      schemes.set(name, scheme)
    }
  }
  let others: Schemes | null = null
  const need = (where: string, requirements: readonly object[]): void => {
    for (const name of requirements.flatMap((each) => Object.keys(each))) {
      if (schemes.has(name)) continue
      const scheme = (others ??= new Map(all.flatMap(declaredBy))).get(name)
      if (scheme === undefined) {
        throw new VolantError(
          'E_BAD_OPTION',
          `the security of ${where} asks for the scheme ${JSON.stringify(name)}, which no middleware declares: declare it there or in securitySchemes`,
        )
      }
      schemes.set(name, scheme)
    }
  }
  need('the document', security)
  for (const route of routes) need(`${route.method} ${route.path}`, route.security ?? [])
  return schemes
}

function declaredBy({ declarations }: RouteInfo): [string, Readonly<Record<string, unknown>>][] {
  return declarations.flatMap(({ security = [] }) => alternativesIn(security).flatMap(Object.entries))
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
